//! Error documents and their fixed safety cap.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::envelope::encode;
use crate::domain::diagnostic_log::DiagnosticLogDescriptor;
use crate::domain::documents::SCHEMA_VERSION;
use crate::domain::error::{ErrorBody, PublicError};
use crate::domain::limits::ERROR_DOCUMENT_CAP_BYTES;
use crate::domain::provenance::ReducedProvenance;
use crate::domain::warning::WarningDocument;

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
        let body =
            ErrorBody { message: error.to_string(), retryable: error.retryable(), error, diagnostic_log };
        Self {
            schema_version: SCHEMA_VERSION,
            kind: ERROR_KIND.to_owned(),
            provenance: Some(provenance),
            error: body,
            warnings: Vec::new(),
        }
    }

    /// The same document with these warnings.
    pub fn with_warnings(self, warnings: Vec<WarningDocument>) -> Self {
        Self { warnings, ..self }
    }

    /// The document's bytes, never above the cap: what does not fit is replaced by a smaller
    /// error that says so.
    pub fn encode_capped(&self) -> Vec<u8> {
        for candidate in [self.clone(), self.without_provenance(), self.replaced()] {
            if let Ok(bytes) = encode(&candidate)
                && bytes.len() <= ERROR_DOCUMENT_CAP_BYTES
            {
                return bytes;
            }
        }
        Vec::new()
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
        assert_eq!(value["error"]["code"], "internal_error");
    }
}
