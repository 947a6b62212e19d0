//! Small JSON documents of the store: one way to write them, one strict way to read them.
//!
//! A document is compact JSON and one LF. Reading accepts exactly the bytes that writing the
//! parsed value would give, which refuses unknown, duplicate, missing and reordered fields
//! without restricting the published schemas.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;

/// The bytes of a document, LF included.
pub(super) fn encode<T: Serialize>(document: &T) -> Result<Vec<u8>, StoreError> {
    let mut bytes = serde_json::to_vec(document).map_err(|error| StoreError::CanonicalJson(error.into()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The document that encodes to exactly `bytes`, or why there is none.
pub(super) fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let text = bytes.strip_suffix(b"\n").ok_or_else(|| "no final LF".to_owned())?;
    decode_line(text)
}

/// As [`decode`], for a document whose LF was already taken off.
pub(super) fn decode_line<T: Serialize + DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let document: T = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let again = serde_json::to_vec(&document).map_err(|error| error.to_string())?;
    if again == line { Ok(document) } else { Err("not in its one exact encoding".to_owned()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pair {
        a: u32,
        b: Option<String>,
    }

    #[test]
    fn only_the_exact_encoding_is_read() {
        let pair = Pair { a: 1, b: Some("ü\n".into()) };
        let bytes = encode(&pair).unwrap();
        assert_eq!(bytes, "{\"a\":1,\"b\":\"ü\\n\"}\n".as_bytes());
        assert_eq!(decode::<Pair>(&bytes), Ok(pair));
        for refused in [
            "{\"a\":1,\"b\":null}",
            "{\"a\":1,\"b\":null}\n\n",
            "{\"a\":1, \"b\":null}\n",
            "{\"b\":null,\"a\":1}\n",
            "{\"a\":1}\n",
            "{\"a\":1,\"b\":null,\"c\":2}\n",
            "{\"a\":1,\"a\":1,\"b\":null}\n",
            "{\"a\":1.0,\"b\":null}\n",
            "{\"a\":1,\"b\":\"\\u00fc\"}\n",
            "",
        ] {
            assert!(decode::<Pair>(refused.as_bytes()).is_err(), "{refused}");
        }
    }
}
