//! The flake, evaluated with a nixpkgs of which only the names are real. Nothing is built here: no Nix store can be
//! assumed where these tests run.

use std::process::{Command, Output, Stdio};

use ghidr::engine::verified::VERIFIED_ENGINES;
use serde_json::Value;

use crate::support::committed;

const SYSTEM: &str = "x86_64-linux";

/// Evaluates an expression in which `outputs` are the flake's, given a nixpkgs with these versions.
fn evaluate(ghidra: &str, jdk: &str, expression: &str) -> Output {
    let program = format!(
        "let outputs = (import ./flake.nix).outputs {{ self = ./.; \
         nixpkgs = import ./tests/nix/stub.nix {{ ghidra = \"{ghidra}\"; jdk = \"{jdk}\"; }}; }}; in {expression}"
    );
    nix(&["--eval", "--strict", "--json", "--expr", &program])
}

fn nix(arguments: &[&str]) -> Output {
    let state = tempfile::tempdir().unwrap();
    let mut command = Command::new("nix-instantiate");
    command.args(arguments).current_dir(committed::project()).stdin(Stdio::null());
    for variable in ["HOME", "NIX_STORE_DIR", "NIX_STATE_DIR", "NIX_LOG_DIR", "NIX_CONF_DIR"] {
        command.env(variable, state.path().join(variable));
    }
    command.env("NIX_REMOTE", "dummy://");
    command.output().expect("nix-instantiate is needed (Debian: nix-bin); `cargo xtask test` installs it")
}

fn answer(expression: &str) -> Value {
    let output = evaluate("12.1.2", "21.0.8+9", expression);
    assert!(output.status.success(), "{expression}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_output_of_the_flake_evaluates() {
    let names = |expression: &str| answer(&format!("builtins.attrNames {expression}"));
    assert_eq!(names("outputs"), serde_json::json!(["apps", "checks", "devShells", "formatter", "packages"]));
    assert_eq!(names(&format!("outputs.packages.{SYSTEM}")), serde_json::json!(["default", "ghidr"]));
    let checks = names(&format!("outputs.checks.{SYSTEM}"));
    assert_eq!(checks, serde_json::json!(["format", "lints", "package", "policy", "tests"]));
    // Every attribute of everything, so that no name is left that does not exist.
    for output in ["packages", "apps", "devShells", "checks", "formatter"] {
        assert_eq!(answer(&format!("builtins.deepSeq outputs.{output}.{SYSTEM} true")), true, "{output}");
    }
    let program = answer(&format!("outputs.apps.{SYSTEM}.default.program"));
    assert_eq!(program, "/stub/ghidr/bin/ghidr");
}

#[test]
fn the_package_has_the_version_of_the_workspace_and_all_that_a_worker_needs() {
    let package = format!("outputs.packages.{SYSTEM}.default");
    assert_eq!(answer(&format!("{package}.version")), env!("CARGO_PKG_VERSION"));
    let script = answer(&format!("{package}.postInstall"));
    let script = script.as_str().unwrap();
    for part in [
        "/stub/ghidra/lib/ghidra",
        "/stub/openjdk/lib/openjdk",
        "/stub/bubblewrap/bin/bwrap",
        "/stub/ghidr-fonts",
        "/stub/closure/store-paths",
        "/stub/ghidr-adapter",
        "$bundle/engine.json",
        "$bundle/sandbox.json",
        "share --prefix $out",
    ] {
        assert!(script.contains(part), "{part}: {script}");
    }
}

#[test]
fn another_ghidra_or_jdk_than_the_verified_pair_stops_the_evaluation() {
    let pair = VERIFIED_ENGINES.last().unwrap();
    assert_eq!((pair.ghidra_version, pair.java_version), ("12.1.2", 21));
    for (ghidra, jdk, complaint) in [
        ("12.2", "21.0.8+9", "this nixpkgs has Ghidra 12.2; ghidr is verified with Ghidra 12.1.2"),
        ("12.1", "21.0.8+9", "this nixpkgs has Ghidra 12.1;"),
        ("12.1.2", "22.0.1+8", "this nixpkgs has JDK 22; ghidr is verified with JDK 21"),
        ("12.1.2", "17.0.15+6", "this nixpkgs has JDK 17;"),
    ] {
        let output = evaluate(ghidra, jdk, &format!("outputs.packages.{SYSTEM}.default.postInstall"));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(complaint), "{ghidra} {jdk}: {stderr}");
    }
}

#[test]
fn the_lock_pins_the_revision_that_the_flake_names() {
    let read = |name: &str| std::fs::read_to_string(committed::project().join(name)).unwrap();
    let lock: Value = serde_json::from_str(&read("flake.lock")).unwrap();
    let nodes = lock["nodes"].as_object().unwrap();
    assert_eq!(nodes.keys().collect::<Vec<_>>(), ["nixpkgs", "root"], "one pinned input");
    let (locked, original) = (&nodes["nixpkgs"]["locked"], &nodes["nixpkgs"]["original"]);
    let revision = locked["rev"].as_str().unwrap();
    assert!(revision.len() == 40 && original["rev"] == revision);
    assert!(locked["narHash"].as_str().unwrap().starts_with("sha256-") && locked["lastModified"].is_u64());
    let input = format!("inputs.nixpkgs.url = \"github:NixOS/nixpkgs/{revision}\";");
    assert!(read("flake.nix").contains(&input), "{input}");
}

#[test]
fn every_nix_file_parses() {
    let mut files = committed::files_below("nix", ".nix");
    files.extend(committed::files_below("tests/nix", ".nix"));
    files.push("flake.nix".into());
    assert!(files.len() >= 7, "{files:?}");
    for file in files {
        let output = nix(&["--parse", file.to_str().unwrap()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
