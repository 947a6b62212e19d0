//! Holds documents against the published schemas.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use ghidr::commands::schemas;
use serde_json::Value;

/// Validates a document against the published schema of its kind.
pub fn check(document: &Value) {
    static VALIDATORS: OnceLock<BTreeMap<&'static str, jsonschema::Validator>> = OnceLock::new();
    let validators = VALIDATORS.get_or_init(|| {
        let validator = |published: &schemas::PublishedSchema| {
            jsonschema::validator_for(published.schema.as_value()).unwrap()
        };
        schemas::published().iter().map(|published| (published.kind, validator(published))).collect()
    });
    let kind = document["kind"].as_str().unwrap_or_default();
    let validator = validators.get(kind).unwrap_or_else(|| panic!("no schema for kind {kind:?}"));
    let problems: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{kind} breaks its schema: {problems:#?}\n{document:#}");
}
