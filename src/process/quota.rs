//! Measures the disk space below directories that a worker can write to.
//!
//! The worker may change the directories while they are read: every step goes through an open directory and refuses
//! symbolic links, so the walk cannot be led elsewhere; what vanishes meanwhile counts nothing. A directory that the worker closed
//! to its owner counts as an endless amount of space. A file that is open and has no name any more is not seen.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Resource;

use super::error::ProcessError;

/// More entries than this count as an endless amount of space: inodes are a resource too, and while they are counted nothing
/// else is measured. A project of Ghidra has fewer than a hundred.
const MAX_ENTRIES: u32 = 10_000;

/// Deeper directories are not entered but count as an endless amount of space, so descriptors and stack stay bounded.
const MAX_DEPTH: u32 = 64;

/// Descriptors that a measurement may have open at once, and a few for whatever else watches the worker.
const DESCRIPTORS: u64 = MAX_DEPTH as u64 + 32;

/// Refuses to watch with too few descriptors: what cannot be opened could neither be measured nor be blamed on the worker.
pub(super) fn check_descriptors() -> Result<(), ProcessError> {
    let failed = ProcessError::supervise("have enough files open at once to watch a worker (RLIMIT_NOFILE)");
    let limit = rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let open = std::fs::read_dir("/proc/self/fd").map_or(u64::MAX, |entries| entries.count() as u64);
    if limit.saturating_sub(open) < DESCRIPTORS { Err(failed(Errno::MFILE)) } else { Ok(()) }
}

/// Allocated bytes below all `directories`, their own included.
pub(super) fn allocated_bytes(directories: &[PathBuf]) -> u64 {
    let mut walk = Walk { bytes: 0, entries: 0 };
    for directory in directories {
        match rustix::fs::openat(CWD, directory, DIRECTORY, Mode::empty()) {
            Ok(directory) => walk.enter(directory, 0),
            Err(error) => walk.unseen(error),
        }
    }
    walk.bytes
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK);

struct Walk {
    bytes: u64,
    entries: u32,
}

impl Walk {
    fn enter(&mut self, directory: OwnedFd, depth: u32) {
        if depth > MAX_DEPTH {
            self.bytes = u64::MAX;
            return;
        }
        let mut entries = match Dir::new(directory) {
            Ok(entries) => entries,
            Err(error) => return self.unseen(error),
        };
        while let Some(entry) = entries.read() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.unseen(error),
            };
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                self.bytes = u64::MAX;
                return;
            }
            match entries.fd() {
                Ok(directory) => self.count(directory, entry.file_name(), depth),
                Err(error) => return self.unseen(error),
            }
        }
    }

    fn count(&mut self, directory: BorrowedFd<'_>, name: &CStr, depth: u32) {
        let found = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(error) => return self.unseen(error),
        };
        let blocks = u64::try_from(found.st_blocks).unwrap_or(0);
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(512));
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            match rustix::fs::openat(directory, name, DIRECTORY, Mode::empty()) {
                Ok(child) => self.enter(child, depth + 1),
                Err(error) => self.unseen(error),
            }
        }
    }

    fn unseen(&mut self, error: Errno) {
        let vanished = matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP);
        if !vanished {
            self.bytes = u64::MAX;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_in_nested_directories_count_and_links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("large"), vec![1; 4 << 20]).unwrap();
        fs::create_dir(root.path().join("sub")).unwrap();
        fs::write(root.path().join("sub/file"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let bytes = allocated_bytes(&[root.path().to_owned()]);
        assert!(((1 << 20)..(2 << 20)).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_cannot_be_looked_into_is_an_endless_amount_and_what_vanished_is_none() {
        for (error, bytes) in
            [(Errno::NOENT, 0), (Errno::LOOP, 0), (Errno::ACCESS, u64::MAX), (Errno::MFILE, u64::MAX)]
        {
            let mut walk = Walk { bytes: 0, entries: 0 };
            walk.unseen(error);
            assert_eq!(walk.bytes, bytes, "{error}");
        }
    }

    #[test]
    fn a_crowd_of_empty_files_is_an_endless_amount() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..MAX_ENTRIES {
            fs::File::create(root.path().join(number.to_string())).unwrap();
        }
        assert_eq!(allocated_bytes(&[root.path().to_owned()]), 0);
        fs::create_dir(root.path().join("one-more")).unwrap();
        assert_eq!(allocated_bytes(&[root.path().to_owned()]), u64::MAX);
    }

    #[test]
    fn a_bottomless_tree_is_an_endless_amount() {
        let root = tempfile::tempdir().unwrap();
        let deep = (0..=MAX_DEPTH).fold(root.path().to_owned(), |path, _| path.join("d"));
        fs::create_dir_all(deep).unwrap();
        assert_eq!(allocated_bytes(&[root.path().to_owned()]), u64::MAX);
    }
}
