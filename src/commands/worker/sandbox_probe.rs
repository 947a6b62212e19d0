//! Has a worker try what it can reach, in the production sandbox with the grants of a probe.

use std::path::PathBuf;

use super::{WorkerTask, ending, grants, supervise};
use crate::commands::boot_mode::BootMode;
use crate::commands::context::{Context, Engine};
use crate::commands::diagnostics;
use crate::commands::failure::Failure;
use crate::commands::workplace::{Run, Workplace};
use crate::domain::invocation_files::{PROGRESS, RESPONSE};
use crate::domain::limits::WATCHDOG_MARGIN_SECONDS;
use crate::domain::protection::{Protection, ProtectionReport, ProtectionStatus};
use crate::engine::sandbox_parts::SandboxParts;
use crate::process::worker_arguments::Job;
use crate::protocol::receive;
use crate::protocol::violation::ProtocolViolation;
use crate::sandbox::probe::{Finding, Questions};
use crate::sandbox::{Backend as _, Bubblewrap};

/// What the answer names the operation in a Diagnostic Log.
const OPERATION: &str = "probe_sandbox";
/// A finding is one short line.
const MAX_FINDINGS_BYTES: u64 = 64 * 1024;
/// Places where machines keep what is nobody's business, besides the caller's own.
const PRIVATE_PLACES: [&str; 7] =
    ["/etc/passwd", "/etc/shadow", "/etc/ssh", "/home", "/root", "/run", "/sys"];

/// One report for each protection.
pub fn probe_sandbox(
    context: &Context<'_>,
    engine: &Engine,
    place: &Workplace<'_>,
) -> Result<Vec<ProtectionReport>, Failure> {
    let provided = SandboxParts::read(&context.host.bundle)?;
    let backend = Bubblewrap::discover(provided.as_ref().map(|parts| parts.bubblewrap.as_path()))?;
    let mode = BootMode::choose(context, engine);
    let grants =
        grants::collect(context, engine, place.staging, &WorkerTask::Probe, &mode, provided.as_ref())?;
    let questions = Questions::new(&grants, &hidden(context, place));
    let bytes = serde_json::to_vec(&questions).map_err(Failure::internal)?;
    place.staging.write_request(&bytes)?;
    let plan = backend.plan(&grants, Job::ProbeSandbox)?;
    let invocation = place.staging.invocation_directory();
    let progress_path = invocation.join(PROGRESS);
    let started_at = (context.host.now)();
    let (outcome, space_ran_out) =
        supervise(context, place.staging, &plan, WATCHDOG_MARGIN_SECONDS, &progress_path)?;
    let watchdog_seconds = WATCHDOG_MARGIN_SECONDS;
    let run = Run { operation: OPERATION, started_at, outcome, watchdog_seconds, space_ran_out };
    let answered = ending::judge(context, &backend, &run, &progress_path)
        .and_then(|()| {
            let path = invocation.join(RESPONSE);
            Ok(receive::read_bounded(&path, MAX_FINDINGS_BYTES)?)
        })
        .and_then(|bytes| Ok(read(&bytes)?));
    let mut reports = answered.map_err(|failure| diagnostics::attach(context, place, &run, failure))?;
    reports.push(nested_user_namespaces(&backend));
    Ok(reports)
}

fn hidden(context: &Context<'_>, place: &Workplace<'_>) -> Vec<PathBuf> {
    let home = context.host.environment.home.as_ref().map(PathBuf::from);
    let own = home.into_iter().chain([place.staging.logs_directory()]);
    let own = own.flat_map(|path| [path.canonicalize().ok(), Some(path)]).flatten();
    own.filter(|path| path.is_absolute() && path.parent().is_some())
        .chain(PRIVATE_PLACES.map(PathBuf::from))
        .collect()
}

/// Exactly one finding for each protection: a worker that leaves one out has proved nothing.
fn read(bytes: &[u8]) -> Result<Vec<ProtectionReport>, ProtocolViolation> {
    let violation =
        |received: String| ProtocolViolation::new("findings", "one for each protection", received);
    let findings: Vec<Finding> =
        serde_json::from_slice(bytes).map_err(|error| violation(error.to_string()))?;
    if !findings.iter().map(|finding| finding.protection).eq(Protection::PROBED) {
        return Err(violation("others".to_owned()));
    }
    let report = |finding: Finding| ProtectionReport {
        protection: finding.protection,
        status: match finding.breach {
            None => ProtectionStatus::Active,
            Some(_) => ProtectionStatus::Breached,
        },
        problem: finding.breach,
    };
    Ok(findings.into_iter().map(report).collect())
}

/// Bubblewrap refuses to go on when it cannot do what it was asked for.
fn nested_user_namespaces(backend: &Bubblewrap) -> ProtectionReport {
    let limited = backend.limits_user_namespaces();
    ProtectionReport {
        protection: Protection::NestedUserNamespaces,
        status: if limited { ProtectionStatus::Active } else { ProtectionStatus::Unavailable },
        problem: (!limited).then(|| {
            "this bubblewrap is installed with its owner's privileges and cannot set the limit".to_owned()
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn findings_that_leave_a_protection_out_or_repeat_one_prove_nothing() {
        let finding = |protection| Finding { protection, breach: None };
        let all: Vec<Finding> = Protection::PROBED.map(finding).into();
        assert_eq!(read(&serde_json::to_vec(&all).unwrap()).unwrap().len(), all.len());
        let repeated: Vec<Finding> = all.iter().cloned().chain([all[0].clone()]).collect();
        for wrong in [&all[1..], &repeated, &[]] {
            assert!(read(&serde_json::to_vec(wrong).unwrap()).is_err());
        }
        assert!(read(br#"[{"protection":"sockets","breach":null,"more":1}]"#).is_err());
    }
}
