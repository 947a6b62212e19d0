//! What holds for every document and no schema can say: orders, sums, bounds.

use serde_json::Value;

/// Fixed cap of error documents, in bytes.
const ERROR_CAP_BYTES: usize = 65_536;
/// Most items of a bounded list of candidates.
const CANDIDATE_LIMIT: usize = 20;

/// Checks one document of `bytes` bytes.
pub fn check(document: &Value, bytes: usize) {
    warnings_are_sorted_and_unique(document);
    candidates_disclose_their_bound(document);
    match document["kind"].as_str() {
        Some("error") => assert!(bytes <= ERROR_CAP_BYTES, "an error document of {bytes} bytes"),
        Some("function_list") if document["data"].get("page").is_some() => {
            page_adds_up(&document["data"]);
            functions_are_in_order(&document["data"]);
        }
        Some("store_list") if document["data"].get("page").is_some() => {
            page_adds_up(&document["data"]);
            samples_are_in_order(&document["data"]);
        }
        Some("cleanup") if document["data"].get("mode").is_some() => cleanup_adds_up(&document["data"]),
        _ => {}
    }
}

/// The PRD's order: bytewise by code, then by canonicalized details.
fn warnings_are_sorted_and_unique(document: &Value) {
    let Some(warnings) = document["warnings"].as_array() else { return };
    // `serde_json` keeps objects sorted by key, which is the canonical form of these details.
    let keys: Vec<(&str, String)> = warnings
        .iter()
        .map(|warning| (warning["code"].as_str().unwrap(), warning["details"].to_string()))
        .collect();
    assert!(keys.is_sorted_by(|a, b| a < b), "warnings are not sorted and unique: {keys:#?}");
}

fn candidates_disclose_their_bound(value: &Value) {
    match value {
        Value::Object(object) => {
            if let (Some(items), Some(total), Some(has_more)) =
                (object.get("items"), object.get("total"), object.get("has_more"))
            {
                let shown = items.as_array().unwrap().len();
                assert!(shown <= CANDIDATE_LIMIT, "{shown} candidates");
                assert_eq!(has_more, total.as_u64().unwrap() > shown as u64);
            }
            object.values().for_each(candidates_disclose_their_bound);
        }
        Value::Array(values) => values.iter().for_each(candidates_disclose_their_bound),
        _ => {}
    }
}

fn page_adds_up(data: &Value) {
    let page = &data["page"];
    let number = |name: &str| page[name].as_u64().unwrap();
    let items = data["items"].as_array().unwrap();
    assert_eq!(number("returned"), items.len() as u64);
    assert_eq!(page["has_more"], number("offset").saturating_add(number("returned")) < number("total"));
}

fn functions_are_in_order(data: &Value) {
    assert_eq!(data["page"]["order"], "location_then_entry_ascending");
    let items = data["items"].as_array().unwrap();
    let keys: Vec<_> = items.iter().map(order_key).collect();
    assert!(keys.is_sorted_by(|a, b| a < b), "functions are not in the documented order");
}

fn order_key(item: &Value) -> (bool, String, u64) {
    let offset = item["entry"]["offset"].as_str().unwrap().trim_start_matches("0x");
    (
        item["location"] == "external",
        item["entry"]["space"].as_str().unwrap().to_owned(),
        u64::from_str_radix(offset, 16).unwrap(),
    )
}

fn samples_are_in_order(data: &Value) {
    assert_eq!(data["page"]["order"], "sample_sha256_ascending");
    let items = data["items"].as_array().unwrap();
    assert!(items.is_sorted_by_key(|item| item["sample_sha256"].as_str().unwrap()), "{items:#?}");
    for item in items {
        let analyses = item["analyses"].as_array().unwrap();
        assert!(analyses.is_sorted_by_key(|analysis| analysis["analysis_profile_sha256"].as_str().unwrap()));
        for analysis in analyses {
            let is_sound = analysis["status"] == "complete";
            assert_eq!(
                (analysis["problem"].is_null(), analysis["manifest"].is_object()),
                (is_sound, is_sound)
            );
        }
    }
}

/// A success removed all it matched; a dry run removed nothing.
fn cleanup_adds_up(data: &Value) {
    let profiles = data["matched"]["analysis_profile_sha256"].as_array().unwrap();
    let keys: Vec<_> = profiles.iter().map(|profile| profile.as_str().unwrap()).collect();
    assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
    let mut matched = data["matched"].clone();
    matched.as_object_mut().unwrap().remove("analysis_profile_sha256");
    let expected = if data["mode"] == "executed" { matched } else { Value::Null };
    assert_eq!(data["removed"], expected);
}
