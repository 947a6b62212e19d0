//! What workers in the production sandbox prove about engine, JDK and sandbox, and which of the components is to blame
//! when they cannot.

use crate::commands::context::{Context, Engine};
use crate::commands::diagnostics;
use crate::commands::failure::Failure;
use crate::commands::retained_log::RetainedLog;
use crate::commands::worker::{self, WorkerTask};
use crate::commands::workplace::Workplace;
use crate::domain::doctor_report::{ComponentStatus, DoctorComponents, SandboxComponent, StoreComponent};
use crate::domain::error::PublicError;
use crate::domain::protection::{ProtectionReport, ProtectionStatus};
use crate::domain::sandbox_mode::SandboxMode;
use crate::protocol::response::{Outcome, Probe};
use crate::store::{Staging, Store};

/// Tries everything and writes what was found into `components`; gives the retained log of a worker that failed.
///
/// Fails only at an interrupt.
pub fn gather(
    context: &Context<'_>,
    engine: &Engine,
    store: &Store,
    components: &mut DoctorComponents,
) -> Result<Option<RetainedLog>, Failure> {
    let probed = probe_sandbox(context, engine, store).and_then(|protections| {
        components.sandbox.protections = protections;
        probe(context, engine, store)
    });
    match probed {
        Ok(probe) => {
            components.sandbox.problem = breach(&components.sandbox);
            if components.sandbox.problem.is_none() {
                components.sandbox.status = ComponentStatus::Ready;
            }
            apply_probe(&probe, engine, components);
            Ok(None)
        }
        Err(failure) if matches!(*failure.error, PublicError::Interrupted { .. }) => Err(failure),
        Err(failure) => {
            if !blame_store(&failure, &mut components.analysis_store) {
                blame(&failure, components);
            }
            Ok(failure.diagnostic_log.map(|log| *log))
        }
    }
}

/// What a worker in the production sandbox can reach; `None` where ghidr makes no sandbox.
fn probe_sandbox(
    context: &Context<'_>,
    engine: &Engine,
    store: &Store,
) -> Result<Option<Vec<ProtectionReport>>, Failure> {
    if context.sandbox != SandboxMode::Bubblewrap {
        return Ok(None);
    }
    let staging = begin_staging(context, store)?;
    let place = Workplace { store, staging: &staging, sample: None };
    worker::probe_sandbox(context, engine, &place).map(Some)
}

/// The first protection that did not hold.
fn breach(sandbox: &SandboxComponent) -> Option<String> {
    let mut protections = sandbox.protections.iter().flatten();
    let breached = protections.find(|report| report.status == ProtectionStatus::Breached)?;
    Some(format!("it does not hold: {}", breached.problem.as_deref().unwrap_or("unknown")))
}

fn begin_staging(context: &Context<'_>, store: &Store) -> Result<Staging, Failure> {
    let lock = store.lock()?;
    store.sweep_orphans(&lock)?;
    let id = (context.host.new_invocation_id)().map_err(Failure::internal)?;
    Ok(store.begin_staging(id, &lock)?)
}

fn probe(context: &Context<'_>, engine: &Engine, store: &Store) -> Result<Probe, Failure> {
    let staging = begin_staging(context, store)?;
    let place = Workplace { store, staging: &staging, sample: None };
    let reply = worker::run(context, engine, &place, &WorkerTask::Probe)?;
    match reply.response.outcome {
        Outcome::Probed { probe } => Ok(probe),
        Outcome::Failed { error } => {
            let failure = Failure::worker(error, None, "probe");
            Err(diagnostics::attach(context, &place, &reply.run, failure))
        }
        Outcome::Analyzed { .. } | Outcome::Queried { .. } => {
            Err(Failure::internal("a response passed validation with a foreign outcome"))
        }
    }
}

/// What the engine says about itself must be what was found on disk.
fn apply_probe(probe: &Probe, engine: &Engine, components: &mut DoctorComponents) {
    let DoctorComponents { ghidra, java, sandbox, .. } = components;
    if probe.ghidra_version != engine.ghidra.version || probe.ghidra_build != engine.ghidra.build {
        ghidra.status = ComponentStatus::Invalid;
        ghidra.problem = Some(format!(
            "it says it is {} ({}), its files say {} ({})",
            probe.ghidra_version, probe.ghidra_build, engine.ghidra.version, engine.ghidra.build
        ));
    } else if !probe.native_decompiler {
        ghidra.status = ComponentStatus::Invalid;
        ghidra.problem = Some("its native decompiler does not run".to_owned());
    }
    if probe.java_version != engine.java.feature_version.to_string() {
        java.status = ComponentStatus::Invalid;
        java.problem = Some(format!("it says it is Java {}", probe.java_version));
    } else if !probe.java_compiler {
        java.status = ComponentStatus::Incompatible;
        java.problem = Some("its compiler (jdk.compiler) does not work".to_owned());
    }
    if !probe.fonts {
        sandbox.status = ComponentStatus::Invalid;
        sandbox.problem = Some("no font is usable inside: install fontconfig and a font".to_owned());
    }
}

/// Attributes a failed probe to the store, if it was the store that failed; the sandbox stays untested then.
fn blame_store(failure: &Failure, store: &mut StoreComponent) -> bool {
    store.status = match &*failure.error {
        PublicError::StoreUnwritable { .. } | PublicError::StoreSpaceInsufficient { .. } => {
            ComponentStatus::Unwritable
        }
        PublicError::StoreFailed { .. }
        | PublicError::CorruptAnalysis { .. }
        | PublicError::AnalysisBusy { .. } => ComponentStatus::Invalid,
        _ => return false,
    };
    store.problem = Some(failure.error.to_string());
    true
}

/// Attributes a failed probe to the component that caused it.
fn blame(failure: &Failure, components: &mut DoctorComponents) {
    let DoctorComponents { ghidra, java, sandbox, .. } = components;
    let problem = Some(failure.error.to_string());
    sandbox.problem = Some("not proved: the engine did not start in it".to_owned());
    match &*failure.error {
        PublicError::SandboxUnavailable { reason, .. } => {
            sandbox.status = if reason == "bubblewrap_missing" {
                ComponentStatus::Missing
            } else {
                ComponentStatus::Invalid
            };
            sandbox.problem = problem;
        }
        PublicError::JavaHeapExhausted { .. } => {
            java.status = ComponentStatus::Invalid;
            java.problem = problem;
        }
        _ => {
            ghidra.status = ComponentStatus::Invalid;
            ghidra.problem = problem;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::protection::Protection;

    #[test]
    fn a_breached_protection_is_what_is_wrong_and_an_unavailable_one_is_not() {
        let report = |protection, status, problem: Option<&str>| ProtectionReport {
            protection,
            status,
            problem: problem.map(str::to_owned),
        };
        let mut sandbox = SandboxComponent {
            status: ComponentStatus::Invalid,
            backend: SandboxMode::Bubblewrap,
            verification: SandboxMode::Bubblewrap.verification(),
            problem: None,
            protections: Some(vec![
                report(Protection::Sockets, ProtectionStatus::Active, None),
                report(Protection::NestedUserNamespaces, ProtectionStatus::Unavailable, Some("setuid")),
            ]),
        };
        assert_eq!(breach(&sandbox), None);
        let breached = report(Protection::HiddenFiles, ProtectionStatus::Breached, Some("/x is there"));
        sandbox.protections.as_mut().into_iter().for_each(|all| all.push(breached.clone()));
        assert_eq!(breach(&sandbox).as_deref(), Some("it does not hold: /x is there"));
    }
}
