//! Failures that the worker reports in its response: the closed set shared with the Java
//! adapter. `commands::failure` maps each to a public error.

use serde::{Deserialize, Serialize};

use super::address::Address;
use super::candidates::Candidates;
use super::selector::FunctionCandidate;

/// One loadable interpretation of an ambiguous Sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TargetCandidate {
    /// Ghidra loader name.
    pub loader: String,
    /// Ghidra language id.
    pub processor_language: String,
    /// Ghidra compiler-specification id.
    pub compiler_specification: String,
}

/// Code and details of a worker failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", content = "details", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of the public errors they become")]
pub enum WorkerError {
    /// The adapter refused the request: a harness defect or tampering.
    RequestRejected { field: String, reason: String },
    /// Ghidra could not be started.
    EngineUnusable { component: String, reason: String },
    /// A recognised Sample could not be loaded.
    ImportFailed { reason: String },
    /// No loader but the raw one, or only refused ones, accept the Sample, or no processor fits its format.
    UnsupportedTarget { loaders: Vec<String>, recognised_format: Option<String> },
    /// The best loader offers several equally good interpretations.
    AmbiguousTarget { candidates: Candidates<TargetCandidate> },
    /// The Sample holds other files.
    ContainerSample { format: String, members: Candidates<String> },
    /// Ghidra's own analysis time-out expired.
    AnalysisTimeout { timeout_seconds: u64, analyzer: Option<String> },
    /// Analysis ended without a usable Program.
    AnalysisFailed { exception_class: String, reason: String },
    /// The project could not be saved.
    SaveFailed { reason: String },
    /// A stored project could not be opened.
    ProjectUnusable { reason: String },
    /// No Function matches.
    FunctionNotFound {},
    /// Several Functions match.
    FunctionSelectorAmbiguous { candidates: Candidates<FunctionCandidate> },
    /// The Address is no entry.
    FunctionEntryRequired { containing_entry: Option<Address> },
    /// No such address space.
    AddressSpaceNotFound { spaces: Candidates<String> },
    /// The Function has no body to decompile.
    FunctionNotDecompilable { entry: Address, reason: String },
    /// Ghidra's decompiler time-out expired.
    DecompileTimeout { timeout_seconds: u64, entry: Address },
    /// Ghidra's decompiler gave no text.
    DecompileFailed { entry: Address, reason: String },
    /// Facts exceed their bound.
    FactsTooLarge { limit_bytes: u64 },
    /// The response exceeds its bound.
    ResultTooLarge { limit_bytes: u64, observed_at_least_bytes: u64 },
}
