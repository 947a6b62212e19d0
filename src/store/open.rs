//! Opening and creating the store directory itself.
//!
//! A directory is an Analysis Store when its `store.json` says so, in a layout version this
//! program knows; it must belong to the effective user and be closed to everybody else.
//! Anything else that is not an empty directory is refused, never adopted. Creation is
//! atomic: a crash leaves an empty directory or a store.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode};
use rustix::io::Errno;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dir::Dir;
use super::error::StoreError;
use super::hashing::read_bounded;
use super::io::{At as _, Operation};
use super::layout;
use super::lock::LockScope;
use super::resolve::StoreLocation;

/// The one store layout this program reads and writes.
pub const LAYOUT_VERSION: u32 = 1;
/// Most bytes of `store.json` that are read.
const RECORD_LIMIT_BYTES: u64 = 4_096;
/// How often, and how long after each other, a process that meets another one writing that file looks again.
const RECORD_ATTEMPTS: u32 = 200;
const RECORD_PAUSE: Duration = Duration::from_millis(5);
/// When a caller that met it all the same may try again, in seconds.
const BUSY_RETRY_SECONDS: u64 = 1;

/// Marks the document as ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoreRecordKind {
    /// The only kind.
    AnalysisStore,
}

/// The document `store.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreRecord {
    /// Always `analysis_store`.
    pub kind: StoreRecordKind,
    /// Version of the directory layout.
    #[schemars(extend("const" = LAYOUT_VERSION))]
    pub layout_version: u32,
}

/// An open Analysis Store. Files inside it are reachable only through its methods.
#[derive(Debug)]
pub struct Store {
    pub(super) root: Dir,
    location: StoreLocation,
}

impl Store {
    /// Opens the store, creating it when its directory is missing or empty.
    pub fn open_or_create(location: &StoreLocation) -> Result<Self, StoreError> {
        let root = match Dir::open_root(&location.path)? {
            Some(root) => root,
            None => create_root(location)?,
        };
        check_owner(&root)?;
        if !has_record(&root)? {
            create_record(&root)?;
        }
        Self::from_root(root, location)
    }

    /// Opens the store without writing anything; `None` when there is no store yet.
    pub fn open_existing(location: &StoreLocation) -> Result<Option<Self>, StoreError> {
        let Some(root) = Dir::open_root(&location.path)? else { return Ok(None) };
        check_owner(&root)?;
        if !has_record(&root)? {
            refuse_foreign_entries(&root)?;
            return Ok(None);
        }
        Self::from_root(root, location).map(Some)
    }

    /// Where the store is and which rule selected it.
    pub fn location(&self) -> &StoreLocation {
        &self.location
    }

    fn from_root(root: Dir, location: &StoreLocation) -> Result<Self, StoreError> {
        check_record(&root)?;
        check_mode(&root)?;
        Ok(Self { root, location: location.clone() })
    }
}

fn create_root(location: &StoreLocation) -> Result<Dir, StoreError> {
    let path = &location.path;
    DirBuilder::new()
        .recursive(true)
        .mode(super::dir::DIRECTORY_MODE.bits())
        .create(path)
        .at(Operation::Create, path)?;
    Dir::open_root(path)?.ok_or_else(|| StoreError::Corrupt {
        path: path.clone(),
        reason: "the directory vanished while it was created".to_owned(),
    })
}

fn check_owner(root: &Dir) -> Result<(), StoreError> {
    let owner_uid = root.metadata()?.st_uid;
    let effective_uid = rustix::process::geteuid().as_raw();
    if owner_uid == effective_uid {
        return Ok(());
    }
    Err(StoreError::WrongOwner { path: root.path().to_path_buf(), owner_uid, effective_uid })
}

fn check_mode(root: &Dir) -> Result<(), StoreError> {
    let mode = Mode::from_raw_mode(root.metadata()?.st_mode);
    if mode.intersects(Mode::RWXG | Mode::RWXO) {
        return Err(StoreError::InsecureMode { path: root.path().to_path_buf(), mode: mode.bits() & 0o7777 });
    }
    Ok(())
}

fn has_record(root: &Dir) -> Result<bool, StoreError> {
    Ok(root.stat(layout::STORE_RECORD)?.is_some())
}

fn refuse_foreign_entries(root: &Dir) -> Result<(), StoreError> {
    match root.entries()?.into_iter().find(|entry| entry.name != layout::STORE_RECORD_PENDING) {
        None => Ok(()),
        Some(entry) => Err(StoreError::NotAStore {
            path: root.path().to_path_buf(),
            reason: format!("it holds '{}' but no store.json", PathBuf::from(entry.name).display()),
        }),
    }
}

fn create_record(root: &Dir) -> Result<(), StoreError> {
    // Two processes may meet here; the loser finds the winner's record.
    lock_for_a_moment(root)?;
    let outcome = create_record_locked(root);
    rustix::fs::flock(root, FlockOperation::Unlock).at(Operation::Lock, root.path())?;
    outcome
}

/// Whoever holds this lock writes one small file; one that is stopped meanwhile must not stop everybody.
fn lock_for_a_moment(root: &Dir) -> Result<(), StoreError> {
    for _ in 0..RECORD_ATTEMPTS {
        match rustix::fs::flock(root, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::sleep(RECORD_PAUSE),
            outcome => return outcome.at(Operation::Lock, root.path()),
        }
    }
    Err(StoreError::Busy { scope: LockScope::Store, retry_after_seconds: BUSY_RETRY_SECONDS })
}

