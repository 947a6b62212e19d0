//! The environment of a command that starts no worker: homes, languages, masks and streams.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::support::fake_engine::World;
use crate::support::fake_process::Processes;
use crate::support::ghidr::{Ghidr, Run};
use crate::support::shell;

/// Where the store would be: from the provenance of an error that comes after it is resolved.
fn located(ghidr: &Ghidr, mode: &str) -> Result<(String, String), Value> {
    let run = ghidr.run(["--sandbox", mode, "inspect", "/nonexistent/sample"]);
    let document = run.document();
    if document["error"]["code"] != "sample_not_found" {
        run.error("invalid_store_path", 1);
        return Err(document["error"]["details"].clone());
    }
    let store = &document["provenance"]["analysis_store"];
    Ok((store["source"].as_str().unwrap().into(), store["path"]["value"].as_str().unwrap().into()))
}

/// Every home and cache directory, with the store they lead to in bubblewrap mode and outside.
#[test]
fn every_home_and_cache_directory_leads_to_a_store_or_to_an_error() {
    let refused = (None, None);
    let home = |path| (Some(("home_fallback", path)), Some(("home_fallback", path)));
    let sandboxed = |path| (Some(("home_fallback", path)), None);
    let xdg = |path| (Some(("xdg", path)), Some(("xdg", path)));
    let cases = [
        (None, None, refused),
        (Some(""), None, refused),
        (Some("relative"), None, refused),
        (Some("/h"), None, home("/h/ghidr-store")),
        (Some("/h/.dot"), None, sandboxed("/h/.dot/ghidr-store")),
        (Some("/h/a,b"), None, sandboxed("/h/a,b/ghidr-store")),
        (Some("/h"), Some("relative"), home("/h/ghidr-store")),
        (Some("/h"), Some("/h/.cache"), home("/h/ghidr-store")),
        (Some("/h"), Some(""), home("/h/ghidr-store")),
        (Some("/h"), Some("/c"), xdg("/c/ghidr")),
        (Some("/h"), Some("/c d"), xdg("/c d/ghidr")),
        (Some("/h"), Some("/c!&#"), home("/h/ghidr-store")),
        (None, Some("/c"), xdg("/c/ghidr")),
        (None, Some("/.c"), refused),
    ];
    for (home, cache, (in_bubblewrap, outside)) in cases {
        let mut ghidr = Ghidr::new().without("HOME");
        for (name, value) in [("HOME", home), ("XDG_CACHE_HOME", cache)] {
            if let Some(value) = value {
                ghidr = ghidr.environment(name, value);
            }
        }
        for (mode, expected) in [("bubblewrap", in_bubblewrap), ("external", outside), ("off", outside)] {
            let found = located(&ghidr, mode);
            let found = found.as_ref().map(|(source, path)| (source.as_str(), path.as_str()));
            assert_eq!(found.ok(), expected, "HOME {home:?}, XDG_CACHE_HOME {cache:?}, {mode}");
        }
    }
}

/// `/sys` refuses new entries to everybody, root included.
#[test]
fn a_home_that_cannot_be_written_to_is_an_error_with_its_path() {
    let ghidr = Ghidr::new().environment("HOME", "/sys");
    let error = ghidr.run(["inspect", "/bin/true"]).error("store_unwritable", 1);
    assert!(error["details"]["path"]["value"].as_str().unwrap().starts_with("/sys/ghidr-store"), "{error}");
}

/// A command line that a shell runs with the executable as `$0`.
fn through_shell(ghidr: &Ghidr, script: &str, arguments: &[&str]) -> Command {
    shell::through(&ghidr.command(arguments), script)
}

#[test]
fn language_display_mask_and_closed_input_change_nothing() {
    let ghidr = Ghidr::new();
    let arguments = ["inspect", "/nonexistent/s\u{e4}mple"];
    let expected = ghidr.run(arguments);
    let scripts = [
        r#"umask 0; exec "$0" "$@""#,
        r#"umask 077; exec "$0" "$@""#,
        r#"exec "$0" "$@" 0<&-"#,
        r#"exec "$0" "$@""#,
    ];
    for (script, language) in scripts.iter().zip(["C", "tr_TR.UTF-8", "POSIX", "xx_XX.nonsense"]) {
        let mut command = through_shell(&ghidr, script, &arguments);
        let variables = ["LANG", "LC_ALL", "LC_CTYPE", "LANGUAGE"].map(|name| (name, language));
        let run = Run::from(command.envs(variables).env("DISPLAY", ":4711").output().unwrap());
        assert_eq!(
            (run.status, &run.stderr),
            (expected.status, &expected.stderr),
            "{script} {language}: {run}"
        );
    }
}

