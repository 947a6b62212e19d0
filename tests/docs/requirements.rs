//! `docs/requirements.md`: every row names tests that exist.
//!
//! A Rust test exists when one function of its name is marked as a test, or when a macro that defines tests is given its
//! name; of several with one name a row says which, as `file::name`. A Java test exists when a file of its class has a
//! method of its name. What a check of `cargo xtask test` shows, and no test, is written `xtask test: STEP`.

use std::collections::BTreeMap;
use std::path::Path;

/// Where tests may be.
const ROOTS: [&str; 5] = ["src", "tests", "jvm-bridge", "xtask", "java/src/test"];

/// Names of all tests, and how many have it: `name` and `file::name` in Rust, `Class.name` in Java.
fn defined() -> BTreeMap<String, usize> {
    let mut names = Vec::new();
    for root in ROOTS {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root), &mut names);
    }
    let mut defined = BTreeMap::new();
    for name in names {
        *defined.entry(name).or_default() += 1;
    }
    defined
}

fn collect(directory: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension {
            _ if path.is_dir() => collect(&path, names),
            "rs" => {
                let file = path.file_stem().unwrap().to_string_lossy().into_owned();
                for name in rust_tests(&read(&path)) {
                    names.extend([format!("{file}::{name}"), name]);
                }
            }
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

/// `fn name() {` after `#[test]`, or `name: "fixture",` in a call of a macro.
fn rust_tests(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        let name = match line.strip_prefix("fn ") {
            Some(rest) => rest.split_once("()").map(|(name, _)| name).filter(|_| is_test),
            None => line.split_once(": \"").filter(|(_, rest)| rest.ends_with("\",")).map(|(name, _)| name),
        };
        names.extend(name.filter(|name| is_identifier(name)).map(str::to_owned));
        is_test = line == "#[test]" || (is_test && line.starts_with("#["));
    }
    names
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
    let steps = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("xtask/src/test/mod.rs"));
    let defined = defined();
    let mut seen = BTreeMap::new();
    let mut wrong = Vec::new();
    for [id, clause, tests] in rows(&document) {
        if let Some(earlier) = seen.insert(id, clause) {
            wrong.push(format!("{id} stands for '{earlier}' and for '{clause}'"));
        }
        for test in tests.split(", ") {
            let name = test.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or_default();
            let step = name.strip_prefix("xtask test: ");
            match step.map_or(defined.get(name), |step| steps.contains(&format!("\"{step}\"")).then_some(&1))
            {
                Some(1) => {}
                Some(count) => wrong.push(format!("{id}: {count} tests are named {test}")),
                None => wrong.push(format!("{id}: there is no test {test}")),
            }
        }
    }
    assert!(seen.len() > 100, "only {} rows were read", seen.len());
    assert!(wrong.is_empty(), "docs/requirements.md:\n{}", wrong.join("\n"));
}
