//! `ghidr doctor`: whether every required component is usable, proved by booting the engine
//! in the production sandbox.
//!
//! Runs every safe check even after a failure; never touches a Sample or creates an Analysis.

use super::answer::{Answer, Spill, answer};
use super::boot_mode;
use super::context::{Context, Engine};
use super::diagnostics;
use super::failure::Failure;
use super::worker::{self, WorkerTask};
use super::workplace::Workplace;
use crate::domain::doctor_report::{
    BootDataReport, BootDataStatus, ComponentStatus, DoctorComponents, DoctorReport, GhidraComponent,
    JavaComponent, SandboxComponent, StoreComponent,
};
use crate::domain::error::PublicError;
use crate::domain::path_value::PathValue;
use crate::domain::protection::{ProtectionReport, ProtectionStatus};
use crate::domain::sandbox_mode::SandboxMode;
use crate::domain::warning;
use crate::engine::boot_data::Found;
use crate::engine::ghidra::{Ghidra, GhidraError};
use crate::engine::java::{JavaError, JavaRuntime};
use crate::output::envelope::Envelope;
use crate::output::human;
use crate::protocol::response::{Outcome, Probe};
use crate::store::{ArtifactScope, Staging, Store, StoreError, StoreLocation};

/// Kind of the success document.
pub const KIND: &str = "doctor_report";

/// Runs the command.
pub fn run(context: &Context<'_>) -> Result<Answer, Failure> {
    let ghidra = context.ghidra();
    let java = context.java(ghidra.as_ref().ok());
    let mut ghidra_component = describe_ghidra(&ghidra);
    let mut java_component = describe_java(&java);
    let (store, mut store_component) = check_store(context);
    let engine = ghidra.ok().zip(java.ok()).map(|(ghidra, java)| Engine { ghidra, java });
    let mut sandbox = SandboxComponent {
        status: ComponentStatus::Invalid,
        backend: context.sandbox,
        verification: context.sandbox.verification(),
        problem: Some("not tested: it needs a usable Ghidra, JDK and store".to_owned()),
        protections: None,
    };
    let mut log = None;
    if let (Some(engine), Some(store)) = (&engine, &store) {
        let probed = probe_sandbox(context, engine, store).and_then(|protections| {
            sandbox.protections = protections;
            probe(context, engine, store)
        });
        match probed {
            Ok(probe) => {
                sandbox.problem = breach(&sandbox);
                if sandbox.problem.is_none() {
                    sandbox.status = ComponentStatus::Ready;
                }
                apply_probe(&probe, engine, &mut ghidra_component, &mut java_component, &mut sandbox);
            }
            Err(failure) if matches!(*failure.error, PublicError::Interrupted { .. }) => return Err(failure),
            Err(failure) => {
                log = failure.diagnostic_log.as_deref().cloned();
                let is_the_stores = blame_store(&failure, &mut store_component);
                if !is_the_stores {
                    blame(&failure, &mut ghidra_component, &mut java_component, &mut sandbox);
                }
            }
        }
    }
    ghidra_component.boot_data = engine.as_ref().and_then(|engine| describe_boot_data(context, engine));
    let components = DoctorComponents {
        ghidra: ghidra_component,
        java: java_component,
        analysis_store: store_component,
        sandbox,
    };
    let report = DoctorReport { ready: components.all_ready(), components };
    let (Some(engine), Some(store), true) = (&engine, &store, report.ready) else {
        let failure = Failure::from(PublicError::DoctorFailed { report: Box::new(report) });
        return Err(failure.with_log(log));
    };
    let warnings = warning::normalize(context.policy_warnings(engine));
    let envelope = Envelope::new(KIND, context.known(), report, warnings);
    let spill = Spill { store, lock: &store.lock()?, scope: ArtifactScope::Global };
    let text = |made: &Envelope<_, _>| Ok(human::doctor(&made.data));
    answer(context, &envelope, text, String::new(), &spill, Envelope::clone)
}

