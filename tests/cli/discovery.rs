//! What is printed as text in every format: completion scripts and schemas. They need no home, no store and no engine.

use std::process::{Command, Stdio};

use ghidr::domain::documents::DOCUMENT_KINDS;

use crate::support::committed;
use crate::support::ghidr::Ghidr;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Where everything that could be touched is out of reach.
fn with_nothing() -> Ghidr {
    Ghidr::new()
        .without("HOME")
        .environment("GHIDR_STORE", "not/absolute")
        .environment("GHIDR_GHIDRA", "/nonexistent")
        .environment("GHIDR_JAVA_HOME", "/nonexistent")
}

fn text(ghidr: &Ghidr, arguments: &[&str]) -> Vec<u8> {
    let run = ghidr.run_unframed(arguments);
    assert!(run.status == Some(0) && run.stderr.is_empty() && run.stdout.ends_with(b"\n"), "{run}");
    run.stdout
}

#[test]
fn completion_scripts_need_neither_home_nor_store_nor_engine() {
    let ghidr = with_nothing();
    for shell in SHELLS {
        let script = text(&ghidr, &["completions", shell]);
        let human = text(&ghidr, &["--format", "human", "completions", shell]);
        assert!(script == human && String::from_utf8(script).unwrap().contains("decompile"), "{shell}");
    }
    assert!(!ghidr.store().exists());
}

#[test]
fn bash_completes_commands_flags_and_values_from_the_script() {
    let ghidr = with_nothing();
    let script = ghidr.root().join("completion.bash");
    std::fs::write(&script, text(&ghidr, &["completions", "bash"])).unwrap();
    let complete = |words: &[&str]| {
        let program = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
            _ghidr ghidr \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", program, "bash"]).arg(&script).args(words);
        let output = bash.stdin(Stdio::null()).output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["ghidr", "decom"]), ["decompile"]);
    assert_eq!(complete(&["ghidr", "decompile", "--na"]), ["--name"]);
    assert_eq!(complete(&["ghidr", "functions", "--sandbox", "ext"]), ["external"]);
    assert_eq!(complete(&["ghidr", "schema", "function"]), ["function_list"]);
}

#[test]
fn every_published_schema_is_printed_exactly_as_released() {
    let ghidr = with_nothing();
    for kind in DOCUMENT_KINDS {
        let released = std::fs::read(committed::project().join(format!("schemas/v1/{kind}.json"))).unwrap();
        assert!(text(&ghidr, &["schema", kind]) == released, "{kind}");
        assert!(text(&ghidr, &["--format", "human", "schema", kind]) == released, "{kind}");
    }
}

#[test]
fn an_unknown_kind_or_shell_is_an_argument_error_that_lists_the_known_ones() {
    let ghidr = with_nothing();
    let error = ghidr.run(["schema", "inspecton"]).error("invalid_arguments", 2);
    let reason = error["details"]["reason"].as_str().unwrap();
    DOCUMENT_KINDS.iter().for_each(|kind| assert!(reason.contains(kind), "{kind}: {reason}"));
    assert_eq!(error["details"]["suggestion"], "inspection");
    let error = ghidr.run(["completions", "zhs"]).error("invalid_arguments", 2);
    let reason = error["details"]["reason"].as_str().unwrap();
    SHELLS.iter().for_each(|shell| assert!(reason.contains(shell), "{shell}: {reason}"));
    ghidr.run(["schema"]).error("invalid_arguments", 2);
}

/// A stdout that is closed, full, or read by nobody ends the command without a panic; a word is said only where the
/// reader did not choose it.
#[test]
fn text_for_nobody_is_no_panic() {
    for arguments in [["completions", "bash"], ["schema", "error"]] {
        let ghidr = with_nothing();
        let mut child =
            ghidr.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.stderr.is_empty() && output.status.code() <= Some(1), "{output:?}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = ghidr.command(arguments).stdout(full).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        let expected =
            "error: standard output did not take the answer: No space left on device (os error 28)\n";
        assert_eq!((output.status.code(), text.as_str()), (Some(1), expected));
        let closed = "exec \"$@\" >&-";
        let mut shell = Command::new("sh");
        shell.args(["-c", closed, "sh", env!("CARGO_BIN_EXE_ghidr")]).args(arguments).env_clear();
        let output = shell.output().unwrap();
        assert!(output.stderr.is_empty() && output.status.code() <= Some(1), "{output:?}");
    }
}
