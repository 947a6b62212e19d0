//! Private working directories below `staging/`, and their sweeping.
//!
//! A directory there belongs to whoever holds the `flock` on the directory itself; the
//! kernel frees it when the owner dies. The owner removes it when dropped; a directory whose
//! lock is free is an orphan that [`Store::sweep_orphans`] removes. A live one is never
//! touched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, FlockOperation};
use rustix::io::Errno;

use super::dir::Dir;
use super::error::StoreError;
use super::io::{At as _, Operation};
use super::layout;
use super::lock::{HoldsStoreLock, StoreLock};
use super::open::Store;
use super::tree;
use crate::domain::invocation_files::REQUEST;
use crate::domain::invocation_id::InvocationId;

/// How often a sweeper may snatch the directory between its creation and its locking.
const CREATE_ATTEMPTS: u32 = 100;
/// Pause after each such meeting.
const CREATE_PAUSE: Duration = Duration::from_millis(1);

/// A locked directory below `staging/` that vanishes when dropped.
#[derive(Debug)]
pub(super) struct StagingDir {
    parent: Dir,
    name: String,
    pub dir: Dir,
    _store: StoreLock,
}

impl StagingDir {
    pub fn create(store: &Store, lock: &impl HoldsStoreLock, name: String) -> Result<Self, StoreError> {
        let parent = store.root.ensure_dir(layout::STAGING)?;
        let dir = create_locked(&parent, &name)?;
        Ok(Self { parent, name, dir, _store: lock.store_lock().clone() })
    }

    /// A directory of its own for something that is published right away.
    pub fn create_unnamed(store: &Store, lock: &impl HoldsStoreLock) -> Result<Self, StoreError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| std::io::Error::other(error.to_string()))
            .at(Operation::Create, store.root.path())?;
        Self::create(store, lock, InvocationId::from_bytes(bytes).to_string())
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        // What cannot be removed now is an orphan once the lock is gone.
        let _ = tree::remove_contents(&self.dir).and_then(|()| self.parent.remove_empty_dir(&self.name));
    }
}

fn create_locked(parent: &Dir, name: &str) -> Result<Dir, StoreError> {
    let path = parent.child_path(name);
    let mut outcome = Err(Errno::EXIST);
    for _ in 0..CREATE_ATTEMPTS {
        outcome = rustix::fs::mkdirat(parent, name, super::dir::DIRECTORY_MODE);
        match outcome {
            Ok(()) => {
                if let Some(dir) = lock_created(parent, name)? {
                    return Ok(dir);
                }
            }
            Err(Errno::EXIST) => {}
            Err(_) => break,
        }
        std::thread::sleep(CREATE_PAUSE);
    }
    outcome.and(Err(Errno::EXIST)).at(Operation::Create, &path)
}

/// Locks the new directory, unless a sweeper was faster.
fn lock_created(parent: &Dir, name: &str) -> Result<Option<Dir>, StoreError> {
    let Some(dir) = parent.try_open_dir(name)? else { return Ok(None) };
    let owned = try_own(parent, name, &dir)?;
    Ok(owned.then_some(dir))
}

/// Whether the lock on `dir` is now ours and `name` still leads to it.
fn try_own(parent: &Dir, name: &str, dir: &Dir) -> Result<bool, StoreError> {
    match rustix::fs::flock(dir, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(false),
        Err(error) => return Err(error).at(Operation::Lock, dir.path()),
    }
    let owned = dir.metadata()?;
    let named = parent.stat(name)?;
    Ok(named.is_some_and(|named| (named.st_dev, named.st_ino) == (owned.st_dev, owned.st_ino)))
}

/// The working directory of one invocation that runs a worker.
#[derive(Debug)]
pub struct Staging {
    pub(super) base: StagingDir,
    invocation_id: InvocationId,
}

impl Staging {
    /// The invocation it belongs to.
    pub const fn invocation_id(&self) -> InvocationId {
        self.invocation_id
    }

