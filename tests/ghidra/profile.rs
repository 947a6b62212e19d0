//! The canonical Profile: fully resolved, and a function of nothing but what may change a result.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::fixtures;
use crate::support::shared;

#[test]
fn the_profile_holds_at_least_a_hundred_resolved_analyzer_options() {
    for fixture in fixtures::ANALYSABLE {
        let profile = shared::bubblewrap().stored(fixture, "profile.json");
        let options = profile["analyzer_options"].as_array().unwrap();
        assert!(options.len() >= 100, "{fixture}: {} options", options.len());
        let names: Vec<&str> = options.iter().map(|option| option["name"].as_str().unwrap()).collect();
        assert!(names.is_sorted_by(|left, right| left < right), "{fixture}: sorted and without duplicates");
    }
}

#[test]
fn options_of_every_kind_are_typed_and_floats_are_strings() {
    let profile = shared::bubblewrap().stored("elf-x86_64-pie", "profile.json");
    let options: BTreeMap<&str, (&str, &Value)> = profile["analyzer_options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| {
            let text = |field: &str| option[field].as_str().unwrap();
            (text("name"), (text("type"), &option["value"]))
        })
        .collect();
    let expected = [
        ("ASCII Strings.Minimum String Length", "enum", Value::from("LEN_5")),
        ("Decompiler Switch Analysis", "boolean", Value::from(true)),
        ("Function ID.Instruction Count Threshold", "float", Value::from("14.6")),
        ("Decompiler Parameter ID", "boolean", Value::from(false)),
    ];
    for (name, kind, value) in expected {
        assert_eq!(options.get(name), Some(&(kind, &value)), "{name} among {:#?}", options.keys());
    }
    fn no_float(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.is_i64() || number.is_u64(),
            Value::Array(items) => items.iter().all(no_float),
            Value::Object(fields) => fields.values().all(no_float),
            _ => true,
        }
    }
    assert!(no_float(&profile));
}

#[test]
fn the_profile_digest_is_of_the_stored_canonical_bytes() {
    let shared = shared::bubblewrap();
    let bytes = std::fs::read(shared.analysis("elf-x86_64-pie").join("profile.json")).unwrap();
    let digest = shared.fixture("elf-x86_64-pie")["provenance"]["analysis_profile_sha256"].clone();
    assert_eq!(digest, hex::encode(Sha256::digest(&bytes)).as_str());
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    // serde_json keeps object keys sorted and writes no blanks, as canonical JSON does.
    assert_eq!(serde_json::to_vec(&document).unwrap(), bytes);
}

#[test]
fn the_analyzer_record_is_complete_where_nothing_failed() {
    for fixture in fixtures::ANALYSABLE {
        let document = shared::bubblewrap().fixture(fixture);
        let completeness = &document["data"]["analysis"]["completeness"];
        let manifest = shared::bubblewrap().stored(fixture, "manifest.json");
        let count = |status: &str| {
            let runs = manifest["analyzers"].as_array().unwrap();
            runs.iter().filter(|run| run["enabled"] == true && run["status"] == status).count()
        };
        assert_eq!(completeness["completed"], count("completed"), "{fixture}");
        assert_eq!(completeness["not_run"], count("not_run"), "{fixture}");
        assert_eq!(completeness["failed"].as_array().unwrap().len(), count("failed"), "{fixture}");
        let total = count("completed") + count("not_run") + count("failed");
        assert_eq!(completeness["enabled"], total, "{fixture}");
        let faultless = manifest["faults"]["total"] == 0 && count("failed") == 0 && count("not_run") == 0;
        assert_eq!(completeness["complete"], faultless && total >= 20, "{fixture}: {completeness}");
    }
}
