//! The steps of a cleanup, one for each change it makes to the store.
//!
//! Whoever runs a cleanup is asked before every step and may refuse it: that is how an
//! interruption ends it at a safe point, and how tests fail or kill it at each one.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::super::error::StoreError;
use super::super::io::Operation;

/// What a step changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanupStepKind {
    /// Creates the transaction, which records its target.
    Begin,
    /// Moves one directory of stored data into the transaction.
    Move,
    /// Makes all moves durable; deleting begins after it.
    Seal,
    /// Moves one directory back, because a later move failed.
    Undo,
    /// Deletes one item for good.
    Delete,
    /// Removes the empty transaction.
    End,
}

/// One step that is about to be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanupStep {
    /// What it changes.
    pub kind: CleanupStepKind,
    /// The path it is about.
    pub path: PathBuf,
}

/// Asked before each step; refusing it is as if it had failed.
pub(super) type Observer<'cleanup> = dyn FnMut(&CleanupStep) -> io::Result<()> + 'cleanup;

impl CleanupStepKind {
    const fn operation(self) -> Operation {
        match self {
            Self::Begin => Operation::Create,
            Self::Move | Self::Undo => Operation::Rename,
            Self::Seal => Operation::Sync,
            Self::Delete | Self::End => Operation::Remove,
        }
    }

    /// Asks whether to take this step.
    pub(super) fn ask(self, path: &Path, observer: &mut Observer<'_>) -> Result<(), StoreError> {
        use super::super::io::At as _;
        observer(&CleanupStep { kind: self, path: path.to_path_buf() }).at(self.operation(), path)
    }
}

impl fmt::Display for CleanupStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {}", self.kind, self.path.display())
    }
}
