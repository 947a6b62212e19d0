//! Where an answer comes from: the provenance block of every document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::{ProfileDigest, SampleDigest};
use super::limits::ReportedLimits;
use super::path_value::PathValue;
use super::sandbox_mode::{SandboxMode, SandboxVerification};
use super::store_source::StoreSource;
use super::target::{Target, TargetVerification};

/// Target Specification with its coverage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedTarget {
    /// What Ghidra recognised.
    #[serde(flatten)]
    pub target: Target,
    /// This project's integration coverage of it.
    pub verification: TargetVerification,
}

/// The Analysis Store in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedStore {
    /// Absolute path.
    pub path: PathValue,
    /// The rule that selected it.
    pub source: StoreSource,
}

/// The sandbox policy in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSandbox {
    /// Selected mode.
    pub backend: SandboxMode,
    /// What ghidr itself enforces of it.
    pub verification: SandboxVerification,
}

impl From<SandboxMode> for ReportedSandbox {
    fn from(mode: SandboxMode) -> Self {
        Self { backend: mode, verification: mode.verification() }
    }
}

/// Provenance of every Sample-backed Query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueryProvenance {
    /// Version of this program.
    pub ghidr_version: String,
    /// Version of the protocol between harness and Java adapter.
    pub adapter_protocol_version: u32,
    /// Such as `12.1.2`.
    pub ghidra_version: String,
    /// Java feature version, such as `21`.
    pub java_version: String,
    /// Identity of the Sample.
    pub sample_sha256: SampleDigest,
    /// The path the caller gave, byte-exact.
    pub source_path: PathValue,
    /// Identity of the Analysis Profile.
    pub analysis_profile_sha256: ProfileDigest,
    /// What the Sample was recognised as.
    pub target: ReportedTarget,
    /// Where the Analysis is kept.
    pub analysis_store: ReportedStore,
    /// Selected sandbox policy, also for an answer that needed no worker.
    pub sandbox: ReportedSandbox,
    /// Selected limits.
    pub limits: ReportedLimits,
}

/// Provenance of documents that answer no Sample-backed Query, and of errors: what was
/// known when the document was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReducedProvenance {
    /// Version of this program.
    pub ghidr_version: String,
    /// Version of the protocol between harness and Java adapter.
    pub adapter_protocol_version: u32,
    /// Engine version, once known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ghidra_version: Option<String>,
    /// Java feature version, once known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub java_version: Option<String>,
    /// Identity of the Sample, once known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sample_sha256: Option<SampleDigest>,
    /// The path the caller gave, byte-exact.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_path: Option<PathValue>,
    /// Identity of the Analysis Profile, once known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub analysis_profile_sha256: Option<ProfileDigest>,
    /// Where Analyses are kept, once resolved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub analysis_store: Option<ReportedStore>,
    /// Selected sandbox policy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sandbox: Option<ReportedSandbox>,
    /// Selected limits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limits: Option<ReportedLimits>,
}
