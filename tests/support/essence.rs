//! What two Analyses of one Sample must have in common to be called the same.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::normalize;

/// Everything of the stored Analysis in `directory` that must be equal, whatever ran the engine.
pub fn of_analysis(fixture: &str, directory: &Path) -> BTreeMap<&'static str, String> {
    let file = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
    let manifest: Value = serde_json::from_str(&file("manifest.json")).unwrap();
    let status: Vec<String> = manifest["analyzers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| format!("{} {} {}", run["name"], run["enabled"], run["status"]))
        .collect();
    assert!(status.len() >= 20, "{fixture}: {status:?}");
    BTreeMap::from([
        ("facts/program.json", file("facts/program.json")),
        ("facts/functions.jsonl", file("facts/functions.jsonl")),
        ("profile.json", file("profile.json")),
        ("status of each analyzer", status.join("\n")),
        ("counts", normalize::program_counts(fixture, &manifest["program"]).to_string()),
        ("faults", manifest["faults"].to_string()),
        ("suspicions", manifest["suspicions"].to_string()),
    ])
}

/// Compares what two engines gave, part by part, and shows where a part begins to differ.
pub fn assert_same(actual: &[(&str, String)], expected: &[(&str, String)], when: &str) {
    let names =
        |parts: &[(&str, String)]| parts.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(names(actual), names(expected), "{when}");
    for ((name, actual), (_, expected)) in actual.iter().zip(expected) {
        let pairs = actual.chars().zip(expected.chars());
        let same = pairs.take_while(|(actual, expected)| actual == expected).count();
        let difference =
            |text: &str| text.chars().skip(same.saturating_sub(100)).take(300).collect::<String>();
        assert!(
            actual == expected,
            "{when}: {name} differs\n{}\n{}",
            difference(actual),
            difference(expected)
        );
    }
}
