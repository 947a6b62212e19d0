//! One worker attempt: request out, a run to its end, everything else a typed failure.
//!
//! Never retries. Never reads results from the worker's output streams. What it left is read by [`reply`], only after
//! the whole worker tree is gone.

mod ending;
mod grants;
mod reply;
mod request;
mod sandbox_probe;

use std::path::Path;
use std::time::Duration;

use super::boot_mode::BootMode;
use super::context::{Context, Engine};
use super::diagnostics;
use super::failure::Failure;
use super::workplace::{Run, Workplace};
use crate::cli::Format;
use crate::domain::invocation_files::PROGRESS;
use crate::domain::limits::{DISK_QUOTA_BYTES, NativePhases};
use crate::domain::sandbox_mode::SandboxMode;
use crate::engine::sandbox_parts::SandboxParts;
use crate::output::progress::ProgressLine;
use crate::process::launch::GRACE;
use crate::process::worker_arguments::Job;
use crate::process::{LaunchPlan, Outcome, Supervision, terminal};
use crate::protocol::encode;
use crate::protocol::request::{Request, WorkerQuery};
use crate::sandbox::{Backend, Bubblewrap, Direct};
use crate::store::{Staging, StoreError};

pub use reply::{Reply, salvage};
pub use sandbox_probe::probe_sandbox;

/// Bound on a worker's processes and threads together: an analysis on one processor has about fifty, and one more for each
/// processor of the machine or two.
const MAX_TASKS: u64 = 1_024;

/// Free space below which a file system counts as full: no engine's block fits any more.
const EXHAUSTED_BYTES: u64 = 64 << 10;

/// What one worker shall do.
#[derive(Debug, Clone)]
pub enum WorkerTask {
    /// Prove that everything works.
    Probe,
    /// Import and analyze the staged Sample, then answer `queries` if there are any.
    Analyze {
        /// Queries to answer in the same JVM.
        queries: Option<QueryList>,
    },
    /// Answer Queries on the private project copy.
    Query {
        /// The questions.
        queries: QueryList,
    },
}

/// Queries for one worker, answered one after another.
#[derive(Debug, Clone)]
pub struct QueryList {
    /// The questions, at least one.
    pub items: Vec<WorkerQuery>,
    /// How they are treated together.
    pub policy: Policy,
}

/// How several Queries are treated.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Whether nothing is tried after the first failure.
    pub stop_at_failure: bool,
    /// Time after which no further one is begun, in seconds; `None` for a single one, whose worker's end is
    /// then the end of the command.
    pub timeout_seconds: Option<u64>,
}

impl Policy {
    /// One question, whose worker has the native time-out and nothing beyond it.
    pub const SINGLE: Self = Self { stop_at_failure: false, timeout_seconds: None };

    /// What a worker with such Queries does.
    pub const fn phases(self, analysis: bool) -> NativePhases {
        NativePhases { analysis, decompilation: true, batch_timeout_seconds: self.timeout_seconds }
    }
}

impl QueryList {
    /// A single question.
    pub fn of(query: WorkerQuery) -> Self {
        Self { items: vec![query], policy: Policy::SINGLE }
    }
}

impl WorkerTask {
    /// Name of the worker operation.
    pub fn operation(&self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Analyze { .. } => "analyze",
            Self::Query { .. } => "query",
        }
    }

    /// Native phases that add to the watchdog.
    pub fn native_phases(&self) -> NativePhases {
        let analysis = matches!(self, Self::Analyze { .. });
        let idle = NativePhases { analysis, decompilation: false, batch_timeout_seconds: None };
        self.queries().map_or(idle, |list| list.policy.phases(analysis))
    }

    fn queries(&self) -> Option<&QueryList> {
        match self {
            Self::Analyze { queries } => queries.as_ref(),
            Self::Query { queries } => Some(queries),
            Self::Probe => None,
        }
    }
}

/// One run of a worker, however it ended.
pub struct Attempt {
    request: Request,
    run: Run,
    /// Why it did not end in order, if it did not.
    pub end: Result<(), Failure>,
}

/// Runs one worker.
pub fn run(
    context: &Context<'_>,
    engine: &Engine,
    place: &Workplace<'_>,
    task: &WorkerTask,
) -> Result<Reply, Failure> {
    run_as(context, engine, place, task, &BootMode::choose(context, engine))
}

/// Runs one worker that boots in the given mode.
pub fn run_as(
    context: &Context<'_>,
    engine: &Engine,
    place: &Workplace<'_>,
    task: &WorkerTask,
    mode: &BootMode,
) -> Result<Reply, Failure> {
    reply::of(context, place, launch(context, engine, place, task, mode)?)
}

