//! The one place that maps the small typed errors of the layers below to public errors.

use std::ops::RangeInclusive;
use std::path::Path;

use super::retained_log::RetainedLog;
use crate::domain::error::{PublicError, RaiseLimit, Termination, WorkerProgress};
use crate::domain::limits::{
    DEFAULT_ANALYSIS_TIMEOUT_SECONDS, DEFAULT_DECOMPILE_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS,
};
use crate::domain::path_value::PathValue;
use crate::domain::selector::FunctionSelector;
use crate::domain::worker_error::WorkerError;
use crate::engine::descriptor::DescriptorError;
use crate::engine::ghidra::GhidraError;
use crate::engine::java::JavaError;
use crate::output::budget::BudgetTooSmall;
use crate::process::ProcessError;
use crate::protocol::encode::EncodeError;
use crate::protocol::violation::{ProtocolViolation, ReceiveError};
use crate::sandbox::SandboxError;
use crate::store::{Operation, SampleError, StoreError};

/// Why a command failed, and the Diagnostic Log that was kept for it.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The public error.
    pub error: Box<PublicError>,
    /// The retained log, when there is one.
    pub diagnostic_log: Option<Box<RetainedLog>>,
    /// Why the Analysis that was read is corrupt, when it is the Analysis that failed its verification:
    /// another one can be made. Corrupt storage elsewhere, in a folder of Artifacts for example, is not cured so.
    pub corrupt_analysis: Option<String>,
    /// Whether the worker came to an end of its own, or was brought to one by a limit: what it had completed is
    /// true, and the command may go on without the rest.
    pub ended_worker: bool,
}

impl Failure {
    /// A defect of ghidr itself.
    pub fn internal(reason: impl ToString) -> Self {
        PublicError::InternalError { reason: reason.to_string() }.into()
    }

    /// The engine, or what it would need, cannot be used.
    pub fn engine_unusable(component: &str, reason: String) -> Self {
        PublicError::EngineUnusable { component: component.to_owned(), reason }.into()
    }

    /// Whether the worker's run was cut short, by itself, a limit or the user: then there is no response, and what
    /// it had completed by then is all there is. What an orderly worker left is true as a whole, or not at all.
    pub fn cut_worker_short(&self) -> bool {
        self.ended_worker || matches!(*self.error, PublicError::Interrupted { .. })
    }

    /// Whether the worker ended badly without a reason that is known.
    pub fn is_worker_failure(&self) -> bool {
        matches!(*self.error, PublicError::WorkerFailed { .. })
    }

    /// Attaches a retained log.
    pub fn with_log(mut self, log: Option<RetainedLog>) -> Self {
        self.diagnostic_log = self.diagnostic_log.or(log.map(Box::new));
        self
    }

    /// A failure to read the Sample at `path`.
    pub fn sample(error: SampleError, path: &Path) -> Self {
        let path = PathValue::from(path);
        match error {
            SampleError::NotFound { .. } => PublicError::SampleNotFound { path },
            SampleError::Unreadable(source) => {
                PublicError::SampleUnreadable { path, reason: source.to_string() }
            }
            SampleError::NotRegular { file_type } => {
                PublicError::SampleNotRegular { path, file_type: file_type.to_owned() }
            }
            SampleError::TooLarge { limit_bytes, observed_at_least_bytes } => {
                PublicError::SampleTooLarge { path, limit_bytes, observed_at_least_bytes }
            }
            SampleError::Changed => PublicError::SampleChanged { path },
            SampleError::Interrupted { signal } => interrupted(signal, None),
        }
        .into()
    }

    /// A failure of a store operation that may also have read the Sample at `sample_path`.
    pub fn store_or_sample(error: StoreError, sample_path: &Path) -> Self {
        match error {
            StoreError::Sample(error) => Self::sample(error, sample_path),
            other => other.into(),
        }
    }

