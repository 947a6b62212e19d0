//! A directory of the store, held open: the only way this module reaches a file.
//!
//! Every operation takes one path component and goes through the descriptor with
//! `O_NOFOLLOW`, so neither a symbolic link inside tool-owned storage nor a renamed parent
//! can lead it elsewhere. A link where a file or directory belongs is corruption.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::error::StoreError;
use super::io::{At as _, Operation};

/// Mode of every directory of the store.
pub(super) const DIRECTORY_MODE: Mode = Mode::RWXU;
/// Mode of every file of the store.
pub(super) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// How often a directory may vanish between being created and being opened.
const ENSURE_ATTEMPTS: u32 = 64;

/// An open directory and the path it was reached by, for messages.
#[derive(Debug)]
pub(super) struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub name: OsString,
    pub kind: FileType,
}

impl Dir {
    /// Opens the root of a tree by path. Links on the way to it are the user's own.
    pub fn open_root(path: &Path) -> Result<Option<Self>, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, path: path.to_path_buf() })),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::NOTDIR) => Err(StoreError::NotAStore {
                path: path.to_path_buf(),
                reason: "it is not a directory".to_owned(),
            }),
            Err(error) => Err(error).at(Operation::Open, path),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn child_path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    pub fn corrupt(&self, name: impl AsRef<OsStr>, reason: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: self.child_path(name), reason: reason.into() }
    }

    /// Opens a subdirectory; `None` when there is nothing of that name.
    pub fn try_open_dir(&self, name: impl AsRef<OsStr>) -> Result<Option<Self>, StoreError> {
        let name = name.as_ref();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match open_on_this_mount(&self.fd, name, flags) {
            Ok(fd) => Ok(Some(Self { fd, path: self.child_path(name) })),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => Err(self.corrupt(name, "expected a directory")),
            Err(Errno::XDEV) => Err(self.corrupt(name, "something else is mounted here")),
            Err(error) => Err(error).at(Operation::Open, &self.child_path(name)),
        }
    }

    /// Opens a subdirectory that must exist.
    pub fn open_dir(&self, name: impl AsRef<OsStr>) -> Result<Self, StoreError> {
        let name = name.as_ref();
        self.try_open_dir(name)?.ok_or_else(|| self.corrupt(name, "missing directory"))
    }

    /// The same directory through a descriptor of its own.
    pub fn reopen(&self) -> Result<Self, StoreError> {
        Ok(Self { path: self.path.clone(), ..self.open_dir(".")? })
    }

    /// Creates a subdirectory that must not exist yet.
    pub fn create_dir(&self, name: impl AsRef<OsStr>) -> Result<Self, StoreError> {
        let name = name.as_ref();
        rustix::fs::mkdirat(&self.fd, name, DIRECTORY_MODE).at(Operation::Create, &self.child_path(name))?;
        self.open_dir(name)
    }

    /// Opens a subdirectory, creating it (durably) when missing. A cleaner may remove an empty
    /// one between the two.
    pub fn ensure_dir(&self, name: impl AsRef<OsStr>) -> Result<Self, StoreError> {
        let name = name.as_ref();
        for _ in 0..ENSURE_ATTEMPTS {
            if let Some(dir) = self.try_open_dir(name)? {
                return Ok(dir);
            }
            match rustix::fs::mkdirat(&self.fd, name, DIRECTORY_MODE) {
                Ok(()) => self.sync()?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error).at(Operation::Create, &self.child_path(name)),
            }
        }
        self.open_dir(name)
    }

    /// Opens a regular file for reading; `None` when there is nothing of that name.
    pub fn try_open_file(&self, name: impl AsRef<OsStr>) -> Result<Option<File>, StoreError> {
        let name = name.as_ref();
        // O_NONBLOCK: a FIFO planted in the store must not hang the open.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO) => return Err(self.corrupt(name, "expected a regular file")),
            Err(error) => return Err(error).at(Operation::Open, &self.child_path(name)),
        };
        let stat = rustix::fs::fstat(&fd).at(Operation::Read, &self.child_path(name))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(self.corrupt(name, "expected a regular file"));
        }
        Ok(Some(File::from(fd)))
    }

    /// Opens a regular file that must exist.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> Result<File, StoreError> {
        let name = name.as_ref();
        self.try_open_file(name)?.ok_or_else(|| self.corrupt(name, "missing file"))
    }

    /// Creates a file that must not exist yet.
    pub fn create_file(&self, name: impl AsRef<OsStr>, mode: Mode) -> Result<File, StoreError> {
        let name = name.as_ref();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.fd, name, flags, mode)
            .map(File::from)
            .at(Operation::Create, &self.child_path(name))
    }

    /// Writes a new file and flushes it; the caller syncs the directory.
    pub fn write_new_file(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut file = self.create_file(name, FILE_MODE)?;
        let path = self.child_path(name);
        file.write_all(bytes).at(Operation::Write, &path)?;
        file.sync_all().at(Operation::Sync, &path)
    }

    /// Metadata of an entry itself, never of what a link points to.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> Result<Option<Stat>, StoreError> {
        let name = name.as_ref();
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error).at(Operation::Read, &self.child_path(name)),
        }
    }

    /// Metadata of this directory.
    pub fn metadata(&self) -> Result<Stat, StoreError> {
        rustix::fs::fstat(&self.fd).at(Operation::Read, &self.path)
    }

    /// All entries in bytewise order.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd).at(Operation::Read, &self.path)? {
            let entry = entry.at(Operation::Read, &self.path)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match self.stat(name)? {
                    Some(stat) => FileType::from_raw_mode(stat.st_mode),
                    None => continue,
                },
                kind => kind,
            };
            entries.push(Entry { name: name.to_owned(), kind });
        }
        entries.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        Ok(entries)
    }

    /// Renames an entry into `target`, replacing a file of that name.
    pub fn rename(&self, name: &OsStr, target: &Self, new_name: &OsStr) -> Result<(), StoreError> {
        rustix::fs::renameat(&self.fd, name, &target.fd, new_name)
            .at(Operation::Rename, &target.child_path(new_name))
    }

    /// Renames an entry into `target`; `false` when that name is taken.
    pub fn rename_if_free(&self, name: &OsStr, target: &Self, new_name: &OsStr) -> Result<bool, StoreError> {
        match rustix::fs::renameat_with(&self.fd, name, &target.fd, new_name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error).at(Operation::Rename, &target.child_path(new_name)),
        }
    }

    /// Removes a file; nothing of that name is no error.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> Result<(), StoreError> {
        self.unlink(name.as_ref(), AtFlags::empty())
    }

    /// Removes an empty directory; nothing of that name is no error.
    pub fn remove_empty_dir(&self, name: impl AsRef<OsStr>) -> Result<(), StoreError> {
        self.unlink(name.as_ref(), AtFlags::REMOVEDIR)
    }

    fn unlink(&self, name: &OsStr, flags: AtFlags) -> Result<(), StoreError> {
        match rustix::fs::unlinkat(&self.fd, name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error).at(Operation::Remove, &self.child_path(name)),
        }
    }

    /// Gives this directory the mode of the store.
    pub fn restrict(&self) -> Result<(), StoreError> {
        rustix::fs::fchmod(&self.fd, DIRECTORY_MODE).at(Operation::Write, &self.path)
    }

    /// Gives the directory of that name the mode of the store, if it lacks a part of it.
    ///
    /// Through a descriptor that opens a directory and nothing else, whatever its mode: what takes its place meanwhile, such
    /// as a link, keeps its own. Best effort: whoever goes on with the directory is told what matters.
    pub fn reclaim(&self, name: impl AsRef<OsStr>) {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(fd) = rustix::fs::openat(&self.fd, name.as_ref(), flags, Mode::empty()) else { return };
        let usable = |stat: Stat| Mode::from_raw_mode(stat.st_mode).contains(DIRECTORY_MODE);
        if !rustix::fs::fstat(&fd).is_ok_and(usable) {
            // Such a descriptor takes no fchmod; its name below /proc leads to exactly the directory it has open.
            let _ = rustix::fs::chmod(format!("/proc/self/fd/{}", fd.as_raw_fd()), DIRECTORY_MODE);
        }
    }

    /// Makes entry changes durable.
    pub fn sync(&self) -> Result<(), StoreError> {
        rustix::fs::fsync(&self.fd).at(Operation::Sync, &self.path)
    }
}

