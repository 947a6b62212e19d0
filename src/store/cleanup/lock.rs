//! The exclusive locks of a cleaner (decision D4), and how lock files go.
//!
//! A cleaner of one Sample holds the store shared and the Sample exclusively; a cleaner of
//! everything holds the store exclusively. Whoever is in the way makes it fail at once.

use super::super::dir::Dir;
use super::super::error::StoreError;
use super::super::layout;
use super::super::lock::{Access, HoldsStoreLock, SampleLock, StoreLock};
use super::super::open::Store;
use super::super::tree;
use super::scope::CleanupScope;

/// Exclusive use of everything that a cleanup covers.
#[derive(Debug)]
pub struct CleanLock {
    scope: CleanupScope,
    store: StoreLock,
    _sample: Option<SampleLock>,
}

impl CleanLock {
    /// What it covers.
    pub const fn scope(&self) -> CleanupScope {
        self.scope
    }
}

impl HoldsStoreLock for CleanLock {
    fn store_lock(&self) -> &StoreLock {
        &self.store
    }
}

impl Store {
    /// Takes the locks of a cleaner, without waiting.
    pub fn clean_lock(&self, scope: CleanupScope) -> Result<CleanLock, StoreError> {
        let (store, sample) = match scope {
            CleanupScope::All => (self.lock_store(Access::Exclusive)?, None),
            CleanupScope::Sample(sample) => {
                let store = self.lock()?;
                let sample = self.lock_sample(store.clone(), sample, Access::Exclusive)?;
                (store, Some(sample))
            }
        };
        Ok(CleanLock { scope, store, _sample: sample })
    }

    /// Gives the locks back and removes their files, those below them included. A file that
    /// cannot be removed is harmless: it is locked again by whoever comes next.
    pub fn retire_locks(&self, lock: CleanLock) {
        let _ = self.remove_lock_files(lock.scope);
        drop(lock);
    }

    /// The file that is held goes last: from then on somebody else may lock its successor.
    fn remove_lock_files(&self, scope: CleanupScope) -> Result<(), StoreError> {
        let Some(locks) = self.root.try_open_dir(layout::LOCKS)? else { return Ok(()) };
        match scope {
            CleanupScope::All => remove_all_but(&locks, layout::STORE_LOCK)?,
            CleanupScope::Sample(sample) => {
                let name = sample.to_string();
                let Some(dir) = locks.try_open_dir(&name)? else { return Ok(()) };
                remove_all_but(&dir, layout::SAMPLE_LOCK)?;
                dir.remove_file(layout::SAMPLE_LOCK)?;
                return locks.remove_empty_dir(&name);
            }
        }
        locks.remove_file(layout::STORE_LOCK)
    }
}

fn remove_all_but(dir: &Dir, kept: &str) -> Result<(), StoreError> {
    for entry in dir.entries()?.into_iter().filter(|entry| entry.name != kept) {
        tree::remove(dir, &entry.name)?;
    }
    Ok(())
}