    /// A worker's failure on a selector the caller typed.
    pub fn worker(error: WorkerError, selector: Option<&FunctionSelector>, operation: &str) -> Self {
        let name = match selector {
            Some(FunctionSelector::Name { value }) => value.clone(),
            Some(FunctionSelector::Address { space, offset }) => format!("{space}:{offset}"),
            None => String::new(),
        };
        match error {
            WorkerError::RequestRejected { field, reason } => PublicError::ProtocolViolation {
                field,
                expected: "a request the adapter accepts".to_owned(),
                received: reason,
            },
            WorkerError::EngineUnusable { component, reason } => {
                PublicError::EngineUnusable { component, reason }
            }
            WorkerError::ImportFailed { reason } => PublicError::ImportFailed { reason },
            WorkerError::UnsupportedTarget { loaders, recognised_format } => {
                PublicError::UnsupportedTarget { loaders, recognised_format }
            }
            WorkerError::AmbiguousTarget { candidates } => PublicError::AmbiguousTarget { candidates },
            WorkerError::ContainerSample { format, members } => {
                PublicError::ContainerSample { format, members }
            }
            WorkerError::AnalysisTimeout { timeout_seconds, analyzer } => PublicError::AnalysisTimeout {
                timeout_seconds,
                progress: WorkerProgress { phase: Some("analysis".to_owned()), analyzer },
                raise: raise(
                    "--analysis-timeout-seconds",
                    timeout_seconds,
                    DEFAULT_ANALYSIS_TIMEOUT_SECONDS..=MAX_TIMEOUT_SECONDS,
                ),
            },
            WorkerError::AnalysisFailed { exception_class, reason } => {
                PublicError::AnalysisFailed { exception_class, reason }
            }
            WorkerError::SaveFailed { reason } => {
                PublicError::AnalysisFailed { exception_class: String::new(), reason }
            }
            WorkerError::ProjectUnusable { reason } => {
                PublicError::EngineUnusable { component: "project".to_owned(), reason }
            }
            WorkerError::FunctionNotFound {} => PublicError::FunctionNotFound { name },
            WorkerError::FunctionSelectorAmbiguous { candidates } => {
                PublicError::FunctionSelectorAmbiguous { name, candidates }
            }
            WorkerError::FunctionEntryRequired { containing_entry } => {
                PublicError::FunctionEntryRequired { containing_entry }
            }
            WorkerError::AddressSpaceNotFound { spaces } => {
                let space = match selector {
                    Some(FunctionSelector::Address { space, .. }) => space.clone(),
                    _ => String::new(),
                };
                PublicError::AddressSpaceNotFound { space, spaces }
            }
            WorkerError::FunctionNotDecompilable { entry, reason } => {
                PublicError::FunctionNotDecompilable { entry, reason }
            }
            WorkerError::DecompileTimeout { timeout_seconds, entry } => PublicError::DecompileTimeout {
                entry,
                timeout_seconds,
                raise: raise(
                    "--decompile-timeout-seconds",
                    timeout_seconds,
                    DEFAULT_DECOMPILE_TIMEOUT_SECONDS..=MAX_TIMEOUT_SECONDS,
                ),
            },
            WorkerError::DecompileFailed { entry, reason } => PublicError::DecompileFailed { entry, reason },
            WorkerError::FactsTooLarge { limit_bytes } => PublicError::ResultTooLarge {
                limit_bytes,
                observed_at_least_bytes: limit_bytes.saturating_add(1),
                operation: operation.to_owned(),
            },
            WorkerError::ResultTooLarge { limit_bytes, observed_at_least_bytes } => {
                PublicError::ResultTooLarge {
                    limit_bytes,
                    observed_at_least_bytes,
                    operation: operation.to_owned(),
                }
            }
        }
        .into()
    }
}

/// The error of a command that the user interrupted; `termination` is how a worker ended that was running.
pub fn interrupted(signal: i32, termination: Option<Termination>) -> PublicError {
    let signal = signal_hook::low_level::signal_name(signal).unwrap_or("unknown signal").to_owned();
    PublicError::Interrupted { signal, termination }
}

