//! Failures of supervision itself, as opposed to a worker that ended badly.

use std::io;
use std::path::PathBuf;

/// Why a worker could not be started or supervised.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The program could not be started.
    #[error("cannot start {}: {source}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A kernel facility that supervision rests on was refused.
    #[error("cannot {operation}: {source}")]
    Supervise {
        /// What was attempted.
        operation: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// A capture file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Processes of the worker tree could not be killed.
    #[error("worker processes survived being killed: {pids:?}")]
    Survivors {
        /// Their process ids.
        pids: Vec<i32>,
    },
}

impl ProcessError {
    /// Names the operation of a failed kernel call.
    pub(super) fn supervise<E: Into<io::Error>>(operation: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Supervise { operation, source: source.into() }
    }
}
