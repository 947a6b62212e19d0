//! Every public error code with its details, message, exit status and retryability.
//!
//! This enum is the single registry: `docs/errors.md` and the error schema are generated
//! from it, and the matches below have no wildcard arm.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::candidates::Candidates;
use super::cleanup::CleanupCounts;
use super::counted::counted;
use super::digest::{BasisDigest, ProfileDigest};
use super::doctor_report::DoctorReport;
pub use super::error_details::{
    BUNDLE_RULE, ErrorBody, RaiseLimit, Termination, WorkerProgress, describe_missing, describe_rule,
};
use super::error_details::{describe_space, describe_unsupported};
use super::exit_status::ExitStatus;
use super::path_value::PathValue;
use super::selector::FunctionCandidate;
use super::worker_error::TargetCandidate;

/// A public error: code and details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "details", rename_all = "snake_case")]
pub enum PublicError {
    /// The selector's Address space does not exist in the Program.
    #[error("address space '{space}' does not exist in this program")]
    AddressSpaceNotFound {
        /// The space asked for.
        space: String,
        /// The spaces there are.
        spaces: Candidates<String>,
    },
    /// Ghidra offers several equally good interpretations of the Sample.
    #[error("Ghidra recognises the sample in {} equally good ways", candidates.total)]
    AmbiguousTarget {
        /// The interpretations.
        candidates: Candidates<TargetCandidate>,
    },
    /// Another process is building this Analysis, or using what is to be cleaned.
    #[error("another process is using this stored data; try again in {}", counted(*retry_after_seconds, "second"))]
    AnalysisBusy {
        /// Basis of the Analysis (what is known before Ghidra runs).
        analysis_basis_sha256: Option<BasisDigest>,
        /// Its Profile, when a stored Analysis that is to be made again names it.
        analysis_profile_sha256: Option<ProfileDigest>,
        /// Suggested delay before repeating the command.
        retry_after_seconds: u64,
    },
    /// Analysis ended without a usable Program.
    #[error("Ghidra could not analyze the sample: {reason}")]
    AnalysisFailed {
        /// Java class of the throwable, when there was one.
        exception_class: String,
        /// What went wrong.
        reason: String,
    },
    /// Ghidra's analysis time-out expired.
    #[error("analysis did not finish within {}; try {} {}", counted(*timeout_seconds, "second"), raise.flag, raise.next_value)]
    AnalysisTimeout {
        /// The limit that expired, in seconds.
        timeout_seconds: u64,
        /// What was running.
        progress: WorkerProgress,
        /// The flag to raise.
        raise: RaiseLimit,
    },
    /// A cleanup stopped half-way: what is left is out of sight, and the next cleanup of the same target deletes
    /// it first.
    #[error("cleanup stopped before everything was deleted: {reason}; run it again")]
    CleanupIncomplete {
        /// What was deleted.
        removed: CleanupCounts,
        /// What was matched and is not deleted yet.
        remaining: CleanupCounts,
        /// The transaction that holds what could not be deleted.
        transaction: PathValue,
        /// The system's reason.
        reason: String,
    },
    /// Removing everything was neither confirmed on a terminal nor requested with `--yes`; nothing was removed.
    #[error("{}", if *declined { "nothing was removed" } else { "removing everything that is stored needs confirmation; add --yes" })]
    ConfirmationRequired {
        /// What would be removed.
        matched: CleanupCounts,
        /// Whether a person was asked and did not agree: in human format only, so no document has it.
        #[serde(skip)]
        declined: bool,
    },
    /// The Sample is an archive or a universal binary.
    #[error("the sample is a container ({format}); extract one member and ask about that")]
    ContainerSample {
        /// Kind of container.
        format: String,
        /// Its members, when Ghidra lists them.
        members: Candidates<String>,
    },
    /// Stored data is corrupt, and rebuilding it did not help.
    #[error("stored analysis data is corrupt: {reason}")]
    CorruptAnalysis {
        /// What was wrong.
        reason: String,
        /// Where it was.
        path: PathValue,
    },
    /// Ghidra's decompiler produced no text.
    #[error("the decompiler failed on the function at {entry}: {reason}")]
    DecompileFailed {
        /// Entry of the Function.
        entry: Address,
        /// Ghidra's reason.
        reason: String,
    },
    /// Ghidra's decompiler time-out expired.
    #[error("decompilation did not finish within {}; try {} {}", counted(*timeout_seconds, "second"), raise.flag, raise.next_value)]
    DecompileTimeout {
        /// Entry of the Function.
        entry: Address,
        /// The limit that expired, in seconds.
        timeout_seconds: u64,
        /// The flag to raise.
        raise: RaiseLimit,
    },
    /// The worker filled its disk quota.
    #[error("the worker wrote more than its disk quota of {limit_bytes} bytes")]
    DiskQuotaExceeded {
        /// The quota, in bytes.
        limit_bytes: u64,
    },
    /// At least one required component is not ready.
    #[error("not every required component is ready")]
    DoctorFailed {
        /// The complete report.
        report: Box<DoctorReport>,
    },
    /// Ghidra could not be started.
    #[error("the engine cannot be used: {component}: {reason}")]
    EngineUnusable {
        /// Which part failed.
        component: String,
        /// How.
        reason: String,
    },
    /// The Address lies inside a Function or in none, but is no entry.
    #[error("an address selector must be the entry of a function{}", containing_entry.as_ref().map(|entry| format!("; it lies inside the function at {entry}")).unwrap_or_default())]
    FunctionEntryRequired {
        /// Entry of the Function that contains the Address, when there is one.
        containing_entry: Option<Address>,
    },
    /// The Function has no body to decompile.
    #[error("the function at {entry} cannot be decompiled: {reason}")]
    FunctionNotDecompilable {
        /// Entry of the Function.
        entry: Address,
        /// Why.
        reason: String,
    },
    /// No Function has this exact name.
    #[error("no function is named '{name}'")]
    FunctionNotFound {
        /// The name asked for.
        name: String,
    },
    /// Several Functions have this exact name.
    #[error("symbol '{name}' resolves to more than one function; select one by --address")]
    FunctionSelectorAmbiguous {
        /// The name asked for.
        name: String,
        /// The Functions, in entry order.
        candidates: Candidates<FunctionCandidate>,
    },
    /// The engine found cannot be used.
    #[error("the Ghidra at {path}, which {} names, cannot be used: {reason}", describe_rule(selected_by))]
    GhidraIncompatible {
        /// Where it was found.
        path: PathValue,
        /// The rule that selected it.
        selected_by: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No engine was found.
    #[error("{}", describe_missing("Ghidra", path.as_ref(), selected_by, "give --ghidra PATH or set GHIDR_GHIDRA"))]
    GhidraMissing {
        /// Where a configured engine was expected, if any was configured.
        path: Option<PathValue>,
        /// The rule that selected that path, or the rules tried.
        selected_by: String,
    },
    /// A recognised Sample could not be loaded.
    #[error("Ghidra could not load the sample: {reason}")]
    ImportFailed {
        /// Ghidra's reason.
        reason: String,
    },
    /// Not even the Artifact descriptor fits the inline budget.
    #[error("the smallest answer needs --max-inline-bytes {required_bytes}")]
    InlineBudgetTooSmall {
        /// The budget given, in bytes.
        configured_bytes: u64,
        /// The smallest budget that can succeed, in bytes.
        required_bytes: u64,
    },
    /// A defect of ghidr itself.
    #[error("internal error: {reason}")]
    InternalError {
        /// What went wrong.
        reason: String,
    },
    /// The user interrupted the command.
    #[error("interrupted")]
    Interrupted {
        /// Signal that ended the command.
        signal: String,
        /// How the worker ended; null when none ran.
        termination: Option<Termination>,
    },
    /// The command line is invalid.
    #[error("{reason}{}", suggestion.as_ref().map(|text| format!("; use: {text}")).unwrap_or_default())]
    InvalidArguments {
        /// The offending flag or argument, when one can be named.
        argument: Option<String>,
        /// What is wrong.
        reason: String,
        /// The exact spelling that was probably meant.
        suggestion: Option<String>,
    },
    /// The input of a batch is invalid; none of it was run.
    #[error("{}{reason}", line.map(|line| format!("line {line} of the queries: ")).unwrap_or_default())]
    InvalidBatch {
        /// The first line that is wrong, counted from 1; null when it is not about one line.
        line: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The Analysis Store location is invalid.
    #[error("the analysis store location is invalid: {reason}; name an absolute path with --store")]
    InvalidStorePath {
        /// The location, byte-exact, when one was given.
        path: Option<PathValue>,
        /// What is wrong with it.
        reason: String,
    },
    /// The Java heap was exhausted.
    #[error("the Java heap of {max_heap_mib} MiB is exhausted; try {} {}", raise.flag, raise.next_value)]
    JavaHeapExhausted {
        /// The limit, in MiB.
        max_heap_mib: u64,
        /// What was running.
        progress: WorkerProgress,
        /// The flag to raise.
        raise: RaiseLimit,
    },
    /// The Java runtime found cannot be used.
    #[error(
        "the Java runtime at {path}, which {} names, cannot be used: {reason}",
        describe_rule(selected_by)
    )]
    JavaIncompatible {
        /// Where it was found.
        path: PathValue,
        /// The rule that selected it.
        selected_by: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No Java runtime was found.
    #[error("{}", describe_missing("JDK", path.as_ref(), selected_by, "give --java-home PATH or set GHIDR_JAVA_HOME"))]
    JavaMissing {
        /// Where a configured JDK was expected, if any was configured.
        path: Option<PathValue>,
        /// The rule that selected that path, or the rules tried.
        selected_by: String,
    },
    /// The worker tree used more memory than allowed.
    #[error("the worker used more than {max_memory_mib} MiB of memory; try {} {}", raise.flag, raise.next_value)]
    MemoryLimitExceeded {
        /// The limit, in MiB.
        max_memory_mib: u64,
        /// What was running.
        progress: WorkerProgress,
        /// The flag to raise.
        raise: RaiseLimit,
    },
    /// Standard output did not take the document: its reader is gone, or its disk is full.
    #[error("standard output did not take the answer: {reason}")]
    OutputFailed {
        /// The system's reason.
        reason: String,
    },
    /// The worker broke the protocol.
    #[error("the worker violated the protocol: {field}: expected {expected}, received {received}")]
    ProtocolViolation {
        /// The part of the exchange that is wrong.
        field: String,
        /// What was expected.
        expected: String,
        /// What was received.
        received: String,
    },
    /// The result exceeds the fixed response limit.
    #[error("the result exceeds the fixed limit of {limit_bytes} bytes")]
    ResultTooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
        /// At least how large the result is, in bytes.
        observed_at_least_bytes: u64,
        /// Whose result it is: `analyze` for the facts of an Analysis, otherwise the kind of document.
        operation: String,
    },
    /// The Sample changed while it was read.
    #[error("the sample changed while it was being read")]
    SampleChanged {
        /// The Sample's path.
        path: PathValue,
    },
    /// There is nothing at the Sample's path.
    #[error("there is no sample at this path")]
    SampleNotFound {
        /// The Sample's path.
        path: PathValue,
    },
    /// The Sample is no regular file.
    #[error("the sample is not a regular file but a {}", file_type.replace('_', " "))]
    SampleNotRegular {
        /// The Sample's path.
        path: PathValue,
        /// What it is.
        file_type: String,
    },
    /// The Sample is larger than allowed.
    #[error("the sample is larger than {}; try --max-sample-bytes {observed_at_least_bytes}", counted(*limit_bytes, "byte"))]
    SampleTooLarge {
        /// The Sample's path.
        path: PathValue,
        /// The limit, in bytes.
        limit_bytes: u64,
        /// At least how large it is, in bytes.
        observed_at_least_bytes: u64,
    },
    /// The Sample cannot be read.
    #[error("the sample cannot be read: {reason}")]
    SampleUnreadable {
        /// The Sample's path.
        path: PathValue,
        /// The system's reason.
        reason: String,
    },
    /// The selected sandbox cannot be built.
    #[error("the sandbox cannot be started: {remedy}")]
    SandboxUnavailable {
        /// Which of the known reasons it is.
        reason: String,
        /// What to do about it.
        remedy: String,
        /// What the system said.
        observed: String,
    },
    /// An input or output operation on the store failed.
    #[error("the analysis store failed: {operation}: {reason}")]
    StoreFailed {
        /// The file or directory.
        path: PathValue,
        /// What was attempted.
        operation: String,
        /// The system's reason.
        reason: String,
    },
    /// The location holds something that is not a store of this version.
    #[error("the location is not an analysis store of this version: {reason}")]
    StoreIncompatible {
        /// The location.
        path: PathValue,
        /// What is wrong with it.
        reason: String,
    },
    /// Too little space is left in the store's file system.
    #[error("the analysis store has too little free space{}", describe_space(*required_bytes, *available_bytes))]
    StoreSpaceInsufficient {
        /// The store.
        path: PathValue,
        /// What is needed, in bytes; null when the space ran out during the work.
        required_bytes: Option<u64>,
        /// What is there, in bytes; null when it was not looked up.
        available_bytes: Option<u64>,
    },
    /// The store cannot be written.
    #[error("the analysis store cannot be written: {reason}")]
    StoreUnwritable {
        /// The file or directory.
        path: PathValue,
        /// The system's reason.
        reason: String,
    },
    /// The worker started too many processes and threads.
    #[error("the worker had more than {limit_tasks} processes and threads at once")]
    TaskLimitExceeded {
        /// The limit: every process counts with each of its threads.
        limit_tasks: u64,
    },
    /// No trusted loader accepts the Sample, or Ghidra has no language for its processor.
    #[error("{}", describe_unsupported(recognised_format.as_deref()))]
    UnsupportedTarget {
        /// Loaders that accept it but are refused.
        loaders: Vec<String>,
        /// The format that was recognised when only a processor language is missing, else null.
        recognised_format: Option<String>,
    },
    /// The hard time limit of the worker expired.
    #[error("the worker did not finish within {}", counted(*watchdog_seconds, "second"))]
    WatchdogTimeout {
        /// The derived limit, in seconds.
        watchdog_seconds: u64,
        /// How the worker ended.
        termination: Termination,
        /// What was running.
        progress: WorkerProgress,
    },
    /// The worker ended without an answer.
    #[error("the worker ended without an answer: {ending}")]
    WorkerFailed {
        /// Exit code or signal, or why it could not be started.
        ending: String,
        /// What was running.
        progress: WorkerProgress,
    },
}