fn create_record_locked(root: &Dir) -> Result<(), StoreError> {
    if has_record(root)? {
        return Ok(());
    }
    refuse_foreign_entries(root)?;
    root.restrict()?;
    root.remove_file(layout::STORE_RECORD_PENDING)?;
    let record = StoreRecord { kind: StoreRecordKind::AnalysisStore, layout_version: LAYOUT_VERSION };
    let mut bytes = serde_json::to_vec(&record).map_err(|error| StoreError::CanonicalJson(error.into()))?;
    bytes.push(b'\n');
    root.write_new_file(layout::STORE_RECORD_PENDING, &bytes)?;
    root.rename(layout::STORE_RECORD_PENDING.as_ref(), root, layout::STORE_RECORD.as_ref())?;
    root.sync()
}

fn check_record(root: &Dir) -> Result<(), StoreError> {
    let foreign = |reason: String| StoreError::NotAStore { path: root.path().to_path_buf(), reason };
    let bytes = read_bounded(root, layout::STORE_RECORD, RECORD_LIMIT_BYTES)?;
    let value: serde_json::Value = serde_json::from_slice(&bytes)
        .map_err(|error| foreign(format!("its store.json is not a store record: {error}")))?;
    if value.get("kind").and_then(|kind| kind.as_str()) != Some("analysis_store") {
        return Err(foreign("its store.json is not a store record".to_owned()));
    }
    match value.get("layout_version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(LAYOUT_VERSION) => Ok(()),
        Some(found) => Err(StoreError::UnknownLayout {
            path: root.path().to_path_buf(),
            found,
            supported: LAYOUT_VERSION,
        }),
        None => Err(foreign("its store.json names no layout version".to_owned())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::store_source::StoreSource;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    fn location(path: &Path) -> StoreLocation {
        StoreLocation { path: path.to_path_buf(), source: StoreSource::Cli }
    }

    fn chmod(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_missing_directory_becomes_a_private_store() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b/store");
        assert!(Store::open_existing(&location(&path)).unwrap().is_none());
        assert!(!path.exists());
        Store::open_or_create(&location(&path)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o700);
        let record = path.join("store.json");
        assert_eq!(std::fs::metadata(&record).unwrap().permissions().mode() & 0o7777, 0o600);
        assert_eq!(
            std::fs::read_to_string(record).unwrap(),
            "{\"kind\":\"analysis_store\",\"layout_version\":1}\n"
        );
        assert!(Store::open_existing(&location(&path)).unwrap().is_some());
    }

    #[test]
    fn an_empty_directory_and_an_interrupted_creation_are_completed() {
        let temp = tempfile::tempdir().unwrap();
        chmod(temp.path(), 0o755);
        std::fs::write(temp.path().join("store.json.new"), b"{\"ki").unwrap();
        assert!(Store::open_existing(&location(temp.path())).unwrap().is_none());
        Store::open_or_create(&location(temp.path())).unwrap();
        assert_eq!(std::fs::metadata(temp.path()).unwrap().permissions().mode() & 0o7777, 0o700);
        assert!(!temp.path().join("store.json.new").exists());
    }

    #[test]
    fn a_foreign_directory_is_refused_and_left_as_it_was() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("thesis.tex"), b"x").unwrap();
        for outcome in [
            Store::open_or_create(&location(temp.path())).map(Some),
            Store::open_existing(&location(temp.path())),
        ] {
            assert!(matches!(outcome, Err(StoreError::NotAStore { .. })));
        }
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_in_place_of_the_store_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        std::fs::write(&path, b"").unwrap();
        assert!(matches!(Store::open_or_create(&location(&path)), Err(StoreError::NotAStore { .. })));
    }

    #[test]
    fn foreign_and_future_store_records_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let open = |record: &str| {
            std::fs::write(temp.path().join("store.json"), record).unwrap();
            Store::open_or_create(&location(temp.path()))
        };
        let future = open(r#"{"kind":"analysis_store","layout_version":2,"new":true}"#);
        assert!(matches!(future, Err(StoreError::UnknownLayout { found: 2, supported: 1, .. })));
        for record in ["", "{}", "[]", r#"{"layout_version":1}"#, r#"{"kind":"analysis_store"}"#] {
            assert!(matches!(open(record), Err(StoreError::NotAStore { .. })), "{record}");
        }
    }

    #[test]
    fn a_store_open_to_others_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        Store::open_or_create(&location(temp.path())).unwrap();
        for mode in [0o750, 0o701, 0o707] {
            chmod(temp.path(), mode);
            for outcome in [
                Store::open_or_create(&location(temp.path())).map(Some),
                Store::open_existing(&location(temp.path())),
            ] {
                assert!(
                    matches!(outcome, Err(StoreError::InsecureMode { mode: found, .. }) if found == mode)
                );
            }
        }
    }

    #[test]
    fn the_record_is_never_read_through_a_link() {
        let temp = tempfile::tempdir().unwrap();
        let other = temp.path().join("other.json");
        std::fs::write(&other, r#"{"kind":"analysis_store","layout_version":1}"#).unwrap();
        let store = temp.path().join("store");
        std::fs::create_dir(&store).unwrap();
        chmod(&store, 0o700);
        std::os::unix::fs::symlink(&other, store.join("store.json")).unwrap();
        assert!(matches!(Store::open_or_create(&location(&store)), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let path = if is_root {
            std::os::unix::fs::chown(temp.path(), Some(1), None).unwrap();
            temp.path()
        } else {
            Path::new("/")
        };
        for outcome in
            [Store::open_or_create(&location(path)).map(Some), Store::open_existing(&location(path))]
        {
            assert!(matches!(outcome, Err(StoreError::WrongOwner { .. })));
        }
    }

    #[test]
    fn concurrent_creators_agree() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("store");
        std::thread::scope(|scope| {
            let handles: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Store::open_or_create(&location(&path)).map(drop))).collect();
            for handle in handles {
                handle.join().unwrap().unwrap();
            }
        });
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1);
    }
}
