//! Why a task stopped: one typed error, worded for the person who has to act on it.

use std::io;
use std::path::{Path, PathBuf};

/// The reason a task did not finish.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was attempted, as a verb phrase.
        action: &'static str,
        /// The path it was attempted on.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("cannot run `{command}`: {source}")]
    Spawn {
        /// The command line.
        command: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A program ran and failed.
    #[error("`{command}` failed: {status}{detail}")]
    Command {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// The end of what it printed, when that was captured.
        detail: String,
    },
    /// Data that had to be intact was not.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// What was checked.
        what: String,
        /// Expected against found.
        reason: String,
    },
    /// The task refuses to go on; the text says what to do.
    #[error("{0}")]
    Refused(String),
    /// The fixtures could not be built, or do not match.
    #[error(transparent)]
    Fixtures(#[from] crate::fixtures::FixturesError),
    /// Some steps of a longer run failed; each has been reported where it happened.
    #[error("failed: {}", .0.join(", "))]
    Steps(Vec<String>),
}

/// Gives an I/O result the path and the attempted action.
pub trait AtPath<T> {
    /// Names `action` and `path` in the error.
    fn at(self, action: &'static str, path: &Path) -> Result<T, TaskError>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, TaskError> {
        self.map_err(|source| TaskError::File { action, path: path.to_path_buf(), source })
    }
}