/// Suggests twice a limit that was too small, but no less than the flag's default, where `sensible` begins, and no
/// more than the largest value that it takes, where `sensible` ends.
pub fn raise(flag: &str, value: u64, sensible: RangeInclusive<u64>) -> RaiseLimit {
    let doubled = value.saturating_mul(2).max(*sensible.start());
    RaiseLimit { flag: flag.to_owned(), next_value: doubled.min(*sensible.end()) }
}

impl From<PublicError> for Failure {
    fn from(error: PublicError) -> Self {
        Self { error: Box::new(error), diagnostic_log: None, corrupt_analysis: None, ended_worker: false }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let corrupt_analysis = match &error {
            StoreError::CorruptAnalysis { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        let public = match error {
            StoreError::InvalidPath { reason, selected_by, path } => PublicError::InvalidStorePath {
                path: Some(path),
                reason: format!("{reason} (from {})", selected_by.setting()),
            },
            StoreError::NoLocation { .. } => PublicError::InvalidStorePath { path: None, reason: message },
            StoreError::NotAStore { path, .. }
            | StoreError::UnknownLayout { path, .. }
            | StoreError::WrongOwner { path, .. }
            | StoreError::InsecureMode { path, .. } => {
                PublicError::StoreIncompatible { path: path.into(), reason: message }
            }
            StoreError::Unwritable { path, source, .. } => {
                PublicError::StoreUnwritable { path: path.into(), reason: source.to_string() }
            }
            StoreError::NoSpace { path, required_bytes, available_bytes } => {
                PublicError::StoreSpaceInsufficient { path: path.into(), required_bytes, available_bytes }
            }
            StoreError::Busy { retry_after_seconds, .. } => PublicError::AnalysisBusy {
                analysis_basis_sha256: None,
                analysis_profile_sha256: None,
                retry_after_seconds,
            },
            StoreError::CorruptAnalysis { path, reason, .. } | StoreError::Corrupt { path, reason } => {
                PublicError::CorruptAnalysis { path: path.into(), reason }
            }
            StoreError::FactsInvalid { file, line, reason } => PublicError::ProtocolViolation {
                field: format!("{file} line {line}"),
                expected: "facts that keep their contract".to_owned(),
                received: reason,
            },
            StoreError::StagedAnalysisInvalid { path, reason } => PublicError::ProtocolViolation {
                field: path.display().to_string(),
                expected: "a project that can be promoted".to_owned(),
                received: reason,
            },
            StoreError::Interrupted { signal } => interrupted(signal, None),
            StoreError::Sample(error) => PublicError::InternalError { reason: error.to_string() },
            StoreError::CanonicalJson(error) => PublicError::InternalError { reason: error.to_string() },
            StoreError::Io { path, operation, source } => PublicError::StoreFailed {
                path: path.into(),
                operation: operation.to_string(),
                reason: source.to_string(),
            },
        };
        Self { corrupt_analysis, ..public.into() }
    }
}

impl From<GhidraError> for Failure {
    fn from(error: GhidraError) -> Self {
        match error {
            GhidraError::Missing { path, selected_by } => {
                PublicError::GhidraMissing { path: path.map(PathValue::from), selected_by }
            }
            GhidraError::Incompatible { path, selected_by, reason } => PublicError::GhidraIncompatible {
                path: path.into(),
                selected_by: selected_by.to_owned(),
                reason,
            },
        }
        .into()
    }
}

impl From<JavaError> for Failure {
    fn from(error: JavaError) -> Self {
        match error {
            JavaError::Missing { path, selected_by } => {
                PublicError::JavaMissing { path: path.map(PathValue::from), selected_by }
            }
            JavaError::Incompatible { path, selected_by, reason, .. } => PublicError::JavaIncompatible {
                path: path.into(),
                selected_by: selected_by.to_owned(),
                reason,
            },
        }
        .into()
    }
}

/// The engine's own descriptor is part of [`GhidraError`]; this is the bundle's other one.
impl From<DescriptorError> for Failure {
    fn from(error: DescriptorError) -> Self {
        Self::engine_unusable("bundle", error.to_string())
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        match &error {
            SandboxError::StoreExposed { directory, .. } => PublicError::InvalidStorePath {
                path: Some(directory.as_path().into()),
                reason: error.to_string(),
            },
            _ => PublicError::SandboxUnavailable {
                reason: error.reason().to_owned(),
                remedy: error.remedy().to_owned(),
                observed: error.to_string(),
            },
        }
        .into()
    }
}

impl From<ProcessError> for Failure {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Capture { path, source } => StoreError::io(source, Operation::Write, &path).into(),
            ProcessError::Spawn { .. } | ProcessError::Supervise { .. } => {
                PublicError::WorkerFailed { ending: error.to_string(), progress: WorkerProgress::default() }
                    .into()
            }
            ProcessError::Survivors { .. } => Self::internal(error),
        }
    }
}

