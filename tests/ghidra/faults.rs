//! Faults inside the engine are never silent, and analyzers that need fonts, a compiler or the
//! native decompiler really ran.

use serde_json::Value;

use crate::support::fixtures;
use crate::support::shared;
use crate::support::tree;

fn warnings(document: &Value, code: &str) -> Vec<Value> {
    let all = document["warnings"].as_array().unwrap().iter();
    all.filter(|warning| warning["code"] == code).cloned().collect()
}

#[test]
fn the_failed_analyzer_of_dwarf5_is_a_warning_on_every_query() {
    let fixture = "elf-x86_64-dwarf5";
    let shared = shared::bubblewrap();
    let cold = shared.fixture(fixture);
    let expected = warnings(&cold, "analyzer_failed");
    assert_eq!(expected.len(), 1, "{cold:#}");
    assert_eq!(expected[0]["details"]["analyzer"], "DWARF");
    let completeness = &cold["data"]["analysis"]["completeness"];
    assert_eq!(completeness["complete"], false);
    assert_eq!(completeness["failed"], serde_json::json!(["DWARF"]));
    let path = fixtures::path(fixture);
    let path = path.to_str().unwrap();
    for again in [vec!["inspect", path], vec!["functions", path, "--limit", "1"]] {
        assert_eq!(warnings(&shared.run(&again).success(), "analyzer_failed"), expected, "{again:?}");
    }
    let decompiled = shared.decompiled(fixture, ["--name", "main"]);
    assert_eq!(warnings(&decompiled, "analyzer_failed"), expected);
}

#[test]
fn a_truncated_sample_is_suspicious() {
    let cold = shared::bubblewrap().fixture("elf-x86_64-truncated");
    let [warning] = warnings(&cold, "suspicious_analysis").try_into().unwrap();
    let reasons = warning["details"]["reasons"].as_array().unwrap();
    assert!(reasons.contains(&Value::from("headers_past_end_of_file")), "{warning}");
}

#[test]
fn an_intact_fixture_with_functions_is_not_suspicious() {
    for fixture in ["elf-x86_64-pie", "elf-x86_64-object.o", "pe32plus-x86_64.exe", "pe32plus-x86_64.dll"] {
        let cold = shared::bubblewrap().fixture(fixture);
        assert_eq!(cold["warnings"], serde_json::json!([]), "{fixture}");
    }
}

#[test]
fn the_windows_resource_analyzer_really_ran_on_every_pe() {
    let mut checked = 0;
    for fixture in fixtures::ANALYSABLE.into_iter().filter(|fixture| fixture.starts_with("pe")) {
        let manifest = shared::bubblewrap().stored(fixture, "manifest.json");
        let runs = manifest["analyzers"].as_array().unwrap();
        let run = runs.iter().find(|run| run["name"] == "WindowsResourceReference");
        let run = run.unwrap_or_else(|| panic!("{fixture}: {runs:?}"));
        assert_eq!((&run["enabled"], &run["status"]), (&Value::from(true), &Value::from("completed")));
        checked += 1;
    }
    assert_eq!(checked, 5);
}

#[test]
fn decompiler_warnings_are_in_the_envelope_and_the_text_stays_verbatim() {
    let mut seen = 0;
    for (fixture, _, selector) in super::golden::DECOMPILED {
        let document = shared::bubblewrap().decompiled(fixture, selector);
        let Some(text) = document["data"]["decompilation"]["text"].as_str() else { continue };
        let found = warnings(&document, "decompiler_warning");
        assert_eq!(found.is_empty(), !text.contains("WARNING"), "{fixture}: {document:#}");
        for warning in found {
            let warning = warning["details"]["text"].as_str().unwrap();
            let words: Vec<&str> = warning.split_whitespace().collect();
            let written: Vec<&str> = text.split_whitespace().collect();
            assert!(
                written.windows(words.len()).any(|window| window == words),
                "{fixture}: {warning:?} is not in {text}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 1, "no fixture provokes a decompiler warning");
}

/// `/bin/true` of Debian 12 (coreutils 9.1): 123 functions in memory mean that no font was found.
#[test]
fn bin_true_of_debian_12_has_231_functions_185_of_them_in_memory() {
    let known = "c79bf44242829108e323378531f4ac839513ca1fba45efd6583643526e1e9fd2";
    let path = std::path::Path::new("/bin/true");
    let shared = shared::bubblewrap();
    let document = shared.sample(path);
    let total = document["data"]["program"]["function_count"].as_u64().unwrap();
    let run = shared.run(["functions", "/bin/true", "--all", "--max-inline-bytes", "100000000"]).success();
    let items = run["data"]["items"].as_array().unwrap();
    assert_eq!(items.len() as u64, total);
    let memory = items.iter().filter(|item| item["location"] == "memory").count();
    if tree::sha256(path) == known {
        assert_eq!((total, memory), (231, 185));
    } else {
        assert!(memory >= 150, "{memory} functions in memory");
    }
    assert_eq!(document["data"]["analysis"]["completeness"]["complete"], true);
}
