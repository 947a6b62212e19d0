//! The documents about stored data, read strictly.
#![allow(dead_code, reason = "fields exist to be required")]

use serde::Deserialize;

use super::documents::Page;
use super::values::{Nullable, Path, Sha256};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    logical_bytes: u64,
    allocated_bytes: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    analyses: u64,
    quarantined_analyses: u64,
    artifacts: u64,
    kept_results: u64,
    diagnostic_logs: u64,
    usage: Usage,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cleanup {
    mode: Mode,
    target: Target,
    matched: Match,
    removed: Nullable<Counts>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Executed,
    DryRun,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Target {
    Sample { source_path: Path, sha256: Sha256 },
    Digest { sha256: Sha256 },
    All {},
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    analyses: u64,
    quarantined_analyses: u64,
    artifacts: u64,
    kept_results: u64,
    diagnostic_logs: u64,
    usage: Usage,
    analysis_profile_sha256: Vec<Sha256>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreList {
    page: Page,
    items: Vec<StoredSample>,
    global: Global,
    interrupted_cleanups: Interrupted,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSample {
    sample_sha256: Sha256,
    sample_size_bytes: Nullable<u64>,
    analyses: Vec<Analysis>,
    quarantined_analyses: u64,
    artifacts: u64,
    kept_results: u64,
    diagnostic_logs: u64,
    usage: Usage,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Analysis {
    analysis_profile_sha256: Sha256,
    status: Status,
    problem: Nullable<String>,
    manifest: Nullable<Manifest>,
    usage: Usage,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Complete,
    Corrupt,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    target: ManifestTarget,
    ghidra_version: String,
    ghidra_build: String,
    java_version: String,
    max_cpu: u32,
    created_at: String,
    created_by_ghidr_version: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestTarget {
    loader: String,
    format: String,
    processor_language: String,
    compiler_specification: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Global {
    artifacts: u64,
    diagnostic_logs: u64,
    usage: Usage,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Interrupted {
    transactions: u64,
    usage: Usage,
}
