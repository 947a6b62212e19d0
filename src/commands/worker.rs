//! One worker attempt: request out, response in, everything else a typed failure.
//!
//! Never retries. Never reads results from the worker's output streams. The response is
//! looked at only after the whole worker tree is gone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::boot;
use super::boot_mode::BootMode;
use super::context::{Context, Engine};
use super::diagnostics;
use super::failure::{Failure, raise};
use time::OffsetDateTime;

use crate::cli::Format;
use crate::domain::digest::SampleDigest;
use crate::domain::engine_layout::EngineLayout;
use crate::domain::error::{PublicError, Termination, WorkerProgress};
use crate::domain::limits::NativePhases;
use crate::domain::sandbox_mode::SandboxMode;
use crate::engine::ghidra::Ghidra;
use crate::output::progress::ProgressLine;
use crate::process::launch::GRACE;
use crate::process::{self, EndedBy, Outcome, Supervision};
use crate::protocol::limits::{MAX_FACTS_BYTES, MAX_PROGRESS_BYTES, PROTOCOL_VERSION};
use crate::protocol::request::{Access, Arguments, Grant, Request, WorkerEngine, WorkerLimits, WorkerQuery};
use crate::protocol::response::Response;
use crate::protocol::{encode, receive};
use crate::sandbox::{
    Backend, Bubblewrap, Direct, EngineCacheGrant, EngineGrant, ScriptBundlesGrant, Sizes, WorkerGrants,
    WorkerPaths,
};
use crate::store::{Staging, Store};

/// Status with which a JVM ends when its heap is exhausted (`-XX:+ExitOnOutOfMemoryError`).
const HEAP_EXHAUSTED_STATUS: i32 = 3;
/// Bound on everything a worker may write to disk, in bytes.
const DISK_QUOTA_BYTES: u64 = 8 << 30;
/// Bounds on each writable file system and file of a worker.
const SIZES: Sizes =
    Sizes { temporary_mib: 1_024, home_mib: 256, shared_memory_mib: 64, file_size_bytes: 4 << 30 };
/// Where Ghidra looks for what a single jar has unpacked, below its settings directory.
const UNPACKED_DIRECTORY: &str = "jar.resource.copied.files";
/// Where it looks for the scripts it has compiled.
const SCRIPT_BUNDLES: &str = "osgi/compiled-bundles";

/// What one worker shall do.
#[derive(Debug, Clone)]
pub enum WorkerTask {
    /// Prove that everything works.
    Probe,
    /// Import and analyze the staged Sample, then answer `query` if there is one.
    Analyze {
        /// Query to answer in the same JVM.
        query: Option<WorkerQuery>,
    },
    /// Answer a Query on the private project copy.
    Query {
        /// The question.
        query: WorkerQuery,
    },
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
        NativePhases {
            analysis: matches!(self, Self::Analyze { .. }),
            decompilation: matches!(self, Self::Query { .. } | Self::Analyze { query: Some(_) }),
        }
    }
}

/// Where a worker works, and for which Sample.
pub struct Workplace<'store> {
    /// The store, for Diagnostic Logs.
    pub store: &'store Store,
    /// Private directories of this invocation.
    pub staging: &'store Staging,
    /// The Sample the work is about; `None` for a probe.
    pub sample: Option<SampleDigest>,
}

/// One run of a worker.
pub struct Run {
    /// The operation.
    pub operation: &'static str,
    /// When it started.
    pub started_at: OffsetDateTime,
    /// How it ended.
    pub outcome: Outcome,
    /// The derived watchdog, in seconds.
    pub watchdog_seconds: u64,
}

/// A valid response and the run that gave it.
pub struct Reply {
    /// The response.
    pub response: Response,
    /// The run.
    pub run: Run,
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
    let (request, run) = launch(context, engine, place, task, mode)?;
    let response_path = place.staging.invocation_directory().join("response.json");
    match receive::receive(&response_path, &request, context.host.max_response_bytes) {
        Ok(response) => Ok(Reply { response, run }),
        Err(violation) => Err(diagnostics::attach(context, place, &run, violation.into())),
    }
}

