//! The three locks of decision D4: store, then Sample, then Analysis basis.
//!
//! They are `flock` locks on files outside the data, so the kernel releases them when their
//! holder dies, and promotion or quarantine cannot move them. The order is in the types: a
//! Sample lock is made from a store lock, a basis lock from a Sample lock. No call blocks.
//! Guards are cheap to clone; a lock lasts until the last thing made under it is dropped.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::dir::{Dir, FILE_MODE};
use super::error::StoreError;
use super::io::{At as _, Operation};
use super::layout;
use super::open::Store;
use crate::domain::digest::{BasisDigest, SampleDigest};

/// When to retry after meeting a builder, in seconds: a small Analysis takes about this long.
const BUILDER_RETRY_SECONDS: u64 = 10;
/// When to retry after meeting a cleaner, in seconds.
const CLEANER_RETRY_SECONDS: u64 = 1;
/// How often a lock file may vanish between opening and locking before that counts as busy.
const STALE_FILE_ATTEMPTS: u32 = 64;

/// Which lock was held by somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockScope {
    /// The whole store: `clean --all` is running.
    Store,
    /// One Sample: it is being cleaned.
    Sample,
    /// One Analysis: it is being built.
    Analysis,
}

impl fmt::Display for LockScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Store => "store",
            Self::Sample => "sample",
            Self::Analysis => "analysis",
        })
    }
}

/// One held lock; `None` on a read-only store that never had the file, where nobody can be
/// writing either.
type Held = Arc<Option<OwnedFd>>;

/// The store is in use: nobody can remove it as a whole.
#[derive(Debug, Clone)]
pub struct StoreLock {
    _store: Held,
}

/// The Sample's data is in use: nobody can clean it.
#[derive(Debug, Clone)]
pub struct SampleLock {
    store: StoreLock,
    sample: SampleDigest,
    _sample: Held,
}

/// Shared use of one Analysis: nobody builds, quarantines or cleans it.
#[derive(Debug, Clone)]
pub struct ReadGuard {
    sample: SampleLock,
    basis: BasisDigest,
    _basis: Held,
}

/// Exclusive use of one Analysis: the holder alone builds or quarantines it.
#[derive(Debug, Clone)]
pub struct BuildGuard {
    sample: SampleLock,
    basis: BasisDigest,
    _basis: Held,
}

/// Proof that at least the store lock is held.
pub trait HoldsStoreLock {
    /// The store lock.
    fn store_lock(&self) -> &StoreLock;
}

/// Proof that one Analysis is held, shared or exclusively.
pub trait HoldsAnalysisLock {
    /// The Sample lock it was made from.
    fn sample_lock(&self) -> &SampleLock;
    /// Sample of the Analysis.
    fn sample(&self) -> SampleDigest {
        self.sample_lock().sample
    }
    /// Basis of the Analysis.
    fn basis(&self) -> BasisDigest;
    /// The same lock as something to keep alive with what is made under it.
    fn keep(&self) -> AnalysisLock;
}

/// Either guard, kept alive by what was made under it.
#[derive(Debug, Clone)]
pub enum AnalysisLock {
    /// Held shared.
    Read(ReadGuard),
    /// Held exclusively.
    Build(BuildGuard),
}

impl Store {
    /// Takes the store lock, shared.
    pub fn lock(&self) -> Result<StoreLock, StoreError> {
        self.lock_store(Access::Shared)
    }

    pub(super) fn lock_store(&self, access: Access) -> Result<StoreLock, StoreError> {
        let dir = self.lock_dir()?;
        let held = acquire(dir.as_ref(), layout::STORE_LOCK, LockScope::Store, access)?;
        Ok(StoreLock { _store: Arc::new(held) })
    }

    /// Takes the three locks of a reader.
    pub fn read_lock(&self, sample: SampleDigest, basis: BasisDigest) -> Result<ReadGuard, StoreError> {
        let (sample, held) = self.lock_analysis(sample, basis, Access::Shared)?;
        Ok(ReadGuard { sample, basis, _basis: Arc::new(held) })
    }