    /// Where request and response are exchanged.
    pub fn invocation_directory(&self) -> PathBuf {
        self.base.dir.child_path(layout::INVOCATION)
    }

    /// Where the staged Sample is, once there is one.
    pub fn sample_path(&self) -> PathBuf {
        self.base.dir.child_path(layout::SAMPLE).join(layout::SAMPLE)
    }

    /// Where the worker builds the project, or finds its private copy.
    pub fn project_directory(&self) -> PathBuf {
        self.base.dir.child_path(layout::ANALYSIS).join(layout::PROJECT)
    }

    /// Where the worker writes facts.
    pub fn facts_directory(&self) -> PathBuf {
        self.base.dir.child_path(layout::ANALYSIS).join(layout::FACTS)
    }

    /// Home of a worker that has no file system of its own.
    pub fn home_directory(&self) -> PathBuf {
        self.base.dir.child_path(layout::HOME)
    }

    /// Temporary directory of such a worker.
    pub fn temporary_directory(&self) -> PathBuf {
        self.base.dir.child_path(layout::TEMPORARY)
    }

    /// Where captured diagnostics are kept until they are published or dropped.
    pub fn logs_directory(&self) -> PathBuf {
        self.base.dir.child_path(layout::LOGS)
    }

    /// Hands the worker its request, complete or not at all.
    pub fn write_request(&self, bytes: &[u8]) -> Result<(), StoreError> {
        const PENDING: &str = "request.json.tmp";
        let invocation = self.base.dir.open_dir(layout::INVOCATION)?;
        invocation.write_new_file(PENDING, bytes)?;
        invocation.rename(PENDING.as_ref(), &invocation, REQUEST.as_ref())
    }

    /// Bytes that can still be written to the file system of the store.
    pub fn available_bytes(&self) -> Result<u64, StoreError> {
        let dir = &self.base.dir;
        let space = rustix::fs::fstatvfs(dir).at(Operation::Read, dir.path())?;
        Ok(space.f_bavail.saturating_mul(space.f_frsize))
    }

    /// Refuses what does not fit on the file system of the store and is to be written at `path`.
    pub(super) fn require_room(&self, required_bytes: u64, path: &Path) -> Result<(), StoreError> {
        let available_bytes = self.available_bytes()?;
        if available_bytes >= required_bytes {
            return Ok(());
        }
        Err(StoreError::NoSpace {
            path: path.to_path_buf(),
            required_bytes: Some(required_bytes),
            available_bytes: Some(available_bytes),
        })
    }

    /// Whether so many bytes, or one more file, do not fit on the file system of the store.
    pub fn lacks_room_for(&self, bytes: u64) -> Result<bool, StoreError> {
        let dir = &self.base.dir;
        let space = rustix::fs::fstatvfs(dir).at(Operation::Read, dir.path())?;
        // Some file systems do not count files and say zero of zero.
        let is_out_of_files = space.f_files > 0 && space.f_favail == 0;
        Ok(is_out_of_files || space.f_bavail.saturating_mul(space.f_frsize) < bytes)
    }

    /// Removes the staged Sample; nothing staged is no error.
    pub fn remove_sample(&self) -> Result<(), StoreError> {
        self.base.dir.open_dir(layout::SAMPLE)?.remove_file(layout::SAMPLE)
    }
}

impl Store {
    /// Creates the working directory of an invocation.
    pub fn begin_staging(
        &self,
        invocation_id: InvocationId,
        lock: &impl HoldsStoreLock,
    ) -> Result<Staging, StoreError> {
        let base = StagingDir::create(self, lock, invocation_id.to_string())?;
        for name in [layout::INVOCATION, layout::SAMPLE, layout::HOME, layout::TEMPORARY, layout::LOGS] {
            base.dir.create_dir(name)?;
        }
        let analysis = base.dir.create_dir(layout::ANALYSIS)?;
        analysis.create_dir(layout::PROJECT)?;
        analysis.create_dir(layout::FACTS)?;
        Ok(Staging { base, invocation_id })
    }

