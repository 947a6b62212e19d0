//! Masks what may differ between two correct answers to the same question.
//!
//! The list is short on purpose: whatever is not on it must be equal byte for byte.

use serde_json::Value;

/// Pointers to values that depend on where and with which build a test runs.
const UNSTABLE: [&str; 5] = [
    // The checkout and the test's own store.
    "/provenance/source_path/value",
    "/provenance/analysis_store/path/value",
    // The release, which no golden should have to follow.
    "/provenance/ghidr_version",
    // A retained log is named after a random invocation and contains times.
    "/error/diagnostic_log/path/value",
    "/error/diagnostic_log",
];

const MASK: &str = "<masked>";

/// Counts that Ghidra itself does not repeat from run to run: it runs analyzers in parallel, and
/// one reference more or less depends on their timing. Facts and every other count are equal.
/// Fixture, count, smallest and largest value seen.
const ENGINE_VARIANCE: [(&str, &str, u64, u64); 1] =
    [("pe32plus-x86_64.exe", "reference_count", 1_060, 1_062)];

/// The counts of an Analysis, with a value inside its known variance replaced by the range.
pub fn program_counts(fixture: &str, counts: &Value) -> Value {
    let mut counts = counts.clone();
    for (_, name, low, high) in ENGINE_VARIANCE.iter().filter(|(of, ..)| *of == fixture) {
        let count = &mut counts[*name];
        if count.as_u64().is_some_and(|count| (*low..=*high).contains(&count)) {
            *count = Value::from(format!("{low} to {high}"));
        }
    }
    counts
}

/// Masks the unstable values of a document that are present.
pub fn normalize(document: &Value) -> Value {
    let mut document = document.clone();
    for pointer in UNSTABLE {
        if let Some(value) = document.pointer_mut(pointer).filter(|value| !value.is_null()) {
            *value = Value::from(MASK);
        }
    }
    document
}