/// Runs one worker to its orderly end; what it left behind has not been looked at.
pub fn launch(
    context: &Context<'_>,
    engine: &Engine,
    place: &Workplace<'_>,
    task: &WorkerTask,
    mode: &BootMode,
) -> Result<(Request, Run), Failure> {
    let grants = grants(context, engine, place.staging, task, mode)?;
    let backend: Box<dyn Backend> = match context.sandbox {
        SandboxMode::Bubblewrap => Box::new(Bubblewrap::discover(None)?),
        SandboxMode::External | SandboxMode::Off => {
            link_engine_cache(&grants)?;
            Box::new(Direct)
        }
    };
    let paths = backend.worker_paths(&grants)?;
    let request = request(context, engine, place.staging, task, &paths, mode)?;
    let invocation = place.staging.invocation_directory();
    let bytes = encode::encode(&request)?;
    place.staging.write_request(&bytes)?;
    let plan = backend.plan(&grants)?;
    let watchdog_seconds = context.limits.watchdog_seconds(task.native_phases());
    let progress_path = invocation.join("progress");
    let started_at = (context.host.now)();
    let outcome = supervise(context, place.staging, &plan, watchdog_seconds, &progress_path)?;
    let run = Run { operation: task.operation(), started_at, outcome, watchdog_seconds };
    match judge(context, backend.as_ref(), &run, &progress_path) {
        Ok(()) => Ok((request, run)),
        Err(failure) => Err(diagnostics::attach(context, place, &run, failure)),
    }
}

fn supervise(
    context: &Context<'_>,
    staging: &Staging,
    plan: &process::LaunchPlan,
    watchdog_seconds: u64,
    progress_path: &Path,
) -> Result<Outcome, Failure> {
    let mut stderr = std::io::stderr();
    let shown = context.format == Format::Human && context.host.stderr_is_terminal;
    let stream = shown.then_some(&mut stderr as &mut dyn std::io::Write);
    let mut progress = ProgressLine::new(stream);
    let mut on_tick = |elapsed: Duration| {
        if shown {
            let now = read_progress(progress_path);
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
            max_disk_bytes: Some(DISK_QUOTA_BYTES),
            on_tick: &mut on_tick,
        },
    );
    progress.clear();
    Ok(outcome?)
}

/// Whether the worker ended in a way after which its response may be looked at.
fn judge(
    context: &Context<'_>,
    backend: &dyn Backend,
    run: &Run,
    progress_path: &Path,
) -> Result<(), Failure> {
    let Run { outcome, watchdog_seconds, .. } = run;
    if let Some(error) = backend.explain(outcome) {
        return Err(error.into());
    }
    let progress = read_progress(progress_path);
    let limits = &context.limits;
    let error = match outcome.ended_by {
        // INVARIANT(no-promotion-after-cancel): a cancelled worker's response is never read.
        EndedBy::Watchdog => PublicError::WatchdogTimeout {
            watchdog_seconds: *watchdog_seconds,
            termination: termination(outcome).unwrap_or(Termination::Forced),
            progress,
        },
        EndedBy::Interrupted { signal } => interrupted(signal, termination(outcome)),
        EndedBy::MemoryLimit { .. } => PublicError::MemoryLimitExceeded {
            max_memory_mib: limits.max_memory_mib,
            progress,
            raise: raise("--max-memory-mib", limits.max_memory_mib),
        },
        EndedBy::DiskQuota { .. } => PublicError::DiskQuotaExceeded { limit_bytes: DISK_QUOTA_BYTES },
        EndedBy::Finished => match outcome.worker_status {
            Some(0) => return Ok(()),
            Some(HEAP_EXHAUSTED_STATUS) => PublicError::JavaHeapExhausted {
                max_heap_mib: limits.max_heap_mib,
                progress,
                raise: raise("--max-heap-mib", limits.max_heap_mib),
            },
            status => PublicError::WorkerFailed { ending: describe_status(status), progress },
        },
    };
    Err(error.into())
}