impl From<ProtocolViolation> for Failure {
    fn from(violation: ProtocolViolation) -> Self {
        let ProtocolViolation { field, expected, received } = violation;
        PublicError::ProtocolViolation { field, expected, received }.into()
    }
}

impl From<ReceiveError> for Failure {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::Violation(violation) => violation.into(),
            ReceiveError::Unreadable { path, source } => {
                StoreError::io(source, Operation::Read, &path).into()
            }
        }
    }
}

impl From<EncodeError> for Failure {
    fn from(error: EncodeError) -> Self {
        Self::internal(error)
    }
}

impl From<BudgetTooSmall> for Failure {
    fn from(error: BudgetTooSmall) -> Self {
        let BudgetTooSmall { configured_bytes, required_bytes } = error;
        PublicError::InlineBudgetTooSmall { configured_bytes, required_bytes }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_limit_lies_between_the_default_and_the_largest() {
        for (value, expected) in [(1, 600), (299, 600), (301, 602), (u64::MAX, 2_000), (1_000, 2_000)] {
            assert_eq!(raise("--flag", value, 600..=2_000).next_value, expected, "{value}");
        }
    }

    #[test]
    fn a_second_is_singular_and_its_suggestion_is_no_less_than_the_default() {
        let error = WorkerError::AnalysisTimeout { timeout_seconds: 1, analyzer: None };
        let failure = Failure::worker(error, None, "inspect");
        let expected = "analysis did not finish within 1 second; try --analysis-timeout-seconds 600";
        assert_eq!(failure.error.to_string(), expected);
    }

    #[test]
    fn output_that_a_full_disk_does_not_take_is_a_lack_of_space() {
        let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let failure = Failure::from(ProcessError::Capture { path: "/p".into(), source });
        assert!(matches!(*failure.error, PublicError::StoreSpaceInsufficient { .. }), "{failure:?}");
    }

    #[test]
    fn a_worker_that_the_system_does_not_start_has_failed_and_is_nobodys_defect() {
        let source = std::io::Error::from_raw_os_error(11);
        let failure = Failure::from(ProcessError::Spawn { program: "/p/bwrap".into(), source });
        let PublicError::WorkerFailed { ending, .. } = *failure.error else { unreachable!("{failure:?}") };
        assert!(ending.contains("cannot start /p/bwrap: Resource temporarily unavailable"), "{ending}");
    }

    #[test]
    fn what_the_system_does_not_read_of_a_worker_is_named_and_nobodys_defect() {
        let source = std::io::Error::from_raw_os_error(5);
        let failure = Failure::from(ReceiveError::Unreadable { path: "/p/answers.jsonl".into(), source });
        let PublicError::StoreFailed { path, .. } = *failure.error else { unreachable!("{failure:?}") };
        assert_eq!(path, PathValue::from(Path::new("/p/answers.jsonl")));
    }
}
