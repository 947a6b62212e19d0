//! Each `INVARIANT(name)` stands at the line that upholds it, and a test of that name shows it.

use std::collections::BTreeSet;

use super::rust_files;

const TAG: &str = concat!("INVARIANT", "(");

#[test]
fn every_invariant_has_a_test_of_its_name() {
    let files = rust_files();
    let mut tests = Vec::new();
    let mut invariants = BTreeSet::new();
    for (path, text) in &files {
        for (index, line) in text.lines().enumerate() {
            if line.trim() == "#[test]" {
                let following =
                    text.lines().skip(index + 1).take(3).find_map(|line| line.trim().strip_prefix("fn "));
                tests.extend(following.map(|name| name.split('(').next().unwrap().to_owned()));
            }
            for tagged in line.split(TAG).skip(1) {
                let name = tagged.split(')').next().unwrap();
                assert!(!name.is_empty(), "{}: an invariant without a name", path.display());
                invariants.insert(name.to_owned());
            }
        }
    }
    assert!(invariants.len() >= 9, "{invariants:?}");
    for name in invariants {
        let wanted = name.replace('-', "_");
        assert!(tests.iter().any(|test| test.contains(&wanted)), "no test shows the invariant {name}");
    }
}
