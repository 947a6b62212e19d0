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
