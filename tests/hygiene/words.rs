//! What no file of the project may contain: a developer's machine, a package registry's address,
//! or what production code must not do.

use std::path::Path;

use super::{production, texts};

/// Places of one machine, and addresses that belong into the reader's own configuration.
/// Written in halves, so that this file does not contain them itself.
const FORBIDDEN: [(&str, &str); 9] = [
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("crates", ".io"),
    ("repo1.", "maven.org"),
    ("repo.", "maven.apache.org"),
    ("deb.", "debian.org"),
    ("registry.", "npmjs.org"),
    ("pypi", ".org"),
    ("maven", "-central"),
];

const ROOTS: [&str; 11] = [
    "src",
    "tests",
    "xtask",
    "jvm-bridge",
    "java/src",
    "docs",
    "schemas",
    "fixtures/src",
    ".ci",
    "nix",
    "packaging",
];

#[test]
fn no_file_names_a_machine_or_a_registry() {
    let top = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "flake.nix",
        "Cargo.toml",
        "deny.toml",
        "java/pom.xml",
    ];
    let top = top.iter().map(|name| (Path::new(name).to_owned(), read(name)));
    for (path, text) in ROOTS.iter().flat_map(|root| texts(root, "")).chain(top) {
        for (number, line) in text.lines().enumerate() {
            for (head, tail) in FORBIDDEN {
                let word = format!("{head}{tail}");
                assert!(!line.contains(&word), "{}:{}: {word}", path.display(), number + 1);
            }
        }
    }
}

fn read(name: &str) -> String {
    std::fs::read_to_string(crate::support::committed::project().join(name)).unwrap_or_default()
}

#[test]
fn production_code_neither_panics_nor_leaves_work_undone() {
    const CALLS: [&str; 9] = [
        ".unwrap()",
        ".expect(",
        "panic!(",
        "todo!(",
        "unimplemented!(",
        "unreachable!(",
        "dbg!(",
        "FIXME",
        "XXX",
    ];
    for root in ["src", "xtask/src", "jvm-bridge/src"] {
        for (path, text) in texts(root, ".rs") {
            let is_test = path.to_string_lossy().ends_with("_tests.rs") || path.ends_with("testing.rs");
            if is_test {
                continue;
            }
            for line in production(&text).lines() {
                let found = CALLS.iter().find(|call| line.contains(**call));
                assert!(found.is_none(), "{}: {line}", path.display());
            }
        }
    }
}