    /// Takes the three locks of a builder. Drop every [`ReadGuard`] on the same Analysis
    /// first, and look the Analysis up again afterwards: another builder may have finished.
    pub fn build_lock(&self, sample: SampleDigest, basis: BasisDigest) -> Result<BuildGuard, StoreError> {
        let (sample, held) = self.lock_analysis(sample, basis, Access::Exclusive)?;
        Ok(BuildGuard { sample, basis, _basis: Arc::new(held) })
    }

    fn lock_analysis(
        &self,
        sample: SampleDigest,
        basis: BasisDigest,
        access: Access,
    ) -> Result<(SampleLock, Option<OwnedFd>), StoreError> {
        let sample = self.lock_sample(self.lock()?, sample, Access::Shared)?;
        let dir = self.sample_lock_dir(sample.sample)?;
        let held = acquire(dir.as_ref(), &format!("{basis}.lock"), LockScope::Analysis, access)?;
        Ok((sample, held))
    }

    pub(super) fn lock_sample(
        &self,
        store: StoreLock,
        sample: SampleDigest,
        access: Access,
    ) -> Result<SampleLock, StoreError> {
        let dir = self.sample_lock_dir(sample)?;
        let held = acquire(dir.as_ref(), layout::SAMPLE_LOCK, LockScope::Sample, access)?;
        Ok(SampleLock { store, sample, _sample: Arc::new(held) })
    }

    fn lock_dir(&self) -> Result<Option<Dir>, StoreError> {
        ensure_unless_read_only(&self.root, layout::LOCKS)
    }

    fn sample_lock_dir(&self, sample: SampleDigest) -> Result<Option<Dir>, StoreError> {
        match self.lock_dir()? {
            Some(locks) => ensure_unless_read_only(&locks, &sample.to_string()),
            None => Ok(None),
        }
    }
}

/// How a lock is held.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// Together with others.
    Shared,
    /// Alone.
    Exclusive,
}

fn ensure_unless_read_only(parent: &Dir, name: &str) -> Result<Option<Dir>, StoreError> {
    match parent.ensure_dir(name) {
        Ok(dir) => Ok(Some(dir)),
        Err(StoreError::Unwritable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens and locks `name`, making sure that the file locked is the file of that name: a
/// cleaner unlinks lock files while holding them.
fn acquire(
    dir: Option<&Dir>,
    name: &str,
    scope: LockScope,
    access: Access,
) -> Result<Option<OwnedFd>, StoreError> {
    let Some(dir) = dir else { return unlockable(access, name.into()) };
    let operation = match access {
        Access::Shared => FlockOperation::NonBlockingLockShared,
        Access::Exclusive => FlockOperation::NonBlockingLockExclusive,
    };
    let path = dir.child_path(name);
    for _ in 0..STALE_FILE_ATTEMPTS {
        let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(dir, name, flags, FILE_MODE) {
            Ok(fd) => fd,
            Err(Errno::ROFS | Errno::ACCESS) => match open_read_only(dir, name)? {
                Some(fd) => fd,
                None => return unlockable(access, path),
            },
            Err(Errno::LOOP) => return Err(dir.corrupt(name, "expected a lock file")),
            Err(Errno::NOENT) => return Err(busy(scope, access)),
            Err(error) => return Err(error).at(Operation::Create, &path),
        };
        match rustix::fs::flock(&fd, operation) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(busy(scope, access)),
            Err(error) => return Err(error).at(Operation::Lock, &path),
        }
        let locked = rustix::fs::fstat(&fd).at(Operation::Read, &path)?;
        let named = dir.stat(name)?;
        if named.is_some_and(|named| (named.st_dev, named.st_ino) == (locked.st_dev, locked.st_ino)) {
            return Ok(Some(fd));
        }
    }
    Err(busy(scope, access))
}

fn open_read_only(dir: &Dir, name: &str) -> Result<Option<OwnedFd>, StoreError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP) => Err(dir.corrupt(name, "expected a lock file")),
        Err(error) => Err(error).at(Operation::Open, &dir.child_path(name)),
    }
}

