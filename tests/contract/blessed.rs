//! `tests/blessed/v1/` is the contract as it was last released; today's schemas may only add to it.
//!
//! A release copies `schemas/v1/` there. Nothing writes it otherwise, `GHIDR_BLESS` included.

use std::collections::BTreeSet;

use ghidr::commands::schemas;
use serde_json::Value;

use super::compatibility::breaches;
use crate::support::committed;

const DIRECTORY: &str = "tests/blessed/v1";

#[test]
fn schemas_only_add_optional_fields_to_the_blessed_ones() {
    let published = schemas::published();
    let files = committed::files_below(DIRECTORY, ".json");
    assert!(!files.is_empty(), "no blessed schema");
    for file in files {
        let bytes = std::fs::read(committed::project().join(&file)).unwrap();
        let blessed: Value = serde_json::from_slice(&bytes).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let current = published.iter().find(|published| published.file_name() == name);
        let current = current.unwrap_or_else(|| panic!("{name} is no longer published"));
        let breaches = breaches(&blessed, current.schema.as_value());
        assert!(breaches.is_empty(), "{name} breaks schema version 1: {breaches:#?}");
    }
}

#[test]
fn every_published_schema_is_blessed() {
    let blessed: BTreeSet<String> = committed::files_below(DIRECTORY, ".json")
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let published: BTreeSet<String> =
        schemas::published().iter().map(schemas::PublishedSchema::file_name).collect();
    assert_eq!(published, blessed, "a new document kind is copied to {DIRECTORY} when it is first released");
}
