//! How a document refers to a retained Diagnostic Log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::ContentDigest;
use super::path_value::PathValue;

/// Descriptor of a Diagnostic Log bundle: where its manifest is and what it hashes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticLogDescriptor {
    /// Absolute path of the bundle's `manifest.json`.
    pub path: PathValue,
    /// Size of that file, in bytes.
    pub bytes: u64,
    /// SHA-256 of that file.
    pub sha256: ContentDigest,
    /// Always `application/json`.
    pub media_type: String,
    /// Always true: Ghidra may echo Sample-derived content.
    pub sensitive: bool,
}
