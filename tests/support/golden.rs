//! Compares documents with the reviewed ones in `tests/golden/<engine version>/`.
//!
//! Nothing is written unless `GHIDR_BLESS=1`, which `cargo xtask bless` sets and which is
//! refused where `CI` is set.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::normalize::normalize;

/// Where the goldens of all engine versions are.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Holds a document against the golden `<command>/<case>.json` of the engine that made it.
pub fn check(command: &str, case: &str, document: &Value) {
    let version = document["provenance"]["ghidra_version"].as_str().expect("an engine made this document");
    let path = root().join(version).join(command).join(format!("{case}.json"));
    let mut actual = serde_json::to_string_pretty(&normalize(document)).unwrap();
    actual.push('\n');
    if blessing() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{}: {error}\nreview and accept with: cargo xtask bless", path.display())
    });
    if expected != actual {
        panic!(
            "{} differs:\n{}\nif that is right, review and accept it with: cargo xtask bless",
            path.display(),
            differences(&expected, &actual)
        );
    }
}

fn blessing() -> bool {
    let blessing = std::env::var_os("GHIDR_BLESS").is_some_and(|value| value == "1");
    assert!(!(blessing && std::env::var_os("CI").is_some()), "GHIDR_BLESS is refused where CI is set");
    blessing
}

/// The first lines that differ, bounded.
fn differences(expected: &str, actual: &str) -> String {
    let (mut expected, mut actual) = (expected.lines(), actual.lines());
    let mut text = String::new();
    for number in 1.. {
        let (before, now) = (expected.next(), actual.next());
        if before.is_none() && now.is_none() || text.len() > 4_000 {
            break;
        }
        if before != now {
            let clip = |line: Option<&str>| line.unwrap_or("(end)").chars().take(300).collect::<String>();
            text.push_str(&format!("{number}: - {}\n{number}: + {}\n", clip(before), clip(now)));
        }
    }
    text
}
