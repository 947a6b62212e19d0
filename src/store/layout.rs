//! Names inside the store (PRD "Analysis Store"): lowercase labels, digests and random ids,
//! none starting with `.`.

/// The record that makes a directory an Analysis Store.
pub(super) const STORE_RECORD: &str = "store.json";
/// The record while it is being written.
pub(super) const STORE_RECORD_PENDING: &str = "store.json.new";

pub(super) const ANALYSES: &str = "analyses";
pub(super) const ARTIFACTS: &str = "artifacts";
pub(super) const DIAGNOSTICS: &str = "diagnostics";
pub(super) const RESULTS: &str = "results";
pub(super) const QUARANTINE: &str = "quarantine";
pub(super) const LOCKS: &str = "locks";
pub(super) const STAGING: &str = "staging";
pub(super) const CLEANUP: &str = "cleanup";

/// Ending of an Artifact that is one document.
pub(super) const DOCUMENT_ENDING: &str = ".json";
/// Ending of an Artifact of lines.
pub(super) const LINES_ENDING: &str = ".jsonl";

/// Scope of what belongs to no Sample, below `diagnostics` and `artifacts`.
pub(super) const GLOBAL: &str = "global";

pub(super) const STORE_LOCK: &str = "store.lock";
pub(super) const SAMPLE_LOCK: &str = "sample.lock";

/// The whole Analysis inside staging: what promotion renames.
pub(super) const ANALYSIS: &str = "analysis";
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const MANIFEST_DIGEST: &str = "manifest.sha256";
pub(super) const PROFILE: &str = "profile.json";
pub(super) const FACTS: &str = "facts";
pub(super) const PROGRAM_FACTS: &str = "program.json";
pub(super) const FUNCTIONS: &str = "functions.jsonl";
pub(super) const PROJECT: &str = "project";
/// Name of the one Ghidra project of every Analysis.
pub(super) const PROJECT_NAME: &str = "analysis";

pub(super) const INVOCATION: &str = "invocation";
pub(super) const SAMPLE: &str = "sample";
pub(super) const HOME: &str = "home";
pub(super) const TEMPORARY: &str = "tmp";
pub(super) const LOGS: &str = "logs";