impl PublicError {
    /// Exit status of the command that fails with this error.
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            Self::InvalidArguments { .. } | Self::InvalidBatch { .. } => ExitStatus::Usage,
            Self::AnalysisTimeout { .. } | Self::DecompileTimeout { .. } | Self::WatchdogTimeout { .. } => {
                ExitStatus::Timeout
            }
            Self::Interrupted { .. } => ExitStatus::Interrupted,
            Self::AddressSpaceNotFound { .. }
            | Self::AmbiguousTarget { .. }
            | Self::AnalysisBusy { .. }
            | Self::AnalysisFailed { .. }
            | Self::CleanupIncomplete { .. }
            | Self::ConfirmationRequired { .. }
            | Self::ContainerSample { .. }
            | Self::CorruptAnalysis { .. }
            | Self::DecompileFailed { .. }
            | Self::DiskQuotaExceeded { .. }
            | Self::DoctorFailed { .. }
            | Self::EngineUnusable { .. }
            | Self::FunctionEntryRequired { .. }
            | Self::FunctionNotDecompilable { .. }
            | Self::FunctionNotFound { .. }
            | Self::FunctionSelectorAmbiguous { .. }
            | Self::GhidraIncompatible { .. }
            | Self::GhidraMissing { .. }
            | Self::ImportFailed { .. }
            | Self::InlineBudgetTooSmall { .. }
            | Self::InternalError { .. }
            | Self::InvalidStorePath { .. }
            | Self::JavaHeapExhausted { .. }
            | Self::JavaIncompatible { .. }
            | Self::JavaMissing { .. }
            | Self::MemoryLimitExceeded { .. }
            | Self::OutputFailed { .. }
            | Self::ProtocolViolation { .. }
            | Self::ResultTooLarge { .. }
            | Self::SampleChanged { .. }
            | Self::SampleNotFound { .. }
            | Self::SampleNotRegular { .. }
            | Self::SampleTooLarge { .. }
            | Self::SampleUnreadable { .. }
            | Self::SandboxUnavailable { .. }
            | Self::StoreFailed { .. }
            | Self::StoreIncompatible { .. }
            | Self::StoreSpaceInsufficient { .. }
            | Self::StoreUnwritable { .. }
            | Self::TaskLimitExceeded { .. }
            | Self::UnsupportedTarget { .. }
            | Self::WorkerFailed { .. } => ExitStatus::Failure,
        }
    }

    /// Whether the same request may succeed later without changing its arguments.
    pub fn retryable(&self) -> bool {
        matches!(
            self,
            Self::AnalysisBusy { .. }
                | Self::CleanupIncomplete { .. }
                | Self::Interrupted { .. }
                | Self::OutputFailed { .. }
                | Self::SampleChanged { .. }
                | Self::StoreSpaceInsufficient { .. }
                | Self::WatchdogTimeout { .. }
        )
    }
}