fn describe_ghidra(found: &Result<Ghidra, GhidraError>) -> GhidraComponent {
    match found {
        Ok(ghidra) => GhidraComponent {
            status: ComponentStatus::Ready,
            version: Some(ghidra.version.clone()),
            launcher: Some(ghidra.launcher().into()),
            selected_by: Some(ghidra.selected_by.to_owned()),
            problem: None,
            boot_data: None,
        },
        Err(error) => {
            let (status, path, selected_by) = match error {
                GhidraError::Missing { path, selected_by } => {
                    (ComponentStatus::Missing, path.clone(), selected_by.clone())
                }
                GhidraError::Incompatible { path, selected_by, .. } => {
                    (ComponentStatus::Invalid, Some(path.clone()), (*selected_by).to_owned())
                }
            };
            GhidraComponent {
                status,
                version: None,
                launcher: path.map(PathValue::from),
                selected_by: Some(selected_by),
                problem: Some(error.to_string()),
                boot_data: None,
            }
        }
    }
}

fn describe_boot_data(context: &Context<'_>, engine: &Engine) -> Option<BootDataReport> {
    let (status, problem) = match boot_mode::look(context, engine)? {
        Found::Ready(_) => (BootDataStatus::Ready, None),
        Found::Missing => (BootDataStatus::Missing, Some("none was prepared for this engine".to_owned())),
        Found::Stale(reason) => (BootDataStatus::Stale, Some(reason)),
    };
    Some(BootDataReport { status, problem })
}

fn describe_java(found: &Result<JavaRuntime, JavaError>) -> JavaComponent {
    match found {
        Ok(java) => JavaComponent {
            status: ComponentStatus::Ready,
            version: Some(java.feature_version.to_string()),
            executable: Some(java.executable().into()),
            selected_by: Some(java.selected_by.to_owned()),
            problem: None,
        },
        Err(error) => {
            let (status, version, path, selected_by) = match error {
                JavaError::Missing { path, selected_by } => {
                    (ComponentStatus::Missing, None, path.clone(), selected_by.clone())
                }
                JavaError::Incompatible { path, selected_by, feature_version, .. } => (
                    ComponentStatus::Incompatible,
                    feature_version.map(|version| version.to_string()),
                    Some(path.clone()),
                    (*selected_by).to_owned(),
                ),
            };
            JavaComponent {
                status,
                version,
                executable: path.map(|home| home.join("bin/java").into()),
                selected_by: Some(selected_by),
                problem: Some(error.to_string()),
            }
        }
    }
}

fn check_store(context: &Context<'_>) -> (Option<Store>, StoreComponent) {
    let mut component = StoreComponent {
        status: ComponentStatus::Invalid,
        path: None,
        source: None,
        usage: None,
        problem: None,
    };
    let checked = context.store_location().and_then(|location| {
        component.path = Some(location.path.as_path().into());
        component.source = Some(location.source);
        open_and_probe(&location)
    });
    match checked {
        Ok((store, usage)) => {
            component.status = ComponentStatus::Ready;
            component.usage = Some(usage);
            (Some(store), component)
        }
        Err(error) => {
            if matches!(error, StoreError::Unwritable { .. } | StoreError::NoSpace { .. }) {
                component.status = ComponentStatus::Unwritable;
            }
            component.problem = Some(error.to_string());
            (None, component)
        }
    }
}

fn open_and_probe(
    location: &StoreLocation,
) -> Result<(Store, crate::domain::usage::StorageUsage), StoreError> {
    let store = Store::open_or_create(location)?;
    store.probe_writable(&store.lock()?)?;
    let usage = store.usage()?;
    Ok((store, usage))
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
fn apply_probe(
    probe: &Probe,
    engine: &Engine,
    ghidra: &mut GhidraComponent,
    java: &mut JavaComponent,
    sandbox: &mut SandboxComponent,
) {
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
fn blame(
    failure: &Failure,
    ghidra: &mut GhidraComponent,
    java: &mut JavaComponent,
    sandbox: &mut SandboxComponent,
) {
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
