//! What may change in a published schema within one major version: optional fields may be added,
//! and closed sets of codes may grow. Nothing else.

use serde_json::{Map, Value};

/// Keywords that only explain.
const PROSE: [&str; 4] = ["description", "title", "$id", "$schema"];
/// Keywords whose value is a list of alternatives, of which more may appear.
const ALTERNATIVES: [&str; 3] = ["oneOf", "anyOf", "enum"];

/// Every way in which `new` breaks what `old` promised.
pub fn breaches(old: &Value, new: &Value) -> Vec<String> {
    let mut breaches = Vec::new();
    compare(old, new, "", &mut breaches);
    breaches
}

fn compare(old: &Value, new: &Value, at: &str, breaches: &mut Vec<String>) {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        if old != new {
            breaches.push(format!("{at}: {old} became {new}"));
        }
        return;
    };
    for keyword in old.keys().chain(new.keys().filter(|keyword| !old.contains_key(*keyword))) {
        if !PROSE.contains(&keyword.as_str()) {
            compare_keyword(old, new, keyword, at, breaches);
        }
    }
}

fn compare_keyword(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    keyword: &str,
    at: &str,
    breaches: &mut Vec<String>,
) {
    let at = format!("{at}/{keyword}");
    let absent = Value::Null;
    let (before, after) = (old.get(keyword).unwrap_or(&absent), new.get(keyword).unwrap_or(&absent));
    match keyword {
        "properties" | "$defs" => {
            for (name, schema) in before.as_object().into_iter().flatten() {
                match after.get(name) {
                    Some(now) => compare(schema, now, &format!("{at}/{name}"), breaches),
                    None => breaches.push(format!("{at}/{name}: removed")),
                }
            }
        }
        "required" => {
            let names = |list: &Value| -> Vec<String> {
                let mut names: Vec<String> =
                    list.as_array().into_iter().flatten().map(Value::to_string).collect();
                names.sort();
                names
            };
            if names(before) != names(after) {
                breaches.push(format!("{at}: {before} became {after}"));
            }
        }
        "items" => compare(before, after, &at, breaches),
        _ if ALTERNATIVES.contains(&keyword) && before.is_array() && after.is_array() => {
            compare_alternatives(before, after, &at, breaches);
        }
        _ if before != after => breaches.push(format!("{at}: {before} became {after}")),
        _ => {}
    }
}

/// Each old alternative needs a new one that keeps its promises.
fn compare_alternatives(before: &Value, after: &Value, at: &str, breaches: &mut Vec<String>) {
    let after: Vec<&Value> = after.as_array().into_iter().flatten().collect();
    for old in before.as_array().into_iter().flatten() {
        if !after.iter().any(|new| self::breaches(old, new).is_empty()) {
            let name =
                ["/properties/code/const", "/const", "/$ref"].iter().find_map(|path| old.pointer(path));
            breaches.push(format!("{at}: no alternative keeps {}", name.unwrap_or(old)));
        }
    }
}

#[test]
fn only_optional_additions_are_compatible() {
    let old = serde_json::json!({
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#/$defs/B"}},
        "required": ["a"],
        "$defs": {"B": {"oneOf": [{"const": "x", "description": "old"}]}}
    });
    let edited = |pointer: &str, value: Value| {
        let mut new = old.clone();
        *new.pointer_mut(pointer).unwrap() = value;
        breaches(&old, &new)
    };
    let with =
        |name: &str| serde_json::json!({"a": {"type": "string"}, "b": {"$ref": "#/$defs/B"}, name: {}});
    assert_eq!(edited("/properties", with("c")), Vec::<String>::new());
    assert_eq!(
        edited("/$defs/B/oneOf", serde_json::json!([{"const": "x"}, {"const": "y"}])),
        Vec::<String>::new()
    );
    assert_eq!(
        edited("/properties", serde_json::json!({"a": {"type": "string"}})),
        ["/properties/b: removed"]
    );
    assert_eq!(edited("/properties/a/type", "integer".into()).len(), 1);
    assert_eq!(edited("/properties/a", serde_json::json!({"type": "string", "pattern": "x"})).len(), 1);
    assert_eq!(edited("/required", serde_json::json!(["a", "b"])).len(), 1);
    assert_eq!(edited("/required", serde_json::json!([])).len(), 1);
    assert_eq!(edited("/$defs/B/oneOf", serde_json::json!([{"const": "y"}])).len(), 1);
}
