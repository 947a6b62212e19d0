//! Human format, the closed environment, and streams that go away.

use std::io::Read as _;
use std::process::Stdio;

use crate::support::ghidr::Ghidr;

#[test]
fn human_errors_are_plain_words_on_stderr() {
    let ghidr = Ghidr::new();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["inspect", "/nonexistent"], 1, "\n  path: /nonexistent\n"),
        (&["inspect", "/dev/null"], 1, "a character device\n  path: /dev/null\n  instead: copy its content"),
        (&["inspect", "/proc/version"], 1, "copy it into a file\n  path: /proc/version\n"),
        (&["doctor", "--java-home", "/nope"], 1, "there is no JDK at /nope, which --java-home names"),
        (&["functions", "/bin/true", "--store", "rel"], 1, "(from --store); name an absolute path"),
        (&["inspect", "/nonexistent"], 1, "error: there is no sample at this path"),
        (&["inspect", "/tmp"], 1, "error: the sample is not a regular file"),
        (&["bogus"], 2, "see: ghidr --help"),
        (&["functions", "/bin/true", "--store", "relative"], 1, "not absolute"),
    ];
    for (arguments, status, words) in cases {
        let run = ghidr.run_unframed(["--format", "human"].iter().chain(arguments));
        assert!(run.status == Some(status) && run.stdout.is_empty(), "{run}");
        let text = String::from_utf8(run.stderr).unwrap();
        assert!(text.contains(words) && text.starts_with("error: ") && text.ends_with('\n'), "{text}");
        assert!(!text.contains('{') && !text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn nothing_but_the_listed_variables_changes_an_answer() {
    let plain = Ghidr::new();
    let dozens = [
        "LANG",
        "LC_ALL",
        "TZ",
        "TERM",
        "COLUMNS",
        "PATH",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "SHELL",
        "PWD",
        "CI",
        "RUST_LOG",
        "RUST_BACKTRACE",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "CLASSPATH",
        "LD_LIBRARY_PATH",
        "GHIDRA_HOME",
        "GHIDR_FORMAT",
        "GHIDR_SANDBOX",
        "GHIDR_MAX_CPU",
        "GHIDR_BLESS",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "CLICOLOR_FORCE",
        "FORCE_COLOR",
        "NO_COLOR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "DISPLAY",
        "SSH_AUTH_SOCK",
    ];
    for arguments in [
        &["inspect", "/nonexistent"][..],
        &["--format", "human", "inspect", "/nonexistent"],
        &["--help"],
        &["x"],
    ] {
        let expected = plain.run_unframed(arguments);
        let mut command = plain.command(arguments);
        command.envs(dozens.map(|name| (name, "/set to something")));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), expected.status);
        assert_eq!((&output.stdout, &output.stderr), (&expected.stdout, &expected.stderr), "{arguments:?}");
    }
}

#[test]
fn a_reader_that_went_away_is_a_silent_failure() {
    let mut child =
        Ghidr::new().command(["--help"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let status = child.wait().unwrap();
    assert!(stderr.is_empty() && status.code().is_some_and(|code| code <= 1), "{status}: {stderr}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Ghidr::new().command(["--version"]).stdout(full).output().unwrap();
    assert!(output.status.code() == Some(1), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
}

#[test]
fn discovery_says_what_every_command_is_for() {
    let ghidr = Ghidr::new().without("HOME");
    let text = |arguments: &[&str]| String::from_utf8(ghidr.run_unframed(arguments).stdout).unwrap();
    assert_eq!(text(&["--version"]), format!("ghidr {}\n", env!("CARGO_PKG_VERSION")));
    let help = text(&["--help"]);
    for word in ["doctor", "inspect", "functions", "decompile", "--store", "--sandbox", "Exit status", "124"]
    {
        assert!(help.contains(word), "{word}");
    }
    for (command, words) in [
        ("functions", &["--limit", "--offset", "--all", "[default: 100]"][..]),
        ("decompile", &["--name", "--address", "ram:0x0000000000401120"]),
        ("inspect", &["--max-heap-mib", "not a limit on total or resident memory"]),
    ] {
        let help = text(&[command, "--help"]);
        words.iter().for_each(|word| assert!(help.contains(word), "{command}: {word}"));
    }
    for topic in ghidr::cli::help::TOPICS {
        let arguments: Vec<&str> = topic.command.split_whitespace().chain(["--help"]).collect();
        let help = text(&arguments);
        let one_line = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_line.contains(topic.notes), "{}", topic.command);
        for example in topic.examples {
            assert!(help.contains(example.line), "{}: {}", topic.command, example.line);
        }
    }
}
