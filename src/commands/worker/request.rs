//! What a worker is asked.

use std::path::{Path, PathBuf};

use super::{QueryList, WorkerTask};
use crate::commands::boot;
use crate::commands::boot_mode::BootMode;
use crate::commands::context::{Context, Engine};
use crate::commands::failure::Failure;
use crate::commands::path_text::text;
use crate::protocol::limits::{MAX_ANSWERS_BYTES, MAX_FACTS_BYTES, PROTOCOL_VERSION};
use crate::protocol::request::{Access, Arguments, Grant, Queries, Request, WorkerEngine, WorkerLimits};
use crate::sandbox::WorkerPaths;
use crate::store::Staging;

/// The request for `task`, in the worker's own paths.
pub(super) fn build(
    context: &Context<'_>,
    engine: &Engine,
    staging: &Staging,
    task: &WorkerTask,
    paths: &WorkerPaths,
    mode: &BootMode,
) -> Result<Request, Failure> {
    let path = |path: &Option<PathBuf>| text(path.as_deref().unwrap_or(Path::new("")));
    let arguments = match task {
        WorkerTask::Probe => Arguments::Probe {},
        WorkerTask::Analyze { queries } => Arguments::Analyze {
            sample_path: path(&paths.sample)?,
            project_directory: path(&paths.project_directory)?,
            facts_directory: path(&paths.facts_directory)?,
            queries: queries.as_ref().map(|list| self::queries(list, paths)).transpose()?,
        },
        WorkerTask::Query { queries } => Arguments::Query {
            project_directory: path(&paths.project_directory)?,
            queries: self::queries(queries, paths)?,
        },
    };
    let written =
        [Some(&paths.invocation_directory), paths.project_directory.as_ref(), paths.facts_directory.as_ref()];
    let mut granted = Vec::new();
    for directory in written.into_iter().flatten() {
        granted.push(Grant { path: text(directory)?, access: Access::Write });
    }
    for readable in [paths.sample.as_ref(), Some(&paths.engine)].into_iter().flatten() {
        granted.push(Grant { path: text(readable)?, access: Access::Read });
    }
    let phases = task.native_phases();
    Ok(Request {
        protocol_version: PROTOCOL_VERSION,
        invocation_id: staging.invocation_id(),
        arguments,
        boot: boot::boot(engine, &context.limits, paths, mode, task.operation())?,
        engine: WorkerEngine { layout: engine.ghidra.layout, path: text(&paths.engine)? },
        grants: granted,
        progress_path: text(&paths.progress())?,
        limits: WorkerLimits {
            analysis_timeout_seconds: context.limits.analysis_timeout_seconds,
            decompile_timeout_seconds: phases
                .decompilation
                .then_some(context.limits.decompile_timeout_seconds),
            max_cpu: context.limits.max_cpu,
            max_response_bytes: context.host.max_response_bytes,
            max_facts_bytes: MAX_FACTS_BYTES,
        },
    })
}

fn queries(list: &QueryList, paths: &WorkerPaths) -> Result<Queries, Failure> {
    Ok(Queries {
        items: list.items.clone(),
        answers_path: text(&paths.answers())?,
        stop_at_failure: list.policy.stop_at_failure,
        timeout_seconds: list.policy.timeout_seconds,
        max_answers_bytes: MAX_ANSWERS_BYTES,
    })
}
