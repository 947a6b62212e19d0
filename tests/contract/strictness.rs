//! The strict reading of documents agrees with their schemas, property by property.

use ghidr::commands::schemas::{self, PublishedSchema};
use serde_json::Value;

use crate::support::contract::{schema_problems, strict_problem};
use crate::support::schema_samples::{count, objects, sample};

/// Kinds of document that a command prints.
fn printed() -> Vec<PublishedSchema> {
    let mut published = schemas::published();
    published.retain(|published| published.schema.as_value()["properties"].get("schema_version").is_some());
    published
}

fn samples(published: &PublishedSchema) -> impl Iterator<Item = Value> {
    let schema = published.schema.as_value();
    (0..count(schema)).map(|n| sample(schema, n))
}

#[test]
fn every_alternative_of_every_schema_is_read_strictly() {
    assert_eq!(printed().len(), 9);
    for published in printed() {
        for document in samples(&published) {
            assert_eq!(schema_problems(published.kind, &document), Vec::<String>::new(), "{document:#}");
            assert_eq!(strict_problem(&document.to_string()), None, "{document:#}");
        }
    }
}

#[test]
fn a_missing_property_is_refused_exactly_when_the_schema_requires_it() {
    for published in printed() {
        for document in samples(&published) {
            for at in objects(&document) {
                let names: Vec<String> =
                    document.pointer(&at).unwrap().as_object().unwrap().keys().cloned().collect();
                for name in names {
                    let mut without = document.clone();
                    without.pointer_mut(&at).unwrap().as_object_mut().unwrap().remove(&name);
                    let required = !schema_problems(published.kind, &without).is_empty();
                    let refused = strict_problem(&without.to_string()).is_some();
                    assert_eq!(refused, required, "{}: {at}/{name}", published.kind);
                }
            }
        }
    }
}

#[test]
fn an_unknown_property_passes_the_schema_and_not_the_strict_reading() {
    for published in printed() {
        for document in samples(&published) {
            for at in objects(&document) {
                let mut more = document.clone();
                more.pointer_mut(&at).unwrap().as_object_mut().unwrap().insert("unknown".into(), true.into());
                assert_eq!(schema_problems(published.kind, &more), Vec::<String>::new(), "{at}");
                assert!(
                    strict_problem(&more.to_string()).is_some(),
                    "{}: {at} accepts anything",
                    published.kind
                );
            }
        }
    }
}

#[test]
fn a_property_of_another_type_is_refused_by_both() {
    for published in printed() {
        for document in samples(&published).take(2) {
            for at in objects(&document) {
                let names: Vec<String> =
                    document.pointer(&at).unwrap().as_object().unwrap().keys().cloned().collect();
                for name in names {
                    let mut wrong = document.clone();
                    *wrong.pointer_mut(&at).unwrap().get_mut(&name).unwrap() = serde_json::json!([[[]]]);
                    assert!(
                        !schema_problems(published.kind, &wrong).is_empty(),
                        "{}: {at}/{name}",
                        published.kind
                    );
                    assert!(strict_problem(&wrong.to_string()).is_some(), "{}: {at}/{name}", published.kind);
                }
            }
        }
    }
}
