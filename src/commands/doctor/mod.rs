//! `ghidr doctor`: whether every required component is usable, proved by booting the engine
//! in the production sandbox.
//!
//! Runs every safe check even after a failure; never touches a Sample or creates an Analysis.

mod proof;

use super::answer::{Answer, Spill, answer};
use super::boot_mode;
use super::context::{Context, Engine};
use super::failure::Failure;
use crate::domain::doctor_report::{
    BootDataReport, BootDataStatus, ComponentStatus, DoctorComponents, DoctorReport, GhidraComponent,
    JavaComponent, SandboxComponent, StoreComponent,
};
use crate::domain::error::PublicError;
use crate::domain::path_value::PathValue;
use crate::domain::warning;
use crate::engine::boot_data::Found;
use crate::engine::ghidra::{Ghidra, GhidraError};
use crate::engine::java::{JavaError, JavaRuntime};
use crate::output::envelope::Envelope;
use crate::output::human;
use crate::store::{ArtifactScope, Store, StoreError};

/// Kind of the success document.
pub const KIND: &str = "doctor_report";

/// Runs the command.
pub fn run(context: &Context<'_>) -> Result<Answer, Failure> {
    let ghidra = context.ghidra();
    let java = context.java(ghidra.as_ref().ok());
    let (store, analysis_store) = check_store(context);
    let mut components = DoctorComponents {
        ghidra: describe_ghidra(&ghidra),
        java: describe_java(&java),
        analysis_store,
        sandbox: SandboxComponent {
            status: ComponentStatus::Invalid,
            backend: context.sandbox,
            verification: context.sandbox.verification(),
            problem: Some("not tested: it needs a usable Ghidra, JDK and store".to_owned()),
            protections: None,
        },
    };
    let engine = ghidra.ok().zip(java.ok()).map(|(ghidra, java)| Engine { ghidra, java });
    let log = match (&engine, &store) {
        (Some(engine), Some(store)) => proof::gather(context, engine, store, &mut components)?,
        _ => None,
    };
    components.ghidra.boot_data = engine.as_ref().and_then(|engine| describe_boot_data(context, engine));
    let report = DoctorReport { ready: components.all_ready(), components };
    let (Some(engine), Some(store), true) = (&engine, &store, report.ready) else {
        let failure = Failure::from(PublicError::DoctorFailed { report: Box::new(report) });
        return Err(failure.with_log(log));
    };
    let warnings = warning::normalize(context.policy_warnings(engine));
    let envelope = Envelope::new(KIND, context.known(), report, warnings);
    let spill = Spill { store, lock: &store.lock()?, scope: ArtifactScope::Global, is_repeatable: true };
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
        let store = Store::open_or_create(&location)?;
        // First, because it is wanted most when nothing more can be written.
        component.usage = Some(store.usage()?);
        store.probe_writable(&store.lock()?)?;
        Ok(store)
    });
    match checked {
        Ok(store) => {
            component.status = ComponentStatus::Ready;
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
