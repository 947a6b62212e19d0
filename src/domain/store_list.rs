//! What `store list` tells of each Sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::{ProfileDigest, SampleDigest};
use super::page::Page;
use super::target::Target;
use super::usage::StorageUsage;

/// Identifier of the order in which `store list` lists.
pub const STORE_ORDER: &str = "sample_sha256_ascending";

/// Whether a stored Analysis can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisStatus {
    /// Its manifest and Profile are sound. Facts and project are verified by the Query that
    /// reads them, not by this list.
    Complete,
    /// Manifest or Profile are damaged; the next Query sets it aside and makes it again.
    Corrupt,
}

/// What a sound manifest says of its Analysis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedManifest {
    /// What the Sample was recognised as.
    pub target: Target,
    /// Engine version.
    pub ghidra_version: String,
    /// Build of the engine.
    pub ghidra_build: String,
    /// Java feature version.
    pub java_version: String,
    /// Cores Ghidra was allowed.
    pub max_cpu: u32,
    /// When the Analysis was finished, RFC 3339 in UTC.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// Version of ghidr that made it.
    pub created_by_ghidr_version: String,
}

/// One stored Analysis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedAnalysis {
    /// Identity of its Profile.
    pub analysis_profile_sha256: ProfileDigest,
    /// Whether it can be read.
    pub status: AnalysisStatus,
    /// What is wrong with it; null when nothing is.
    pub problem: Option<String>,
    /// What it says of itself; null when it cannot be read.
    pub manifest: Option<ListedManifest>,
    /// What it occupies.
    pub usage: StorageUsage,
}

/// Everything that is kept of one Sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredSample {
    /// Identity of the Sample.
    pub sample_sha256: SampleDigest,
    /// Its size in bytes; null when no readable Analysis tells it.
    pub sample_size_bytes: Option<u64>,
    /// Its Analyses, bytewise by Profile.
    pub analyses: Vec<ListedAnalysis>,
    /// Damaged Analyses that were set aside.
    pub quarantined_analyses: u64,
    /// Artifacts.
    pub artifacts: u64,
    /// Kept results of Queries.
    pub kept_results: u64,
    /// Diagnostic Logs.
    pub diagnostic_logs: u64,
    /// What all of it occupies.
    pub usage: StorageUsage,
}

/// What is kept of commands that had no Sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredGlobal {
    /// Artifacts.
    pub artifacts: u64,
    /// Diagnostic Logs.
    pub diagnostic_logs: u64,
    /// What all of it occupies.
    pub usage: StorageUsage,
}

/// What interrupted cleanups did not delete yet; the next one of the same target does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptedCleanups {
    /// How many there are.
    pub transactions: u64,
    /// What is left of them.
    pub usage: StorageUsage,
}

/// Data of a `store_list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreList {
    /// Which part of the collection this is.
    pub page: Page,
    /// The Samples, in the page's order.
    pub items: Vec<StoredSample>,
    /// What is kept of commands that had no Sample.
    pub global: StoredGlobal,
    /// What interrupted cleanups left.
    pub interrupted_cleanups: InterruptedCleanups,
}
