//! The details of every error code, read strictly.
#![allow(dead_code, reason = "fields exist to be required")]

use serde::Deserialize;

use super::documents::DoctorReport;
use super::storage::Counts;
use super::values::{Address, Candidates, FunctionCandidate, Nullable, Path, Sha256, TargetCandidate};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    Graceful,
    Forced,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    phase: Nullable<String>,
    analyzer: Nullable<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raise {
    flag: String,
    next_value: u64,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "code", content = "details", rename_all = "snake_case", deny_unknown_fields)]
pub enum ErrorDetails {
    InvalidBatch {
        line: Nullable<u64>,
        reason: String,
    },
    AddressSpaceNotFound {
        space: String,
        spaces: Candidates<String>,
    },
    AmbiguousTarget {
        candidates: Candidates<TargetCandidate>,
    },
    AnalysisBusy {
        analysis_basis_sha256: Nullable<Sha256>,
        analysis_profile_sha256: Nullable<Sha256>,
        retry_after_seconds: u64,
    },
    AnalysisFailed {
        exception_class: String,
        reason: String,
    },
    AnalysisTimeout {
        timeout_seconds: u64,
        progress: Progress,
        raise: Raise,
    },
    CleanupIncomplete {
        removed: Counts,
        remaining: Counts,
        transaction: Path,
        reason: String,
    },
    ConfirmationRequired {
        matched: Counts,
    },
    ContainerSample {
        format: String,
        members: Candidates<String>,
    },
    CorruptAnalysis {
        reason: String,
        path: Path,
    },
    DecompileFailed {
        entry: Address,
        reason: String,
    },
    DecompileTimeout {
        entry: Address,
        timeout_seconds: u64,
        raise: Raise,
    },
    DiskQuotaExceeded {
        limit_bytes: u64,
    },
    DoctorFailed {
        report: Box<DoctorReport>,
    },
    EngineUnusable {
        component: String,
        reason: String,
    },
    FunctionEntryRequired {
        containing_entry: Nullable<Address>,
    },
    FunctionNotDecompilable {
        entry: Address,
        reason: String,
    },
    FunctionNotFound {
        name: String,
    },
    FunctionSelectorAmbiguous {
        name: String,
        candidates: Candidates<FunctionCandidate>,
    },
    GhidraIncompatible {
        path: Path,
        selected_by: String,
        reason: String,
    },
    GhidraMissing {
        path: Nullable<Path>,
        selected_by: String,
    },
    ImportFailed {
        reason: String,
    },
    InlineBudgetTooSmall {
        configured_bytes: u64,
        required_bytes: u64,
    },
    InternalError {
        reason: String,
    },
    Interrupted {
        signal: String,
        termination: Nullable<Termination>,
    },
    InvalidArguments {
        argument: Nullable<String>,
        reason: String,
        suggestion: Nullable<String>,
    },
    InvalidStorePath {
        path: Nullable<Path>,
        reason: String,
    },
    JavaHeapExhausted {
        max_heap_mib: u64,
        progress: Progress,
        raise: Raise,
    },
    JavaIncompatible {
        path: Path,
        selected_by: String,
        reason: String,
    },
    JavaMissing {
        path: Nullable<Path>,
        selected_by: String,
    },
    MemoryLimitExceeded {
        max_memory_mib: u64,
        progress: Progress,
        raise: Raise,
    },
    OutputFailed {
        reason: String,
    },
    ProtocolViolation {
        field: String,
        expected: String,
        received: String,
    },
    ResultTooLarge {
        limit_bytes: u64,
        observed_at_least_bytes: u64,
        operation: String,
    },
    SampleChanged {
        path: Path,
    },
    SampleNotFound {
        path: Path,
    },
    SampleNotRegular {
        path: Path,
        file_type: String,
    },
    SampleTooLarge {
        path: Path,
        limit_bytes: u64,
        observed_at_least_bytes: u64,
    },
    SampleUnreadable {
        path: Path,
        reason: String,
    },
    SandboxUnavailable {
        reason: String,
        remedy: String,
        observed: String,
    },
    StoreFailed {
        path: Path,
        operation: String,
        reason: String,
    },
    StoreIncompatible {
        path: Path,
        reason: String,
    },
    StoreSpaceInsufficient {
        path: Path,
        required_bytes: Nullable<u64>,
        available_bytes: Nullable<u64>,
    },
    StoreUnwritable {
        path: Path,
        reason: String,
    },
    TaskLimitExceeded {
        limit_tasks: u64,
    },
    UnsupportedTarget {
        loaders: Vec<String>,
        recognised_format: Nullable<String>,
    },
    WatchdogTimeout {
        watchdog_seconds: u64,
        termination: Termination,
        progress: Progress,
    },
    WorkerFailed {
        ending: String,
        progress: Progress,
    },
}
