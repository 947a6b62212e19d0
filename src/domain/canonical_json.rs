//! Canonical JSON (PRD "Analysis compatibility"): the bytes that Analysis Profile and
//! Analysis basis digests cover.
//!
//! UTF-8, object keys in bytewise order, no insignificant whitespace, integers only, no
//! trailing LF. Refuses floating-point numbers: they have no single decimal spelling.

use serde::Serialize;
use serde_json::Value;

/// Why a document has no canonical form.
#[derive(Debug, thiserror::Error)]
pub enum CanonicalJsonError {
    /// The document contains a number that is not an integer.
    #[error("canonical JSON holds no floating-point number, found {0}")]
    NotAnInteger(serde_json::Number),
    /// The value could not be represented as JSON at all.
    #[error("value has no JSON form: {0}")]
    Unserializable(#[from] serde_json::Error),
}

/// The canonical bytes of `document`.
pub fn to_canonical_bytes<T: Serialize>(document: &T) -> Result<Vec<u8>, CanonicalJsonError> {
    let mut bytes = Vec::new();
    write(&serde_json::to_value(document)?, &mut bytes)?;
    Ok(bytes)
}

fn write(value: &Value, out: &mut Vec<u8>) -> Result<(), CanonicalJsonError> {
    match value {
        Value::Number(number) if !(number.is_i64() || number.is_u64()) => {
            return Err(CanonicalJsonError::NotAnInteger(number.clone()));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            serde_json::to_writer(out, value)?;
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out)?;
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_bytes());
            out.push(b'{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                serde_json::to_writer(&mut *out, key)?;
                out.push(b':');
                write(item, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_level_and_nothing_else_moves() {
        let bytes = to_canonical_bytes(&json!({"b": [2, 1], "a": {"z": "ü", "y": null}, "B": true})).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), r#"{"B":true,"a":{"y":null,"z":"ü"},"b":[2,1]}"#);
    }

    #[test]
    fn floats_are_refused() {
        assert!(matches!(to_canonical_bytes(&json!([14.6])), Err(CanonicalJsonError::NotAnInteger(_))));
    }
}
