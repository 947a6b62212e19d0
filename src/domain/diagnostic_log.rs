//! The descriptor by which errors and warnings refer to a retained Diagnostic Log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::ContentDigest;
use super::path_value::PathValue;

/// Media type of a Diagnostic Log's manifest.
pub const DIAGNOSTIC_LOG_MEDIA_TYPE: &str = "application/json";

/// Points at the manifest of an immutable Diagnostic Log bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticLogDescriptor {
    /// Absolute path of the bundle's `manifest.json`.
    pub path: PathValue,
    /// Exact size of `manifest.json`, in bytes.
    pub bytes: u64,
    /// SHA-256 of `manifest.json`.
    pub sha256: ContentDigest,
    /// Media type of `manifest.json`.
    #[schemars(extend("const" = DIAGNOSTIC_LOG_MEDIA_TYPE))]
    pub media_type: String,
    /// Always true: Ghidra may echo Sample content into its logs.
    #[schemars(extend("const" = true))]
    pub sensitive: bool,
}
