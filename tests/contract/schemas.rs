//! `schemas/v1/` is what the producing types generate, and keeps the rules of a public schema.

use std::collections::BTreeSet;

use ghidr::commands::schemas;
use serde_json::Value;

use crate::support::committed;

const DIRECTORY: &str = "schemas/v1";

#[test]
fn committed_schemas_are_generated_from_the_types() {
    for published in schemas::published() {
        let file = format!("{DIRECTORY}/{}", published.file_name());
        committed::check(&file, &published.to_bytes().unwrap(), "contract::schemas");
    }
}

#[test]
fn no_schema_file_is_an_orphan() {
    let expected: BTreeSet<String> = schemas::published()
        .iter()
        .map(|published| format!("{DIRECTORY}/{}", published.file_name()))
        .collect();
    let found: BTreeSet<String> = committed::files_below(DIRECTORY, "")
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn public_schemas_let_consumers_ignore_unknown_fields() {
    for published in schemas::published() {
        visit(published.schema.as_value(), &mut |object| {
            for keyword in ["additionalProperties", "unevaluatedProperties"] {
                assert_ne!(object.get(keyword), Some(&Value::Bool(false)), "{}: {keyword}", published.kind);
            }
        });
    }
}

#[test]
fn every_property_of_a_public_schema_is_described() {
    for published in schemas::published() {
        visit(published.schema.as_value(), &mut |object| {
            let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
            for (name, property) in properties {
                // The tag and the content of a tagged union are explained by the union itself.
                let is_tag =
                    ["code", "details", "kind", "encoding", "value", "status"].contains(&name.as_str());
                let described = property.get("description").is_some() || is_tag;
                assert!(described, "{}: property {name} has no description", published.kind);
            }
        });
    }
}

#[test]
fn a_schema_pins_its_version_and_kind() {
    for published in schemas::published() {
        let schema = published.schema.as_value();
        let constant = |name: &str| schema["properties"][name]["const"].clone();
        let versions = ["schema_version", "manifest_version", "profile_version", "layout_version"];
        let versions: Vec<Value> = versions.iter().map(|name| constant(name)).collect();
        assert_eq!(versions.iter().filter(|version| **version == 1).count(), 1, "{}", published.kind);
        if schema["properties"].get("schema_version").is_some() {
            assert_eq!(constant("kind"), published.kind);
        }
    }
}

fn visit(schema: &Value, act: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match schema {
        Value::Object(object) => {
            act(object);
            object.values().for_each(|value| visit(value, act));
        }
        Value::Array(values) => values.iter().for_each(|value| visit(value, act)),
        _ => {}
    }
}