    /// Removes the staging directories of dead owners and says how many there were.
    pub fn sweep_orphans(&self, _lock: &impl HoldsStoreLock) -> Result<u64, StoreError> {
        let Some(staging) = self.root.try_open_dir(layout::STAGING)? else { return Ok(0) };
        let mut swept = 0;
        for entry in staging.entries()? {
            // Only what this program makes: directories named by an id.
            let Some(name) = entry.name.to_str().filter(|name| name.parse::<InvocationId>().is_ok()) else {
                continue;
            };
            if entry.kind != FileType::Directory {
                continue;
            }
            // A worker outside a sandbox may have taken away its owner's permissions.
            staging.reclaim(name);
            let Some(dir) = staging.try_open_dir(name)? else { continue };
            if try_own(&staging, name, &dir)? {
                tree::remove_contents(&dir)?;
                staging.remove_empty_dir(name)?;
                swept += 1;
            }
        }
        Ok(swept)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::{TestStore, id};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn every_staging_directory_exists_and_is_private() {
        let test = TestStore::new();
        let staging = test.store.begin_staging(id(1), &test.store.lock().unwrap()).unwrap();
        let root = test.path().join("staging").join(id(1).to_string());
        for path in [
            root.clone(),
            staging.invocation_directory(),
            staging.project_directory(),
            staging.facts_directory(),
            staging.home_directory(),
            staging.temporary_directory(),
            staging.logs_directory(),
            staging.sample_path().parent().unwrap().to_path_buf(),
        ] {
            assert!(path.starts_with(&root));
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o700, "{path:?}");
        }
    }

    #[test]
    fn dropping_removes_everything_even_unreadable_directories() {
        let test = TestStore::new();
        let staging = test.store.begin_staging(id(1), &test.store.lock().unwrap()).unwrap();
        let locked = staging.project_directory().join("locked");
        std::fs::create_dir(&locked).unwrap();
        std::fs::write(locked.join("file"), b"x").unwrap();
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o0)).unwrap();
        drop(staging);
        assert_eq!(std::fs::read_dir(test.path().join("staging")).unwrap().count(), 0);
    }

    #[test]
    fn sweeping_removes_orphans_and_never_a_live_directory() {
        let test = TestStore::new();
        let lock = test.store.lock().unwrap();
        let live = test.store.begin_staging(id(1), &lock).unwrap();
        std::fs::write(live.logs_directory().join("stdout"), b"x").unwrap();
        let staging = test.path().join("staging");
        let orphan = staging.join(id(2).to_string());
        std::fs::create_dir_all(orphan.join("analysis/project/deep")).unwrap();
        std::fs::write(orphan.join("analysis/project/deep/file"), b"x").unwrap();
        std::fs::write(staging.join("not-ours"), b"x").unwrap();
        assert_eq!(test.reopen().sweep_orphans(&lock).unwrap(), 1);
        assert!(!orphan.exists());
        assert!(staging.join("not-ours").exists());
        assert!(live.logs_directory().join("stdout").exists());
        assert_eq!(test.store.sweep_orphans(&lock).unwrap(), 0);
    }

    #[test]
    fn an_invocation_cannot_take_over_a_directory_of_its_name() {
        let test = TestStore::new();
        let lock = test.store.lock().unwrap();
        let _live = test.store.begin_staging(id(1), &lock).unwrap();
        assert!(matches!(test.store.begin_staging(id(1), &lock), Err(StoreError::Io { .. })));
    }

    #[test]
    fn creation_survives_sweepers_that_race_it() {
        let test = TestStore::new();
        let lock = test.store.lock().unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let store = test.reopen();
                    let lock = store.lock().unwrap();
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        store.sweep_orphans(&lock).unwrap();
                    }
                });
            }
            for round in 0..100 {
                let staging = test.store.begin_staging(id(round), &lock).unwrap();
                std::fs::write(staging.logs_directory().join("kept"), b"x").unwrap();
                assert!(staging.logs_directory().join("kept").exists());
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