/// A reader needs no lock where nobody can write; a builder cannot work there.
fn unlockable(access: Access, path: PathBuf) -> Result<Option<OwnedFd>, StoreError> {
    match access {
        Access::Shared => Ok(None),
        Access::Exclusive => {
            Err(StoreError::Unwritable { path, operation: Operation::Create, source: Errno::ROFS.into() })
        }
    }
}

/// A reader or builder of one level meets a cleaner, except on an Analysis, where it meets a
/// builder; a cleaner may meet a builder on every level.
fn busy(scope: LockScope, access: Access) -> StoreError {
    let retry_after_seconds = match (scope, access) {
        (LockScope::Store | LockScope::Sample, Access::Shared) => CLEANER_RETRY_SECONDS,
        (LockScope::Analysis, _) | (_, Access::Exclusive) => BUILDER_RETRY_SECONDS,
    };
    StoreError::Busy { scope, retry_after_seconds }
}

impl HoldsStoreLock for StoreLock {
    fn store_lock(&self) -> &StoreLock {
        self
    }
}

impl<T: HoldsAnalysisLock> HoldsStoreLock for T {
    fn store_lock(&self) -> &StoreLock {
        &self.sample_lock().store
    }
}

impl HoldsAnalysisLock for ReadGuard {
    fn sample_lock(&self) -> &SampleLock {
        &self.sample
    }

    fn basis(&self) -> BasisDigest {
        self.basis
    }

    fn keep(&self) -> AnalysisLock {
        AnalysisLock::Read(self.clone())
    }
}

impl HoldsAnalysisLock for AnalysisLock {
    fn sample_lock(&self) -> &SampleLock {
        match self {
            Self::Read(guard) => &guard.sample,
            Self::Build(guard) => &guard.sample,
        }
    }

    fn basis(&self) -> BasisDigest {
        match self {
            Self::Read(guard) => guard.basis,
            Self::Build(guard) => guard.basis,
        }
    }

    fn keep(&self) -> AnalysisLock {
        self.clone()
    }
}

impl HoldsAnalysisLock for BuildGuard {
    fn sample_lock(&self) -> &SampleLock {
        &self.sample
    }

    fn basis(&self) -> BasisDigest {
        self.basis
    }

    fn keep(&self) -> AnalysisLock {
        AnalysisLock::Build(self.clone())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::TestStore;
    use std::os::unix::fs::PermissionsExt as _;

    const BASIS: BasisDigest = BasisDigest::from_bytes([3; 32]);
    const OTHER_BASIS: BasisDigest = BasisDigest::from_bytes([4; 32]);
    const SAMPLE: SampleDigest = SampleDigest::from_bytes([5; 32]);

    fn is_busy<T: fmt::Debug>(outcome: Result<T, StoreError>, expected: LockScope) -> bool {
        matches!(outcome, Err(StoreError::Busy { scope, .. }) if scope == expected)
    }

    #[test]
    fn readers_share_and_exclude_builders() {
        let test = TestStore::new();
        let other = test.reopen();
        let first = test.store.read_lock(SAMPLE, BASIS).unwrap();
        let second = other.read_lock(SAMPLE, BASIS).unwrap();
        assert!(is_busy(other.build_lock(SAMPLE, BASIS), LockScope::Analysis));
        drop(first);
        assert!(is_busy(test.store.build_lock(SAMPLE, BASIS), LockScope::Analysis));
        drop(second);
        test.store.build_lock(SAMPLE, BASIS).unwrap();
    }

    #[test]
    fn a_builder_excludes_everyone_on_its_analysis_only() {
        let test = TestStore::new();
        let other = test.reopen();
        let guard = test.store.build_lock(SAMPLE, BASIS).unwrap();
        assert!(is_busy(other.read_lock(SAMPLE, BASIS), LockScope::Analysis));
        assert!(is_busy(other.build_lock(SAMPLE, BASIS), LockScope::Analysis));
        other.build_lock(SAMPLE, OTHER_BASIS).unwrap();
        other.read_lock(SampleDigest::from_bytes([6; 32]), BASIS).unwrap();
        let clone = guard.clone();
        drop(guard);
        assert!(is_busy(other.read_lock(SAMPLE, BASIS), LockScope::Analysis));
        drop(clone);
        other.read_lock(SAMPLE, BASIS).unwrap();
    }

    /// Holds a lock file exclusively, as a cleaner does.
    fn clean_lock(test: &TestStore, path: &str) -> OwnedFd {
        let fd = OwnedFd::from(std::fs::File::open(test.path().join("locks").join(path)).unwrap());
        rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive).unwrap();
        fd
    }

