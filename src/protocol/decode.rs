//! Decodes a request on the worker's side, as strictly as it was encoded.

use super::limits::{MAX_REQUEST_BYTES, PROTOCOL_VERSION};
use super::request::Request;

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It exceeds the ceiling; nothing of it was parsed.
    #[error("the request is larger than {MAX_REQUEST_BYTES} bytes")]
    TooLarge,
    /// It is not a request.
    #[error("the request is not valid: {0}")]
    Invalid(#[from] serde_json::Error),
    /// It holds more than a request, or spells it in another way.
    #[error("the request holds unknown fields")]
    NotCanonical,
    /// It speaks another version.
    #[error("the request speaks protocol {0}, not {PROTOCOL_VERSION}")]
    OtherProtocol(u32),
}

/// The request in `bytes`.
pub fn decode(bytes: &[u8]) -> Result<Request, DecodeError> {
    if bytes.len() > MAX_REQUEST_BYTES {
        return Err(DecodeError::TooLarge);
    }
    let request: Request = serde_json::from_slice(bytes)?;
    if request.protocol_version != PROTOCOL_VERSION {
        return Err(DecodeError::OtherProtocol(request.protocol_version));
    }
    // Byte equality also refuses duplicate fields and foreign spellings.
    if serde_json::to_vec(&request)? != bytes {
        return Err(DecodeError::NotCanonical);
    }
    Ok(request)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::protocol::encode::encode;
    use crate::protocol::encode::tests::request_with_name;

    #[test]
    fn what_was_encoded_is_decoded() {
        let request = request_with_name("main".into());
        assert_eq!(decode(&encode(&request).unwrap()).unwrap(), request);
    }

    #[test]
    fn unknown_duplicate_missing_and_oversized_requests_are_refused() {
        let text = String::from_utf8(encode(&request_with_name("main".into())).unwrap()).unwrap();
        let unknown = text.replacen('{', r#"{"extra":1,"#, 1);
        assert!(matches!(decode(unknown.as_bytes()), Err(DecodeError::NotCanonical)));
        let nested = text.replacen(r#""max_cpu":"#, r#""extra":1,"max_cpu":"#, 1);
        assert!(matches!(decode(nested.as_bytes()), Err(DecodeError::Invalid(_))));
        let duplicate = text.replacen('{', r#"{"protocol_version":1,"#, 1);
        assert!(decode(duplicate.as_bytes()).is_err());
        let missing = text.replacen(r#""protocol_version":1,"#, "", 1);
        assert!(matches!(decode(missing.as_bytes()), Err(DecodeError::Invalid(_))));
        let other = text.replacen(r#""protocol_version":1"#, r#""protocol_version":2"#, 1);
        assert!(matches!(decode(other.as_bytes()), Err(DecodeError::OtherProtocol(2))));
        assert!(matches!(decode(&vec![b' '; MAX_REQUEST_BYTES + 1]), Err(DecodeError::TooLarge)));
    }
}
