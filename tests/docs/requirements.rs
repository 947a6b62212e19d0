//! `docs/requirements.md`: every row names tests that exist.
//!
//! A test exists when a function of its name is defined in a source file of this repository, or when a macro that
//! defines tests is given its name; a Java test when a file of its class has a method of its name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where tests may be.
const ROOTS: [&str; 5] = ["src", "tests", "jvm-bridge", "xtask", "java/src/test"];

/// Names of everything that can be a test: `name` in Rust, `Class.name` in Java.
fn defined() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for root in ROOTS {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root), &mut names);
    }
    names
}

fn collect(directory: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension {
            _ if path.is_dir() => collect(&path, names),
            "rs" => names.extend(read(&path).lines().filter_map(rust_test)),
            "java" => {
                let class = path.file_stem().unwrap().to_string_lossy().into_owned();
                names.extend(read(&path).lines().filter_map(java_test).map(|name| format!("{class}.{name}")));
            }
            _ => {}
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// `fn name() {`, or `name: "fixture",` in a call of a macro.
fn rust_test(line: &str) -> Option<String> {
    let line = line.trim();
    let name = match line.strip_prefix("fn ") {
        Some(rest) => rest.split_once("()")?.0,
        None => line.split_once(": \"").filter(|(_, rest)| rest.ends_with("\","))?.0,
    };
    is_identifier(name).then(|| name.to_owned())
}

/// `void name()`.
fn java_test(line: &str) -> Option<String> {
    let name = line.trim().trim_start_matches("public ").strip_prefix("void ")?.split_once("()")?.0;
    is_identifier(name).then(|| name.to_owned())
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_alphanumeric() || character == '_')
}

/// The rows of all tables: identifier, clause, tests.
fn rows(document: &str) -> Vec<[&str; 3]> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    rows.filter(|cells| cells[0] != "id")
        .map(|cells| <[&str; 3]>::try_from(cells).expect("a row has three cells"))
        .collect()
}

#[test]
fn every_requirement_names_tests_that_exist() {
    let document = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/requirements.md"));
    let defined = defined();
    let mut seen = BTreeMap::new();
    let mut wrong = Vec::new();
    for [id, clause, tests] in rows(&document) {
        if let Some(earlier) = seen.insert(id, clause) {
            wrong.push(format!("{id} stands for '{earlier}' and for '{clause}'"));
        }
        for test in tests.split(", ") {
            let name = test.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            if !name.is_some_and(|name| defined.contains(name)) {
                wrong.push(format!("{id}: there is no test {test}"));
            }
        }
    }
    assert!(seen.len() > 100, "only {} rows were read", seen.len());
    assert!(wrong.is_empty(), "docs/requirements.md:\n{}", wrong.join("\n"));
}
