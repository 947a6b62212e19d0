//! How a worker's run ended: the one error of every way but the orderly one.

use std::path::Path;

use super::MAX_TASKS;
use crate::commands::context::Context;
use crate::commands::failure::{Failure, interrupted, raise};
use crate::commands::workplace::Run;
use crate::domain::error::{PublicError, Termination, WorkerProgress};
use crate::domain::limits::{
    DEFAULT_MAX_HEAP_MIB, DEFAULT_MEMORY_HEADROOM_MIB, DISK_QUOTA_BYTES, MOST_HEAP_MIB,
};
use crate::process::{self, EndedBy, Outcome};
use crate::protocol::limits::MAX_PROGRESS_BYTES;
use crate::sandbox::Backend;

/// Status with which a JVM ends when its heap is exhausted (`-XX:+ExitOnOutOfMemoryError`).
const HEAP_EXHAUSTED_STATUS: i32 = 3;

/// Whether the worker ended in a way after which its response may be looked at.
pub(super) fn judge(
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
    let mut ended_worker = true;
    let error = match outcome.ended_by {
        // INVARIANT(no-promotion-after-cancel): a cancelled worker's response is never read.
        EndedBy::Watchdog => PublicError::WatchdogTimeout {
            watchdog_seconds: *watchdog_seconds,
            termination: termination(outcome).unwrap_or(Termination::Forced),
            progress,
        },
        EndedBy::Interrupted { signal } => {
            ended_worker = false;
            interrupted(signal, termination(outcome))
        }
        EndedBy::MemoryLimit { .. } => PublicError::MemoryLimitExceeded {
            max_memory_mib: limits.max_memory_mib,
            progress,
            raise: raise(
                "--max-memory-mib",
                limits.max_memory_mib,
                limits.max_heap_mib.saturating_add(DEFAULT_MEMORY_HEADROOM_MIB)..=u64::MAX,
            ),
        },
        EndedBy::TaskLimit { .. } => PublicError::TaskLimitExceeded { limit_tasks: MAX_TASKS },
        EndedBy::DiskQuota { .. } => PublicError::DiskQuotaExceeded { limit_bytes: DISK_QUOTA_BYTES },
        EndedBy::Finished => match outcome.worker_status {
            Some(0) => return Ok(()),
            Some(HEAP_EXHAUSTED_STATUS) => PublicError::JavaHeapExhausted {
                max_heap_mib: limits.max_heap_mib,
                progress,
                raise: raise("--max-heap-mib", limits.max_heap_mib, DEFAULT_MAX_HEAP_MIB..=MOST_HEAP_MIB),
            },
            status => PublicError::WorkerFailed { ending: describe_status(status), progress },
        },
    };
    Err(Failure { ended_worker, ..error.into() })
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
pub(super) fn read_progress(path: &Path) -> WorkerProgress {
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
}
