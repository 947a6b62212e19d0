//! Invented documents that exercise a JSON Schema exhaustively: every property is there, and the
//! n-th sample takes the n-th alternative wherever there is a choice.

use serde_json::{Map, Value, json};

/// How many samples show every alternative of the schema at least once.
pub fn count(schema: &Value) -> usize {
    let own = alternatives(schema).map_or(1, Vec::len);
    let inner = match schema {
        Value::Object(object) => object.values().map(count).max(),
        Value::Array(values) => values.iter().map(count).max(),
        _ => None,
    };
    own.max(inner.unwrap_or(1))
}

/// The n-th sample of a schema document.
pub fn sample(schema: &Value, n: usize) -> Value {
    invent(schema, schema, n)
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf", "enum"].iter().find_map(|keyword| schema.get(keyword)).and_then(Value::as_array)
}

fn invent(root: &Value, schema: &Value, n: usize) -> Value {
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values[n % values.len()].clone();
    }
    let mut invented = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let target = root.pointer(reference.trim_start_matches('#'));
            invent(root, target.unwrap_or_else(|| panic!("{reference} is not defined")), n)
        }
        None => invent_by_type(root, schema, n),
    };
    if let Some(alternatives) = alternatives(schema) {
        let chosen = invent(root, &alternatives[n % alternatives.len()], n);
        match (&mut invented, chosen) {
            (Value::Object(object), Value::Object(more)) => object.extend(more),
            (invented, chosen) => *invented = chosen,
        }
    }
    invented
}

fn invent_by_type(root: &Value, schema: &Value, n: usize) -> Value {
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[n % kinds.len()].as_str(),
        kind => kind.as_str(),
    };
    match kind {
        Some("object") => {
            let mut object = Map::new();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                object.insert(name.clone(), invent(root, property, n));
            }
            Value::Object(object)
        }
        Some("array") => json!([invent(root, &schema["items"], n)]),
        Some("string") => invent_text(schema).into(),
        Some("integer") => 1.into(),
        Some("boolean") => true.into(),
        _ => Value::Null,
    }
}

fn invent_text(schema: &Value) -> String {
    if schema["format"] == "date-time" {
        return "2026-01-01T00:00:00Z".to_owned();
    }
    match schema["pattern"].as_str() {
        None => "text".to_owned(),
        Some("^[0-9a-f]{64}$") => "0".repeat(64),
        Some("^[0-9a-f]{32}$") => "0".repeat(32),
        Some("^0x[0-9a-f]{1,16}$") => "0x0000000000401120".to_owned(),
        Some(pattern) => panic!("no sample for the pattern {pattern}"),
    }
}

/// The JSON pointers of every object in a document.
pub fn objects(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(document, String::new(), &mut found);
    found
}

fn collect(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                collect(value, format!("{at}/{name}"), found);
            }
            found.push(at);
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect(value, format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}