/// The error of a command that the user interrupted.
pub fn interrupted(signal: i32, termination: Option<Termination>) -> PublicError {
    let signal = signal_hook::low_level::signal_name(signal).unwrap_or("unknown signal").to_owned();
    PublicError::Interrupted { signal, termination }
}

fn termination(outcome: &Outcome) -> Option<Termination> {
    outcome.termination.map(|termination| match termination {
        process::Termination::Graceful => Termination::Graceful,
        process::Termination::Forced => Termination::Forced,
    })
}

fn describe_status(status: Option<i32>) -> String {
    let Some(status) = status else { return "its status is unknown".to_owned() };
    match process::signal_of_status(status) {
        Some(signal) => {
            let name = signal_hook::low_level::signal_name(signal).unwrap_or("unknown signal");
            format!("killed by {name}")
        }
        None => format!("exit status {status}"),
    }
}

/// What the worker last said it was doing: an untrusted hint, bounded and never required.
fn read_progress(path: &Path) -> WorkerProgress {
    let Some(bytes) = read_small_regular_file(path) else { return WorkerProgress::default() };
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next().unwrap_or_default();
    let (phase, analyzer) = line.split_once('\t').unwrap_or((line, ""));
    let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    WorkerProgress { phase: known(phase), analyzer: known(analyzer) }
}

fn read_small_regular_file(path: &Path) -> Option<Vec<u8>> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_PROGRESS_BYTES as u64), &mut bytes).ok()?;
    Some(bytes)
}

fn grants(
    context: &Context<'_>,
    engine: &Engine,
    staging: &Staging,
    task: &WorkerTask,
    mode: &BootMode,
) -> Result<WorkerGrants, Failure> {
    let host = context.host;
    let analyzes = matches!(task, WorkerTask::Analyze { .. });
    let has_project = !matches!(task, WorkerTask::Probe);
    Ok(WorkerGrants {
        worker_executable: host.executable.clone(),
        invocation_directory: staging.invocation_directory(),
        sample: analyzes.then(|| staging.sample_path()),
        project_directory: has_project.then(|| staging.project_directory()),
        facts_directory: analyzes.then(|| staging.facts_directory()),
        engine: match engine.ghidra.layout {
            EngineLayout::SingleJar => EngineGrant::SingleJar(engine.ghidra.path.clone()),
            EngineLayout::InstallationDirectory => {
                EngineGrant::InstallationDirectory(engine.ghidra.path.clone())
            }
        },
        engine_cache: engine_cache(&engine.ghidra),
        script_bundles: script_bundles(&engine.ghidra, mode),
        class_data_directory: match mode {
            BootMode::Prepared(data) => Some(data.class_data.clone()),
            _ => None,
        },
        adapter_directory: host.bundle.adapter_directory(),
        java_home: engine.java.home.clone(),
        closure: Vec::new(),
        home_directory: staging.home_directory(),
        temporary_directory: staging.temporary_directory(),
        sizes: SIZES,
    })
}

fn engine_cache(ghidra: &Ghidra) -> Option<EngineCacheGrant> {
    let cache = ghidra.cache.as_ref()?;
    let settings = PathBuf::from(".ghidra").join(ghidra.settings_directory_name());
    Some(EngineCacheGrant {
        directory: cache.join(UNPACKED_DIRECTORY),
        home_path: settings.join(UNPACKED_DIRECTORY),
    })
}

fn script_bundles(ghidra: &Ghidra, mode: &BootMode) -> Option<ScriptBundlesGrant> {
    let (directory, writable) = match mode {
        BootMode::Prepared(data) => (data.script_bundles.clone()?, false),
        BootMode::Observed { script_bundles } => (script_bundles.clone(), true),
        BootMode::Plain | BootMode::Archiving => return None,
    };
    let home_path = PathBuf::from(".ghidra").join(ghidra.settings_directory_name()).join(SCRIPT_BUNDLES);
    Some(ScriptBundlesGrant { directory, home_path, writable })
}