#[test]
fn closed_output_is_no_panic_and_harms_no_store() {
    let ghidr = Ghidr::new();
    for arguments in
        [&["doctor", "--ghidra", "/nonexistent"][..], &["inspect", "/nonexistent"], &["--help"], &["x"]]
    {
        for script in [r#"exec "$0" "$@" >&-"#, r#"exec "$0" "$@" 2>&-"#, r#"exec "$0" "$@" 0<&- >&- 2>&-"#] {
            let output = through_shell(&ghidr, script, arguments).output().unwrap();
            assert!(output.status.code().is_some_and(|code| code <= 2), "{script} {arguments:?}: {output:?}");
            let text = [output.stdout, output.stderr].concat();
            assert!(!String::from_utf8_lossy(&text).contains("panicked"), "{script} {arguments:?}");
        }
    }
    let record = std::fs::read_to_string(ghidr.store().join("store.json")).unwrap();
    assert!(record.contains("analysis_store") && !record.contains("schema_version"), "{record}");
}

/// What is known to be lost before it is worked for is not worked for.
#[test]
fn a_standard_output_that_takes_nothing_is_a_failure_before_anything_is_done() {
    let ghidr = Ghidr::new();
    for arguments in [&["inspect", "/bin/true"][..], &["clean", "--all", "--yes"], &["doctor"]] {
        let read_only = through_shell(&ghidr, r#"exec "$0" "$@" 1</dev/null"#, arguments).output().unwrap();
        let error = Run::from(read_only).error("output_failed", 1);
        assert_eq!(error["details"]["reason"], "it is not open for writing", "{arguments:?}");
    }
    assert!(!ghidr.store().exists());
    let help = through_shell(&ghidr, r#"exec "$0" "$@" 1</dev/null"#, &["--help"]).output().unwrap();
    assert_eq!(help.status.code(), Some(1));
    let text = String::from_utf8(help.stderr).unwrap();
    assert!(text.starts_with("error: standard output") && text.lines().count() == 1, "{text}");
}

/// The permissions of everything in a store do not depend on the caller's mask, which this process
/// cannot change for itself alone, so the store is made by the executable.
#[test]
fn what_is_created_is_private_under_every_mask() {
    for mask in ["0", "077", "0777"] {
        let ghidr = Ghidr::new();
        let script = format!(r#"umask {mask}; exec "$0" "$@""#);
        let run = Run::from(
            through_shell(&ghidr, &script, &["doctor", "--ghidra", "/nonexistent"]).output().unwrap(),
        );
        run.error("doctor_failed", 1);
        let mut waiting = vec![ghidr.store()];
        let mut seen = 0;
        while let Some(path) = waiting.pop() {
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
            let mode = metadata.permissions().mode() & 0o7777;
            assert_eq!(mode, expected, "umask {mask}: {}", path.display());
            if metadata.is_dir() {
                waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            seen += 1;
        }
        assert!(seen >= 5, "{seen} entries");
    }
}

#[test]
fn a_sample_may_lie_at_any_path() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    let names: [&[u8]; 9] = [
        b"a b",
        b"a,b",
        b"a!b",
        b"a&b",
        b"#",
        b"a\nb",
        b"\xff\xfe",
        b"-dash",
        "\u{1b}[2J\u{202e}".as_bytes(),
    ];
    for name in names {
        let sample = world.write_sample(OsStr::from_bytes(name), b"bytes of their own");
        let run = world.run(["inspect".as_ref(), sample.as_os_str()]);
        let path = run.success()["provenance"]["source_path"].clone();
        let encoding = if std::str::from_utf8(name).is_ok() { "utf8" } else { "unix_bytes_base64" };
        assert_eq!(path["encoding"], encoding, "{name:?}");
    }
    assert_eq!(world.runs(), 1, "the same bytes are the same Sample at every path");
}

/// Linux sends a signal with the error, which ends a process that has no handler for it.
#[test]
fn a_limit_of_the_callers_on_the_size_of_files_is_an_error_with_a_document() {
    let processes = Processes::new();
    let plain = processes.asking("decompile", &["--name", "main"]);
    let limited = |blocks: u32| {
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        processes.ended(Run::from(shell::through(&plain, &script).output().unwrap()))
    };
    for blocks in [0, 1] {
        let run = limited(blocks);
        assert_eq!(run.status, Some(1), "{run}");
        let document: Value = serde_json::from_slice(&run.stderr).unwrap();
        assert_eq!(document["error"]["code"], "store_failed", "{run}");
        processes.assert_no_analysis();
    }
    limited(1_000_000).success();
}
