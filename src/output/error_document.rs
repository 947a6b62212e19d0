//! Error documents and their fixed safety cap.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::envelope::encode;
use crate::domain::diagnostic_log::DiagnosticLogDescriptor;
use crate::domain::documents::SCHEMA_VERSION;
use crate::domain::error::{ErrorBody, PublicError};
use crate::domain::limits::ERROR_DOCUMENT_CAP_BYTES;
use crate::domain::provenance::ReducedProvenance;
use crate::domain::warning::WarningDocument;

/// How long texts may stay in a document that is too large, tried in this order; each a whole number of base64 groups.
const SHORTER_TEXT_CHARS: [usize; 3] = [1_024, 256, 64];
/// Encoding of a path that is not text.
const BASE64_PATH: &str = "unix_bytes_base64";
/// Stands for the end of a text.
const CUT: char = '…';

/// Kind of every error document.
pub const ERROR_KIND: &str = "error";

/// One error document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDocument {
    /// Version of the contract.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// Kind of document.
    #[schemars(extend("const" = ERROR_KIND))]
    pub kind: String,
    /// What was known when the error arose.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provenance: Option<ReducedProvenance>,
    /// The error.
    pub error: ErrorBody,
    /// Facts about this document, such as an incomplete Diagnostic Log; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<WarningDocument>,
}

impl ErrorDocument {
    /// Wraps an error.
    pub fn new(
        error: PublicError,
        provenance: ReducedProvenance,
        diagnostic_log: Option<DiagnosticLogDescriptor>,
    ) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            kind: ERROR_KIND.to_owned(),
            provenance: Some(provenance),
            error: ErrorBody::new(error, diagnostic_log),
            warnings: Vec::new(),
        }
    }

    /// The same document with these warnings.
    pub fn with_warnings(self, warnings: Vec<WarningDocument>) -> Self {
        Self { warnings, ..self }
    }

    /// The document's bytes, never above the cap. What does not fit loses first the ends of its longest texts, which a
    /// Sample or the caller chose, then its provenance; the code stays. What does not fit even so is replaced by an error
    /// that says so.
    pub fn encode_capped(&self) -> Vec<u8> {
        let shortened = SHORTER_TEXT_CHARS.map(|chars| self.shortened(chars));
        let shortest = shortened.last().map(Self::without_provenance);
        let candidates = [Some(self.clone())].into_iter().chain(shortened.map(Some)).chain([shortest]);
        for candidate in candidates.flatten().chain([self.replaced()]) {
            if let Ok(bytes) = encode(&candidate)
                && bytes.len() <= ERROR_DOCUMENT_CAP_BYTES
            {
                return bytes;
            }
        }
        Vec::new()
    }

    /// The same error with no text in its details longer than this; itself where that would change its type.
    fn shortened(&self, chars: usize) -> Self {
        let shortened = serde_json::to_value(&self.error.error).ok().and_then(|mut error| {
            shorten(&mut error["details"], chars);
            serde_json::from_value::<PublicError>(error).ok()
        });
        let Some(error) = shortened else { return self.clone() };
        Self { error: ErrorBody { message: error.to_string(), error, ..self.error.clone() }, ..self.clone() }
    }

    fn without_provenance(&self) -> Self {
        Self { provenance: None, ..self.clone() }
    }

    fn replaced(&self) -> Self {
        let reason = format!(
            "an error document exceeded its cap of {ERROR_DOCUMENT_CAP_BYTES} bytes and was replaced"
        );
        let replacement = PublicError::InternalError { reason };
        Self {
            provenance: None,
            ..Self::new(replacement, ReducedProvenance::default(), self.error.diagnostic_log.clone())
        }
    }
}

/// Cuts every text below `value`; a path of bytes stays a path, whose end is missing.
fn shorten(value: &mut Value, chars: usize) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(chars) {
                text.truncate(end);
                text.push(CUT);
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| shorten(element, chars)),
        Value::Object(members) if members.get("encoding").is_some_and(|name| name == BASE64_PATH) => {
            if let Some(Value::String(base64)) = members.get_mut("value") {
                base64.truncate(chars);
            }
        }
        Value::Object(members) => members.values_mut().for_each(|member| shorten(member, chars)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::address::{Address, Offset};
    use crate::domain::candidates::Candidates;
    use crate::domain::function::FunctionLocation;
    use crate::domain::path_value::PathValue;
    use crate::domain::selector::FunctionCandidate;

    fn document(name: String) -> ErrorDocument {
        ErrorDocument::new(PublicError::FunctionNotFound { name }, ReducedProvenance::default(), None)
    }

    #[test]
    fn an_error_carries_code_details_message_and_retryable() {
        let value: serde_json::Value =
            serde_json::from_slice(&document("parse".into()).encode_capped()).unwrap();
        assert_eq!(value["error"]["code"], "function_not_found");
        assert_eq!(value["error"]["details"]["name"], "parse");
        assert_eq!(value["error"]["message"], "no function is named 'parse'");
        assert_eq!(value["error"]["retryable"], false);
    }

    #[test]
    fn no_error_document_exceeds_the_cap() {
        let bytes = document("a".repeat(ERROR_DOCUMENT_CAP_BYTES)).encode_capped();
        assert!(bytes.len() <= ERROR_DOCUMENT_CAP_BYTES && bytes.ends_with(b"}\n"));
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["error"]["code"], "function_not_found");
        let kept = value["error"]["details"]["name"].as_str().unwrap();
        assert_eq!((kept.chars().count(), kept.chars().last()), (1_025, Some('…')));
    }

    #[test]
    fn a_full_list_of_long_candidates_keeps_its_code_and_its_addresses() {
        let candidate = |offset| FunctionCandidate {
            name: "é".repeat(4_096),
            qualified_name: "é".repeat(4_096),
            entry: Address { space: "ram".into(), offset: Offset::new(offset, 16) },
            location: FunctionLocation::Memory,
            is_external: false,
            is_thunk: false,
            decompilable: true,
        };
        let candidates = Candidates::from_all((0..30).map(candidate));
        let error = PublicError::FunctionSelectorAmbiguous { name: "é".repeat(30_000), candidates };
        let bytes = ErrorDocument::new(error, ReducedProvenance::default(), None).encode_capped();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["error"]["code"], "function_selector_ambiguous");
        let items = value["error"]["details"]["candidates"]["items"].as_array().unwrap();
        assert_eq!(items[19]["entry"]["offset"], "0x0000000000000013");
        assert_eq!(items[19]["name"].as_str().unwrap().chars().count(), 257);
        assert_eq!(value["provenance"]["adapter_protocol_version"], 0);
    }

    #[test]
    fn a_path_longer_than_any_that_exists_loses_its_end() {
        use std::os::unix::ffi::OsStringExt as _;
        for byte in [b'p', 0xff] {
            let path = std::ffi::OsString::from_vec(vec![byte; 80_000]);
            let known = ReducedProvenance {
                source_path: Some(std::path::Path::new(&path).into()),
                ..ReducedProvenance::default()
            };
            let error = PublicError::SampleNotFound { path: std::path::Path::new(&path).into() };
            let bytes = ErrorDocument::new(error, known, None).encode_capped();
            let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(value["error"]["code"], "sample_not_found");
            assert!(serde_json::from_value::<PathValue>(value["error"]["details"]["path"].clone()).is_ok());
        }
    }
}