    #[test]
    fn cleaners_exclude_readers_at_their_level() {
        let test = TestStore::new();
        drop(test.store.read_lock(SAMPLE, BASIS).unwrap());
        let held = clean_lock(&test, "store.lock");
        assert!(is_busy(test.store.lock(), LockScope::Store));
        assert!(is_busy(test.store.read_lock(SAMPLE, BASIS), LockScope::Store));
        drop(held);
        let held = clean_lock(&test, &format!("{SAMPLE}/sample.lock"));
        test.store.lock().unwrap();
        assert!(is_busy(test.store.read_lock(SAMPLE, BASIS), LockScope::Sample));
        drop(held);
        test.store.read_lock(SAMPLE, BASIS).unwrap();
    }

    #[test]
    fn a_lock_file_unlinked_by_its_holder_is_never_what_gets_locked() {
        let test = TestStore::new();
        let first = test.store.build_lock(SAMPLE, BASIS).unwrap();
        let path = test.path().join(format!("locks/{SAMPLE}/{BASIS}.lock"));
        std::fs::remove_file(&path).unwrap();
        let second = test.store.build_lock(SAMPLE, BASIS).unwrap();
        assert!(path.exists());
        drop(first);
        assert!(is_busy(test.reopen().read_lock(SAMPLE, BASIS), LockScope::Analysis));
        drop(second);
    }

    #[test]
    fn builders_in_a_crowd_are_alone() {
        let test = TestStore::new();
        let inside = std::sync::atomic::AtomicU32::new(0);
        let built = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let store = test.reopen();
                    for _ in 0..200 {
                        let Ok(guard) = store.build_lock(SAMPLE, BASIS) else { continue };
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        built.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        // Unlinked last, under its own lock, as a cleaner would.
                        let path = test.path().join(format!("locks/{SAMPLE}/{BASIS}.lock"));
                        std::fs::remove_file(path).unwrap();
                        drop(guard);
                    }
                });
            }
        });
        assert!(built.into_inner() > 0);
    }

    #[test]
    fn a_link_in_place_of_a_lock_file_is_corruption() {
        let test = TestStore::new();
        drop(test.store.lock().unwrap());
        let path = test.path().join("locks/store.lock");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(test.store.lock(), Err(StoreError::Corrupt { .. })));
        assert!(!test.path().join("locks/elsewhere").exists());
    }

    #[test]
    fn locks_are_private_files_below_locks() {
        let test = TestStore::new();
        drop(test.store.read_lock(SAMPLE, BASIS).unwrap());
        for path in
            ["store.lock".to_owned(), format!("{SAMPLE}/sample.lock"), format!("{SAMPLE}/{BASIS}.lock")]
        {
            let metadata = std::fs::metadata(test.path().join("locks").join(path)).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
        }
    }
}