/// What is mounted inside a store, another directory of the same file system included, is not the store's to read or
/// to remove. Before Linux 5.6, and where a container filters the call, mounts cannot be told.
fn open_on_this_mount(dir: &OwnedFd, name: &OsStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let here = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(dir, name, flags, Mode::empty(), here) {
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(dir, name, flags, Mode::empty()),
        outcome => outcome,
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn scratch() -> (tempfile::TempDir, Dir) {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_root(temp.path()).unwrap().unwrap();
        (temp, dir)
    }

    #[test]
    fn links_are_corruption_wherever_they_point() {
        let (temp, dir) = scratch();
        std::fs::write(temp.path().join("file"), b"x").unwrap();
        std::fs::create_dir(temp.path().join("sub")).unwrap();
        symlink("file", temp.path().join("to-file")).unwrap();
        symlink("sub", temp.path().join("to-sub")).unwrap();
        assert!(matches!(dir.try_open_file("to-file"), Err(StoreError::Corrupt { .. })));
        assert!(matches!(dir.try_open_dir("to-sub"), Err(StoreError::Corrupt { .. })));
        assert!(matches!(dir.ensure_dir("to-sub"), Err(StoreError::Corrupt { .. })));
        assert!(dir.create_file("to-nothing", FILE_MODE).is_ok());
        symlink("elsewhere", temp.path().join("dangling")).unwrap();
        assert!(dir.create_file("dangling", FILE_MODE).is_err());
        assert!(!temp.path().join("elsewhere").exists());
    }

    #[test]
    fn a_fifo_in_place_of_a_file_is_corruption_and_does_not_hang() {
        let (temp, dir) = scratch();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            temp.path().join("fifo"),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        assert!(matches!(dir.try_open_file("fifo"), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn a_directory_is_reclaimed_and_what_a_link_leads_to_is_not() {
        let (temp, dir) = scratch();
        let mode =
            |name: &str| std::fs::metadata(temp.path().join(name)).unwrap().permissions().mode() & 0o777;
        for name in ["locked", "target", "fine"] {
            std::fs::create_dir(temp.path().join(name)).unwrap();
        }
        symlink("target", temp.path().join("link")).unwrap();
        std::fs::write(temp.path().join("file"), b"x").unwrap();
        for (name, bits) in [("locked", 0o000), ("target", 0o500), ("fine", 0o750), ("file", 0o400)] {
            std::fs::set_permissions(temp.path().join(name), std::fs::Permissions::from_mode(bits)).unwrap();
        }
        for name in ["locked", "link", "fine", "file", "missing"] {
            dir.reclaim(name);
        }
        assert_eq!(["locked", "target", "fine", "file"].map(mode), [0o700, 0o500, 0o750, 0o400]);
    }

    #[test]
    fn entries_are_sorted_bytewise() {
        let (temp, dir) = scratch();
        for name in ["b", "a", "B", "~"] {
            std::fs::write(temp.path().join(name), b"").unwrap();
        }
        let names: Vec<_> = dir.entries().unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["B", "a", "b", "~"]);
    }

    #[test]
    fn a_taken_name_is_not_replaced_unless_asked() {
        let (temp, dir) = scratch();
        std::fs::write(temp.path().join("new"), b"new").unwrap();
        std::fs::write(temp.path().join("old"), b"old").unwrap();
        let (new, old) = (OsStr::new("new"), OsStr::new("old"));
        assert!(!dir.rename_if_free(new, &dir, old).unwrap());
        assert_eq!(std::fs::read(temp.path().join("old")).unwrap(), b"old");
        dir.rename(new, &dir, old).unwrap();
        assert_eq!(std::fs::read(temp.path().join("old")).unwrap(), b"new");
    }
}
