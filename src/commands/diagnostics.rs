//! Keeps a worker's captured output as a Diagnostic Log when a command fails.
//!
//! Failing to keep it never hides the failure itself. Holds neither the caller's path nor
//! the environment, because neither ever reaches this record.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::context::{Context, GHIDR_VERSION};
use super::crash_report;
use super::failure::Failure;
use super::retained_log::RetainedLog;
use super::workplace::{Run, Workplace};
use crate::domain::digest::ContentDigest;
use crate::domain::worker_error::WorkerError;
use crate::process::{self, EndedBy, Outcome};
use crate::store::{
    CapturedSegment, CapturedStream, DiagnosticInput, DiagnosticInvocation, DiagnosticScope,
    DiagnosticTermination, TerminationMode, TerminationReason,
};

/// Attaches the run's Diagnostic Log to `failure`.
pub fn attach(context: &Context<'_>, place: &Workplace<'_>, run: &Run, failure: Failure) -> Failure {
    let log = retain(context, place, run);
    failure.with_log(log)
}

/// Whether a failed Query is a fault worth a log, rather than an answer about the Sample.
pub fn explains(error: &WorkerError) -> bool {
    !matches!(
        error,
        WorkerError::FunctionNotFound {}
            | WorkerError::FunctionSelectorAmbiguous { .. }
            | WorkerError::FunctionEntryRequired { .. }
            | WorkerError::AddressSpaceNotFound { .. }
            | WorkerError::FunctionNotDecompilable { .. }
    )
}

/// Publishes the run's captured output.
pub fn retain(context: &Context<'_>, place: &Workplace<'_>, run: &Run) -> Option<RetainedLog> {
    let input = DiagnosticInput {
        invocation: DiagnosticInvocation {
            id: place.staging.invocation_id(),
            ghidr_version: GHIDR_VERSION.to_owned(),
            operation: run.operation.to_owned(),
            started_at: rfc3339(run.started_at),
            ended_at: rfc3339((context.host.now)()),
        },
        termination: termination(&run.outcome),
        stdout: stream(&run.outcome.stdout),
        stderr: stream(&run.outcome.stderr),
        crash_report: crash_report::capture(place.staging),
    };
    let kept = [Some(&input.stdout), Some(&input.stderr), input.crash_report.as_ref()];
    let truncated = kept.into_iter().flatten().any(|stream| stream.truncated);
    let scope = place.sample.map_or(DiagnosticScope::Global, DiagnosticScope::Sample);
    let lock = place.store.lock().ok()?;
    let descriptor = place.store.publish_diagnostics(&lock, scope, &input).ok()?;
    Some(RetainedLog { descriptor, truncated })
}

fn rfc3339(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_default()
}

fn termination(outcome: &Outcome) -> DiagnosticTermination {
    let status = outcome.worker_status;
    let signal = status.and_then(process::signal_of_status);
    let reason = match outcome.ended_by {
        EndedBy::Watchdog => TerminationReason::TimedOut,
        EndedBy::Interrupted { .. } => TerminationReason::Interrupted,
        EndedBy::MemoryLimit { .. } => TerminationReason::MemoryLimitExceeded,
        EndedBy::TaskLimit { .. } => TerminationReason::TaskLimitExceeded,
        EndedBy::DiskQuota { .. } => TerminationReason::DiskLimitExceeded,
        EndedBy::Finished if status.is_none() => TerminationReason::NotStarted,
        EndedBy::Finished if signal.is_some() => TerminationReason::Signaled,
        EndedBy::Finished => TerminationReason::Exited,
    };
    DiagnosticTermination {
        reason,
        mode: outcome.termination.map(|termination| match termination {
            process::Termination::Graceful => TerminationMode::Graceful,
            process::Termination::Forced => TerminationMode::Forced,
        }),
        exit_code: status.filter(|_| signal.is_none()),
        signal,
    }
}

fn stream(captured: &process::CapturedStream) -> CapturedStream {
    CapturedStream {
        observed_bytes: captured.observed_bytes,
        truncated: captured.truncated,
        segments: captured
            .segments
            .iter()
            .map(|segment| CapturedSegment {
                offset: segment.offset,
                length: segment.length,
                path: segment.path.clone(),
                sha256: ContentDigest::from_bytes(segment.sha256),
            })
            .collect(),
    }
}
