//! Holds every document of every test against the published contract, three times over: its
//! schema, a strict reading by types that production code does not share, and the rules that
//! neither can express.

mod batch;
mod details;
mod documents;
mod rules;
mod storage;
mod values;
mod warnings;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use ghidr::commands::schemas;
use serde_json::Value;

/// Checks one document, given by its exact bytes.
pub fn check_bytes(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("a document is UTF-8");
    assert!(text.ends_with('\n') && text.matches('\n').count() == 1, "not one line: {text}");
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(is_compact(text.trim_end_matches('\n')), "not compact: {text}");
    check(&document);
    documents::read_strictly(text).unwrap_or_else(|problem| panic!("{problem}: {document:#}"));
    rules::check(&document, bytes.len());
}

/// Whether no white space stands between the tokens.
fn is_compact(text: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    text.chars().all(|character| {
        let is_quote = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        inside ^= is_quote;
        inside || !character.is_whitespace()
    })
}

/// Checks one document against the published schema of its kind.
pub fn check(document: &Value) {
    let kind = document["kind"].as_str().unwrap_or_default();
    let problems = schema_problems(kind, document);
    assert!(problems.is_empty(), "{kind} breaks its schema: {problems:#?}\n{document:#}");
}

/// How a document breaks the published schema of this name.
pub fn schema_problems(schema: &str, document: &Value) -> Vec<String> {
    static VALIDATORS: OnceLock<BTreeMap<&'static str, jsonschema::Validator>> = OnceLock::new();
    let validators = VALIDATORS.get_or_init(|| {
        let validator = |published: &schemas::PublishedSchema| {
            jsonschema::validator_for(published.schema.as_value()).unwrap()
        };
        schemas::published().iter().map(|published| (published.kind, validator(published))).collect()
    });
    let validator = validators.get(schema).unwrap_or_else(|| panic!("no schema for kind {schema:?}"));
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Reads a document strictly and says what is wrong with it.
pub fn strict_problem(text: &str) -> Option<String> {
    documents::read_strictly(text).err()
}