fn space_ran_out(place: &Workplace<'_>) -> StoreError {
    let path = place.staging.invocation_directory();
    StoreError::NoSpace { path, required_bytes: None, available_bytes: place.staging.available_bytes().ok() }
}

/// Runs one worker to its end; what it left behind has not been looked at.
pub fn launch(
    context: &Context<'_>,
    engine: &Engine,
    place: &Workplace<'_>,
    task: &WorkerTask,
    mode: &BootMode,
) -> Result<Attempt, Failure> {
    let provided = SandboxParts::read(&context.host.bundle)?;
    let grants = grants::collect(context, engine, place.staging, task, mode, provided.as_ref())?;
    let backend: Box<dyn Backend> = match context.sandbox {
        SandboxMode::Bubblewrap => {
            Box::new(Bubblewrap::discover(provided.as_ref().map(|parts| parts.bubblewrap.as_path()))?)
        }
        SandboxMode::External | SandboxMode::Off => {
            grants::link_engine_cache(&grants)?;
            Box::new(Direct)
        }
    };
    let paths = backend.worker_paths(&grants)?;
    let request = request::build(context, engine, place.staging, task, &paths, mode)?;
    let invocation = place.staging.invocation_directory();
    let bytes = encode::encode(&request)?;
    place.staging.write_request(&bytes)?;
    let plan = backend.plan(&grants, Job::Answer)?;
    let watchdog_seconds = context.limits.watchdog_seconds(task.native_phases());
    context.learn(|known| {
        if let Some(limits) = &mut known.limits {
            limits.child_watchdog_seconds = Some(watchdog_seconds);
        }
    });
    let progress_path = invocation.join(PROGRESS);
    let started_at = (context.host.now)();
    let (outcome, space_ran_out) =
        supervise(context, place.staging, &plan, watchdog_seconds, &progress_path)?;
    let run = Run { operation: task.operation(), started_at, outcome, watchdog_seconds, space_ran_out };
    let end = ending::judge(context, backend.as_ref(), &run, &progress_path).map_err(|failure| {
        let is_effect = run.space_ran_out && failure.is_worker_failure();
        let failure = if is_effect { self::space_ran_out(place).into() } else { failure };
        diagnostics::attach(context, place, &run, failure)
    });
    Ok(Attempt { request, run, end })
}

fn supervise(
    context: &Context<'_>,
    staging: &Staging,
    plan: &LaunchPlan,
    watchdog_seconds: u64,
    progress_path: &Path,
) -> Result<(Outcome, bool), Failure> {
    let mut stderr = std::io::stderr();
    let shown = context.format == Format::Human && context.host.stderr_is_terminal;
    let columns = terminal::columns(&stderr);
    let stream = shown.then_some(&mut stderr as &mut dyn std::io::Write);
    let mut progress = ProgressLine::new(stream, columns);
    let is_full = || staging.lacks_room_for(EXHAUSTED_BYTES).unwrap_or(false);
    let mut was_full = false;
    let mut on_tick = |elapsed: Duration| {
        was_full |= is_full();
        if shown {
            let now = ending::read_progress(progress_path);
            progress.show(now.phase.as_deref().unwrap_or("starting"), now.analyzer.as_deref(), elapsed);
        }
    };
    let outcome = context.host.launcher.run(
        plan,
        &mut Supervision {
            watchdog: Duration::from_secs(watchdog_seconds),
            grace: GRACE,
            interrupts: context.host.interrupts,
            capture_directory: &staging.logs_directory(),
            max_memory_bytes: Some(context.limits.max_memory_mib.saturating_mul(1 << 20)),
            max_tasks: Some(MAX_TASKS),
            max_disk_bytes: Some(DISK_QUOTA_BYTES),
            on_tick: &mut on_tick,
        },
    );
    progress.clear();
    Ok((outcome?, was_full || is_full()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_watchdog_covers_exactly_the_phases_a_task_has() {
        let query = WorkerQuery::Decompile {
            selector: crate::domain::selector::FunctionSelector::Name { value: "f".into() },
        };
        let phases = |task: WorkerTask| {
            let phases = task.native_phases();
            (phases.analysis, phases.decompilation, phases.batch_timeout_seconds)
        };
        let one = QueryList::of(query);
        let policy = Policy { timeout_seconds: Some(9), ..Policy::SINGLE };
        let several = QueryList { policy, ..one.clone() };
        assert_eq!(phases(WorkerTask::Probe), (false, false, None));
        assert_eq!(phases(WorkerTask::Analyze { queries: None }), (true, false, None));
        assert_eq!(phases(WorkerTask::Analyze { queries: Some(several) }), (true, true, Some(9)));
        assert_eq!(phases(WorkerTask::Query { queries: one }), (false, true, None));
    }
}
