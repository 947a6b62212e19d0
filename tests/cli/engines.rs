//! Discovery of Ghidra, Java and the sandbox: the first match wins, and a wrong one is an error.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::ghidr::{Ghidr, Run};

/// A directory that looks like a full JDK of this version.
fn jdk(ghidr: &Ghidr, version: &str, modules: &str) -> PathBuf {
    let home = ghidr.root().join(format!("jdk-{version}-{}", modules.len()));
    for directory in ["bin", "lib/server"] {
        std::fs::create_dir_all(home.join(directory)).unwrap();
    }
    for file in ["bin/javac", "lib/server/libjvm.so"] {
        std::fs::write(home.join(file), "").unwrap();
    }
    std::fs::write(home.join("release"), format!("JAVA_VERSION=\"{version}\"\nMODULES=\"{modules}\"\n"))
        .unwrap();
    home
}

fn with(ghidr: &Ghidr, flag: &str, value: &Path) -> Run {
    ghidr.run(["inspect".as_ref(), "/bin/true".as_ref(), flag.as_ref(), value.as_os_str()])
}

#[test]
fn an_explicit_engine_that_is_wrong_never_falls_through() {
    let ghidr = Ghidr::new();
    let empty = ghidr.root().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (path, code) in [
        (Path::new("/nonexistent"), "ghidra_missing"),
        (&empty, "ghidra_incompatible"),
        (Path::new("/bin/true"), "ghidra_incompatible"),
    ] {
        assert_eq!(with(&ghidr, "--ghidra", path).error(code, 1)["details"]["selected_by"], "--ghidra");
        let from_variable = Ghidr::new().environment("GHIDR_GHIDRA", path);
        let error = from_variable.run(["inspect", "/bin/true"]).error(code, 1);
        assert_eq!(error["details"]["selected_by"], "$GHIDR_GHIDRA");
    }
}

#[test]
fn an_explicit_jdk_that_is_wrong_never_falls_through() {
    let ghidr = Ghidr::new();
    let cases = [
        (PathBuf::from("/nonexistent"), "java_missing"),
        (ghidr.root().to_owned(), "java_incompatible"),
        (jdk(&ghidr, "11.0.2", "java.base jdk.compiler"), "java_incompatible"),
        (jdk(&ghidr, "17.0.2", "java.base"), "java_incompatible"),
    ];
    for (path, code) in cases {
        assert_eq!(
            with(&ghidr, "--java-home", &path).error(code, 1)["details"]["selected_by"],
            "--java-home"
        );
        let from_variable = Ghidr::new().environment("GHIDR_JAVA_HOME", &path);
        let error = from_variable.run(["inspect", "/bin/true"]).error(code, 1);
        assert_eq!(error["details"]["selected_by"], "$GHIDR_JAVA_HOME");
    }
}

#[test]
fn weaker_variables_do_not_override_the_bundle() {
    let ghidr = Ghidr::new()
        .environment("GHIDRA_INSTALL_DIR", "/nonexistent")
        .environment("JAVA_HOME", "/nonexistent");
    ghidr.run(["inspect", "/nonexistent"]).error("sample_not_found", 1);
}

/// Without a bundle beside it, the executable finds only what it is told of.
#[test]
fn without_a_bundle_what_is_missing_is_said_with_every_rule_tried() {
    let ghidr = Ghidr::new();
    let bin = ghidr.root().join("prefix/bin");
    std::fs::create_dir_all(&bin).unwrap();
    let executable = bin.join("ghidr");
    // Copied by another process: what this one has open for writing, a child that another test starts inherits for
    // a moment, and a file that is open for writing cannot be executed.
    let mut copy = std::process::Command::new("cp");
    copy.args([env!("CARGO_BIN_EXE_ghidr").as_ref(), executable.as_os_str()]);
    assert!(copy.status().unwrap().success());
    let run = |arguments: &[&str]| -> Run {
        let mut command = ghidr.command(arguments);
        let mut bare = std::process::Command::new(&executable);
        bare.args(command.get_args()).env_clear();
        bare.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(std::process::Stdio::null());
        let run = Run::from(bare.output().unwrap());
        run.check_framing();
        run
    };
    let error = run(&["inspect", "/bin/true"]).error("ghidra_missing", 1);
    let rules = error["details"]["selected_by"].as_str().unwrap();
    for rule in ["--ghidra", "$GHIDR_GHIDRA", "bundle", "$GHIDRA_INSTALL_DIR"] {
        assert!(rules.contains(rule), "{rules}");
    }
    let doctor = run(&["doctor"]).error("doctor_failed", 1);
    let components = &doctor["details"]["report"]["components"];
    assert_eq!(
        (&components["ghidra"]["status"], &components["java"]["status"]),
        (&"missing".into(), &"missing".into())
    );
    assert_eq!(components["analysis_store"]["status"], "ready");
    assert_eq!(components["sandbox"]["status"], "invalid");
    assert_eq!(doctor["details"]["report"]["ready"], false);
}

#[test]
fn doctor_finishes_every_check_and_keeps_its_shape() {
    let ghidr = Ghidr::new();
    let run =
        ghidr.run(["doctor", "--ghidra", "/nonexistent", "--java-home", "/nonexistent", "--store", "/sys/x"]);
    let report = run.error("doctor_failed", 1)["details"]["report"].clone();
    let expected = [
        ("ghidra", "missing"),
        ("java", "missing"),
        ("analysis_store", "unwritable"),
        ("sandbox", "invalid"),
    ];
    for (component, status) in expected {
        assert_eq!(report["components"][component]["status"], status, "{report}");
        assert!(report["components"][component]["problem"].is_string(), "{report}");
    }
    assert_eq!(report["components"]["ghidra"]["version"], Value::Null);
    let human = ghidr.run_unframed(["--format", "human", "doctor", "--ghidra", "/nonexistent"]);
    assert!(human.status == Some(1) && human.stdout.is_empty(), "{human}");
    let text = String::from_utf8(human.stderr).unwrap();
    for word in ["error:", "Ghidra", "missing", "JDK", "Sandbox"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
