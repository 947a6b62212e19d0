//! The order of a cleanup: finish what was interrupted, move all that is newly matched, delete.
//!
//! Ended at any point, it leaves data in its place or in a transaction that a later cleanup of
//! the same target deletes first. A transaction is only ever continued, never put back: what
//! is in it was asked to be removed, and its place may have been taken meanwhile.

use std::io;
use std::path::PathBuf;

use super::super::denied::Denied;
use super::super::error::StoreError;
use super::super::layout;
use super::super::open::Store;
use super::super::tree;
use super::lock::CleanLock;
use super::scope::CleanupScope;
use super::step::{CleanupStep, CleanupStepKind as Kind, Observer};
use super::survey::targets;
use super::transaction::{self, Transaction};
use crate::domain::invocation_id::InvocationId;

/// Why a cleanup did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CleanupError {
    /// Everything newly matched is in its place.
    #[error(transparent)]
    Refused(#[from] StoreError),
    /// Data is out of its place and not all deleted: a later cleanup deletes the rest.
    #[error("cleanup stopped in '{}': {source}", transaction.display())]
    Incomplete {
        /// The transaction that holds the rest.
        transaction: PathBuf,
        /// What stopped it.
        source: Box<StoreError>,
    },
}

impl Store {
    /// Removes working files whose owners are gone. Under the lock on everything there is no
    /// other owner, so nothing stays.
    pub fn sweep_for_cleanup(&self, lock: &CleanLock) -> Result<(), StoreError> {
        if lock.scope() != CleanupScope::All {
            return self.sweep_orphans(lock).map(drop);
        }
        match self.root.try_open_dir(layout::STAGING) {
            Ok(None) => Ok(()),
            Ok(Some(staging)) => tree::remove_contents(&staging),
            Err(StoreError::Corrupt { .. }) => self.root.remove_file(layout::STAGING),
            Err(error) => Err(error),
        }
    }

    /// Removes everything that `lock` covers. `before_step` is asked before each step.
    pub fn clean(
        &self,
        lock: &CleanLock,
        id: InvocationId,
        before_step: &mut dyn FnMut(&CleanupStep) -> io::Result<()>,
    ) -> Result<(), CleanupError> {
        let scope = lock.scope();
        self.finish_interrupted(scope, before_step)?;
        let targets = targets(&self.root, scope)?;
        if targets.is_empty() {
            return Ok(());
        }
        let mut transaction = Transaction::begin(&self.root, scope, id, before_step)?;
        let path = transaction.path();
        let mut moved = Ok(());
        for target in targets {
            moved = moved.and_then(|()| transaction.take(&self.root, target, before_step));
        }
        if let Err(error) = moved.and_then(|()| transaction.seal(&self.root, before_step)) {
            return Err(match transaction.undo(&self.root, before_step) {
                Ok(()) => CleanupError::Refused(error),
                Err(_) => CleanupError::Incomplete { transaction: path, source: error.into() },
            });
        }
        // INVARIANT(nothing-is-deleted-in-place): every rename is done and durable by now.
        transaction
            .delete(before_step)
            .map_err(|source| CleanupError::Incomplete { transaction: path, source: source.into() })
    }

    fn finish_interrupted(
        &self,
        scope: CleanupScope,
        before_step: &mut Observer<'_>,
    ) -> Result<(), CleanupError> {
        if scope == CleanupScope::All
            && let Err(StoreError::Corrupt { .. }) = self.root.try_open_dir(layout::CLEANUP)
        {
            self.root.remove_file(layout::CLEANUP)?;
        }
        for (name, dir) in transaction::unfinished(&self.root, scope, Denied::Reclaimed)? {
            let path = self.root.child_path(layout::CLEANUP).join(&name);
            let outcome = if dir.is_some() {
                Transaction::resume(&self.root, name).and_then(|transaction| transaction.delete(before_step))
            } else {
                // No directory: nothing of ours is recorded there.
                Kind::Delete.ask(&path, before_step).and_then(|()| {
                    let cleanup = self.root.open_dir(layout::CLEANUP)?;
                    tree::remove(&cleanup, &name)
                })
            };
            outcome
                .map_err(|source| CleanupError::Incomplete { transaction: path, source: source.into() })?;
        }
        Ok(())
    }
}
