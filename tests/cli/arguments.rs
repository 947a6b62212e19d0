//! Command lines that are refused, through the executable: one document, exit status 2.

use crate::support::ghidr::Ghidr;

#[test]
fn every_refused_command_line_names_what_is_wrong() {
    let ghidr = Ghidr::new();
    let cases: [(&[&str], Option<&str>); 16] = [
        (&[], None),
        (&["bogus"], None),
        (&["inspect"], None),
        (&["inspect", "a", "b"], None),
        (&["inspect", "a", "--unknown"], Some("--unknown")),
        (&["inspect", "a", "--format", "yaml"], Some("--format")),
        (&["inspect", "a", "--sandbox", "none"], Some("--sandbox")),
        (&["inspect", "a", "--max-cpu", "0"], Some("--max-cpu")),
        (&["inspect", "a", "--max-sample-bytes", "1GiB"], Some("--max-sample-bytes")),
        (&["inspect", "a", "--max-inline-bytes", "unlimited"], Some("--max-inline-bytes")),
        (&["functions", "a", "--all", "--limit", "1"], None),
        (&["functions", "a", "--limit", "0"], Some("--limit")),
        (&["functions", "a", "--offset", "-1"], Some("--offset")),
        (&["decompile", "a"], None),
        (&["decompile", "a", "--name", "x", "--address", "ram:0x1"], None),
        (&["decompile", "a", "main"], None),
    ];
    for (arguments, argument) in cases {
        let run = ghidr.run(arguments);
        let error = run.error("invalid_arguments", 2);
        assert_eq!(error["retryable"], false);
        let named = error["details"]["argument"].as_str().unwrap_or_default();
        assert!(argument.is_none_or(|argument| named.starts_with(argument)), "{arguments:?}: {error}");
        assert!(!error["message"].as_str().unwrap().contains('\n'), "{arguments:?}");
    }
    assert!(!ghidr.store().exists(), "a refused command line touches nothing");
}

#[test]
fn an_address_without_a_space_prints_the_exact_selector() {
    let ghidr = Ghidr::new();
    for address in ["0x401120", "401120", "ram:401120", "0x00401120"] {
        let error = ghidr.run(["decompile", "/bin/true", "--address", address]).error("invalid_arguments", 2);
        assert_eq!(error["details"]["suggestion"], "--address ram:0x0000000000401120", "{address}");
        let human = ghidr.run_unframed(["--format", "human", "decompile", "/bin/true", "--address", address]);
        assert!(
            String::from_utf8_lossy(&human.stderr).contains("--address ram:0x0000000000401120"),
            "{human}"
        );
    }
}

#[test]
fn a_misspelt_command_suggests_the_right_one() {
    let error = Ghidr::new().run(["functons", "a"]).error("invalid_arguments", 2);
    assert_eq!(error["details"]["suggestion"], "functions");
}

#[test]
fn people_are_told_what_they_probably_meant() {
    let cases: [(&[&str], &str); 7] = [
        (&["inspct", "a"], "inspect"),
        (&["inspect", "a", "--sandbx", "off"], "--sandbox"),
        (&["functions", "a", "--lmit", "5"], "--limit"),
        (&["decompile", "a", "--nmae", "main"], "--name"),
        (&["doctor", "--sandbox", "bubblewarp"], "bubblewrap"),
        (&["schema", "decompilaton"], "decompilation"),
        (&["completions", "fsh"], "fish"),
    ];
    let ghidr = Ghidr::new();
    for (arguments, meant) in cases {
        let run = ghidr.run_unframed(["--format", "human"].iter().chain(arguments));
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status == Some(2) && run.stdout.is_empty(), "{run}");
        assert!(text.lines().next().unwrap().ends_with(&format!("; use: {meant}")), "{arguments:?}: {text}");
        let error = ghidr.run(arguments).error("invalid_arguments", 2);
        assert_eq!(error["details"]["suggestion"], meant, "{arguments:?}");
    }
    // What resembles nothing gets no suggestion.
    for arguments in [&["--qqqqqq"][..], &["completions", "tcsh"], &["list"]] {
        let error = ghidr.run(arguments).error("invalid_arguments", 2);
        assert!(error["details"]["suggestion"].is_null(), "{error}");
    }
}

/// A command line that is refused leads to the help of the command that it names, in the words that help uses.
#[test]
fn a_refusal_speaks_the_words_of_help_and_leads_to_it() {
    let ghidr = Ghidr::new();
    let digest = "0".repeat(64);
    let cases: [(&[&str], &str, &str); 9] = [
        (&[], "ghidr --help describes them", "ghidr --help"),
        (&["store"], "a command is required: store list;", "ghidr store --help"),
        (&["inspect"], "required, but not given: SAMPLE", "ghidr inspect --help"),
        (&["inspect", "a", "--limt"], "unexpected argument", "ghidr inspect --help"),
        (
            &["decompile", "a"],
            "required, but not given: --name NAME or --address SPACE:0xOFFSET",
            "ghidr decompile --help",
        ),
        (&["decompile", "a", "--address", "0x1"], "address", "ghidr decompile --help"),
        (&["clean", "x", "--all"], "exactly one of SAMPLE, --digest and --all", "ghidr clean --help"),
        (&["clean", "--digest", &digest, "--yes"], "--yes goes only with --all", "ghidr clean --help"),
        (&["clean", "x", "--yes", "--dry-run"], "--yes goes only with --all", "ghidr clean --help"),
    ];
    for (arguments, words, help) in cases {
        let run = ghidr.run_unframed(["--format", "human"].iter().chain(arguments));
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(text.lines().next().unwrap().contains(words), "{arguments:?}: {text}");
        assert!(text.ends_with(&format!("\n  see: {help}\n")), "{arguments:?}: {text}");
    }
    let error = ghidr.run(["bogus", "a"]).error("invalid_arguments", 2);
    assert_eq!(error["details"]["argument"], "bogus");
}

#[test]
fn a_missing_command_lists_the_commands() {
    let error = Ghidr::new().run([] as [&str; 0]).error("invalid_arguments", 2);
    let listed = "doctor, inspect, functions, decompile";
    assert!(error["details"]["reason"].as_str().unwrap().contains(listed), "{error}");
}

#[test]
fn the_worker_and_the_guard_are_no_public_commands() {
    let ghidr = Ghidr::new();
    let help = String::from_utf8(ghidr.run_unframed(["--help"]).stdout).unwrap();
    for internal in ["--worker", "--guard"] {
        assert!(!help.contains(internal));
        let run = ghidr.run_unframed([internal]);
        assert!(run.status != Some(0) && run.stdout.is_empty(), "{internal}: {run}");
    }
}

#[test]
fn an_argument_that_is_not_utf8_is_reported_not_lost() {
    use std::os::unix::ffi::OsStrExt as _;
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    let decompile = ["decompile", "/bin/true", "--name"].map(std::ffi::OsStr::new);
    Ghidr::new().run(decompile.into_iter().chain([odd])).error("invalid_arguments", 2);
}
