//! One directory below `cleanup/`, laid out like the store, that data is moved into before it
//! is deleted.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::super::denied::Denied;
use super::super::dir::Dir;
use super::super::error::StoreError;
use super::super::layout;
use super::super::tree;
use super::scope::CleanupScope;
use super::step::{CleanupStepKind as Kind, Observer};
use super::survey::{Target, targets};
use crate::domain::invocation_id::InvocationId;

/// A transaction and what was moved into it.
pub(super) struct Transaction {
    cleanup: Dir,
    name: OsString,
    dir: Dir,
    moved: Vec<Target>,
}

/// The unfinished transactions that `scope` covers, by name. What is no directory has none to
/// open, but is to be deleted all the same.
pub(super) fn unfinished(
    root: &Dir,
    scope: CleanupScope,
    denied: Denied,
) -> Result<Vec<(OsString, Option<Dir>)>, StoreError> {
    let cleanup = match root.try_open_dir(layout::CLEANUP) {
        Ok(Some(cleanup)) => cleanup,
        Ok(None) => return Ok(Vec::new()),
        Err(StoreError::Corrupt { .. }) if scope == CleanupScope::All => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in cleanup.entries()?.into_iter().filter(|entry| scope.covers_transaction(&entry.name)) {
        let dir = denied.open_if_directory(&cleanup, &entry.name)?;
        found.push((entry.name, dir));
    }
    Ok(found)
}

impl Transaction {
    /// Creates the transaction; its name records the target.
    pub fn begin(
        root: &Dir,
        scope: CleanupScope,
        id: InvocationId,
        observer: &mut Observer<'_>,
    ) -> Result<Self, StoreError> {
        let name = scope.transaction_name(id);
        Kind::Begin.ask(&root.child_path(layout::CLEANUP).join(&name), observer)?;
        let cleanup = root.ensure_dir(layout::CLEANUP)?;
        let dir = cleanup.create_dir(&name)?;
        let transaction = Self { cleanup, name: name.into(), dir, moved: Vec::new() };
        match transaction.cleanup.sync() {
            Ok(()) => Ok(transaction),
            Err(error) => {
                transaction.discard();
                Err(error)
            }
        }
    }

    /// Takes up one that an earlier cleanup left behind.
    pub fn resume(root: &Dir, name: OsString) -> Result<Self, StoreError> {
        let cleanup = root.open_dir(layout::CLEANUP)?;
        cleanup.reclaim(&name);
        let dir = cleanup.open_dir(&name)?;
        Ok(Self { cleanup, name, dir, moved: Vec::new() })
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.cleanup.child_path(&self.name)
    }

    /// Moves one target out of `root` into the transaction.
    pub fn take(
        &mut self,
        root: &Dir,
        target: Target,
        observer: &mut Observer<'_>,
    ) -> Result<(), StoreError> {
        Kind::Move.ask(&target_path(root, &target), observer)?;
        rename(root, &self.dir, &target)?;
        self.moved.push(target);
        Ok(())
    }

    /// Makes everything moved stay moved, whatever happens to the machine.
    pub fn seal(&self, root: &Dir, observer: &mut Observer<'_>) -> Result<(), StoreError> {
        Kind::Seal.ask(self.dir.path(), observer)?;
        for base in [root, &self.dir] {
            let mut areas: Vec<_> = self.moved.iter().map(|target| target.area).collect();
            areas.dedup();
            for area in areas {
                if let Some(area) = Denied::Refused.open_if_directory(base, area.as_ref())? {
                    area.sync()?;
                }
            }
            base.sync()?;
        }
        Ok(())
    }

    /// Moves everything back, last first, and gives up the transaction.
    pub fn undo(mut self, root: &Dir, observer: &mut Observer<'_>) -> Result<(), StoreError> {
        while let Some(target) = self.moved.pop() {
            Kind::Undo.ask(&target_path(root, &target), observer)?;
            rename(&self.dir, root, &target)?;
        }
        self.discard();
        Ok(())
    }

    /// Deletes everything in the transaction, item by item, and then the transaction.
    pub fn delete(self, observer: &mut Observer<'_>) -> Result<(), StoreError> {
        for Target { area, name } in targets(&self.dir, CleanupScope::All)? {
            let Some(name) = name else {
                Kind::Delete.ask(&self.dir.child_path(area), observer)?;
                tree::remove(&self.dir, area.as_ref())?;
                continue;
            };
            let dir = self.dir.open_dir(area)?;
            if let Some(owner) = Denied::Reclaimed.open_if_directory(&dir, &name)? {
                for entry in owner.entries()? {
                    Kind::Delete.ask(&owner.child_path(&entry.name), observer)?;
                    tree::remove(&owner, &entry.name)?;
                }
            }
            tree::remove(&dir, &name)?;
        }
        Kind::End.ask(self.dir.path(), observer)?;
        tree::remove(&self.cleanup, &self.name)?;
        self.cleanup.sync()
    }

    /// Removes a transaction that holds nothing. One that stays is deleted by a later cleanup.
    fn discard(self) {
        let _ = tree::remove(&self.cleanup, &self.name).and_then(|()| self.cleanup.sync());
    }
}

fn target_path(root: &Dir, target: &Target) -> PathBuf {
    let area = root.child_path(target.area);
    target.name.as_ref().map_or_else(|| area.clone(), |name| area.join(name))
}

/// Moves a target from one root laid out like the store to another.
fn rename(from: &Dir, to: &Dir, target: &Target) -> Result<(), StoreError> {
    let Target { area, name } = target;
    let (source, destination, name): (_, _, &OsStr) = match name {
        Some(name) => (from.open_dir(area)?, to.ensure_dir(area)?, name),
        None => (from.reopen()?, to.reopen()?, area.as_ref()),
    };
    // One that cannot be written cannot be moved.
    source.reclaim(name);
    if source.rename_if_free(name, &destination, name)? {
        return Ok(());
    }
    Err(destination.corrupt(name, "something of that name is in the way"))
}
