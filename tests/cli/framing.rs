//! One document, one stream, one exit status; discovery is the only exception.

use crate::support::ghidr::Ghidr;

#[test]
fn invalid_arguments_are_one_json_document() {
    let ghidr = Ghidr::new();
    for arguments in [&[][..], &["bogus"], &["inspect"], &["--format", "yaml", "inspect", "/bin/true"]] {
        ghidr.run(arguments).error("invalid_arguments", 2);
    }
}

#[test]
fn discovery_is_text_and_touches_nothing() {
    let ghidr = Ghidr::new().without("HOME");
    for arguments in [&["--help"][..], &["--version"], &["inspect", "--help"], &["decompile", "--help"]] {
        let run = ghidr.run_unframed(arguments);
        assert_eq!(run.status, Some(0), "{run}");
        assert!(!run.stdout.is_empty() && run.stderr.is_empty(), "{run}");
    }
    assert!(!ghidr.store().exists());
}