/// Without a mount namespace the prepared files are reached through links, one each: a link
/// to their directory would let the engine write into the shared cache. Ghidra only asks
/// whether an unpacked file exists.
fn link_engine_cache(grants: &WorkerGrants) -> Result<(), Failure> {
    let Some(cache) = &grants.engine_cache else { return Ok(()) };
    let target = grants.home_directory.join(&cache.home_path);
    let link_all = || -> std::io::Result<()> {
        std::fs::create_dir_all(&target)?;
        for entry in std::fs::read_dir(&cache.directory)? {
            let entry = entry?;
            std::os::unix::fs::symlink(entry.path(), target.join(entry.file_name()))?;
        }
        Ok(())
    };
    link_all().map_err(|source| Failure::internal(format!("cannot link into {}: {source}", target.display())))
}

fn request(
    context: &Context<'_>,
    engine: &Engine,
    staging: &Staging,
    task: &WorkerTask,
    paths: &WorkerPaths,
    mode: &BootMode,
) -> Result<Request, Failure> {
    let path = |path: &Option<PathBuf>| boot::text(path.as_deref().unwrap_or(Path::new("")));
    let arguments = match task {
        WorkerTask::Probe => Arguments::Probe {},
        WorkerTask::Analyze { query } => Arguments::Analyze {
            sample_path: path(&paths.sample)?,
            project_directory: path(&paths.project_directory)?,
            facts_directory: path(&paths.facts_directory)?,
            query: query.clone(),
        },
        WorkerTask::Query { query } => {
            Arguments::Query { project_directory: path(&paths.project_directory)?, query: query.clone() }
        }
    };
    let written =
        [Some(&paths.invocation_directory), paths.project_directory.as_ref(), paths.facts_directory.as_ref()];
    let mut granted = Vec::new();
    for directory in written.into_iter().flatten() {
        granted.push(Grant { path: boot::text(directory)?, access: Access::Write });
    }
    for readable in [paths.sample.as_ref(), Some(&paths.engine)].into_iter().flatten() {
        granted.push(Grant { path: boot::text(readable)?, access: Access::Read });
    }
    let phases = task.native_phases();
    Ok(Request {
        protocol_version: PROTOCOL_VERSION,
        invocation_id: staging.invocation_id(),
        arguments,
        boot: boot::boot(engine, &context.limits, paths, mode, task.operation())?,
        engine: WorkerEngine { layout: engine.ghidra.layout, path: boot::text(&paths.engine)? },
        grants: granted,
        progress_path: boot::text(&paths.progress())?,
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_bounded_hint() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        assert_eq!(read_progress(&path), WorkerProgress::default());
        std::fs::write(&path, "analysis\tStack\nrest").unwrap();
        let progress = read_progress(&path);
        assert_eq!(
            (progress.phase.as_deref(), progress.analyzer.as_deref()),
            (Some("analysis"), Some("Stack"))
        );
        std::fs::write(&path, vec![b'a'; 100_000]).unwrap();
        assert_eq!(read_progress(&path).phase.unwrap().len(), MAX_PROGRESS_BYTES);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/proc/self/environ", &path).unwrap();
        assert_eq!(read_progress(&path), WorkerProgress::default());
    }

    #[test]
    fn the_watchdog_covers_exactly_the_phases_a_task_has() {
        let query = WorkerQuery::Decompile {
            selector: crate::domain::selector::FunctionSelector::Name { value: "f".into() },
        };
        let phases = |task: WorkerTask| {
            let phases = task.native_phases();
            (phases.analysis, phases.decompilation)
        };
        assert_eq!(phases(WorkerTask::Probe), (false, false));
        assert_eq!(phases(WorkerTask::Analyze { query: None }), (true, false));
        assert_eq!(phases(WorkerTask::Analyze { query: Some(query.clone()) }), (true, true));
        assert_eq!(phases(WorkerTask::Query { query }), (false, true));
    }
}
