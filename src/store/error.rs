//! Everything that can go wrong in the Analysis Store, one variant per thing a caller
//! handles differently.
//!
//! Says what happened and where; which public error code that becomes is not decided here.

use std::io;
use std::path::{Path, PathBuf};

use super::io::{Operation, classify};
use super::lock::LockScope;
use super::resolve::InvalidPathReason;
use super::sample::SampleError;
use crate::domain::canonical_json::CanonicalJsonError;
use crate::domain::digest::{ProfileDigest, SampleDigest};
use crate::domain::path_value::PathValue;
use crate::domain::store_source::StoreSource;

/// A failed store operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A configured or derived store path cannot be used.
    #[error("analysis store path '{path}' (from {}) is invalid: {reason}", selected_by.setting())]
    InvalidPath {
        /// The path, byte-exact.
        path: PathValue,
        /// The rule that selected it.
        selected_by: StoreSource,
        /// Which rule it breaks.
        reason: InvalidPathReason,
    },
    /// No store was configured and `HOME` does not name a place for one.
    #[error("HOME, below which it would be, is {reason}")]
    NoLocation {
        /// `unset` or `not an absolute path`.
        reason: &'static str,
    },
    /// The directory holds something else; it is refused, never adopted.
    #[error("'{path}' is not an analysis store: {reason}", path = path.display())]
    NotAStore {
        /// The directory.
        path: PathBuf,
        /// What gave it away.
        reason: String,
    },
    /// The store was written by a version with another layout.
    #[error("analysis store '{path}' has layout version {found}, this version supports {supported}", path = path.display())]
    UnknownLayout {
        /// The store.
        path: PathBuf,
        /// Version found in `store.json`.
        found: u64,
        /// The one version this program reads and writes.
        supported: u32,
    },
    /// The store belongs to another user.
    #[error("'{path}' belongs to user {owner_uid}, not to the effective user {effective_uid}", path = path.display())]
    WrongOwner {
        /// The store.
        path: PathBuf,
        /// Its owner.
        owner_uid: u32,
        /// The user this process acts as.
        effective_uid: u32,
    },
    /// Group or others can reach into the store.
    #[error("'{path}' is accessible to group or others (mode {mode:04o}), expected 0700", path = path.display())]
    InsecureMode {
        /// The store.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The store can be read but not written.
    #[error("cannot {operation} '{path}': {source}", path = path.display())]
    Unwritable {
        /// What could not be written.
        path: PathBuf,
        /// What was attempted.
        operation: Operation,
        /// The system's answer.
        source: io::Error,
    },
    /// The file system is full, or has less room than a new Analysis needs.
    #[error("not enough space for '{path}'", path = path.display())]
    NoSpace {
        /// What needed the space.
        path: PathBuf,
        /// Free bytes needed, when that was computed beforehand.
        required_bytes: Option<u64>,
        /// Free bytes there are, when that was computed beforehand.
        available_bytes: Option<u64>,
    },
    /// Another process holds a lock that excludes this operation.
    #[error("another process is using the {scope} lock")]
    Busy {
        /// Which of the three locks.
        scope: LockScope,
        /// When to try again, in seconds.
        retry_after_seconds: u64,
    },
    /// A stored Analysis fails its verification; it can be quarantined and rebuilt.
    #[error("stored analysis is corrupt at '{path}': {reason}", path = path.display())]
    CorruptAnalysis {
        /// Sample of the Analysis.
        sample: SampleDigest,
        /// Profile digest that names its directory.
        profile: ProfileDigest,
        /// The file or directory that failed.
        path: PathBuf,
        /// How.
        reason: String,
    },
    /// Tool-owned storage outside an Analysis is not what this program wrote.
    #[error("analysis store is corrupt at '{path}': {reason}", path = path.display())]
    Corrupt {
        /// The file or directory that failed.
        path: PathBuf,
        /// How.
        reason: String,
    },
    /// The worker left facts that break their contract; nothing was promoted.
    #[error("{file} is invalid at line {line}: {reason}")]
    FactsInvalid {
        /// `program.json` or `functions.jsonl`.
        file: &'static str,
        /// Line number from 1; 0 when the whole file is meant.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// The worker left a project or a Profile that cannot be promoted.
    #[error("staged analysis cannot be promoted: '{path}': {reason}", path = path.display())]
    StagedAnalysisInvalid {
        /// The file or directory that failed.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The user wants the command to end.
    #[error("signal {signal} interrupted a long reading")]
    Interrupted {
        /// The signal that said so.
        signal: i32,
    },
    /// The Sample could not be read as one unchanging regular file.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A document has no canonical form.
    #[error(transparent)]
    CanonicalJson(#[from] CanonicalJsonError),
    /// Any other failed system call.
    #[error("cannot {operation} '{path}': {source}", path = path.display())]
    Io {
        /// The path concerned.
        path: PathBuf,
        /// What was attempted.
        operation: Operation,
        /// The system's answer.
        source: io::Error,
    },
}

impl StoreError {
    /// The failure of a system call on a path of the store that somebody else made.
    pub fn io(source: io::Error, operation: Operation, path: &Path) -> Self {
        classify(source, operation, path)
    }

    /// Attributes corruption found inside an Analysis to that Analysis.
    pub(super) fn within_analysis(self, sample: SampleDigest, profile: ProfileDigest) -> Self {
        match self {
            Self::Corrupt { path, reason } => Self::CorruptAnalysis { sample, profile, path, reason },
            other => other,
        }
    }

    /// The same finding in a tree that was never promoted: the worker's doing, not corruption.
    pub(super) fn within_staging(self) -> Self {
        match self {
            Self::Corrupt { path, reason } => Self::StagedAnalysisInvalid { path, reason },
            // Only the worker can have closed to us what it made in a directory of ours.
            Self::Unwritable { path, source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::StagedAnalysisInvalid { path, reason: source.to_string() }
            }
            Self::Io { path, source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::StagedAnalysisInvalid { path, reason: source.to_string() }
            }
            other => other,
        }
    }
}
