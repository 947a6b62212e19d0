//! Opening the caller's Sample and reading it as one unchanging regular file.
//!
//! Read-only, and never blocking: a FIFO or device is recognised before it is opened. The
//! digest describes exactly the bytes read; metadata taken before and after must agree, or
//! the reading is void ([`SampleError::Changed`]).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::hashing::{BUFFER_BYTES, Stop};
use crate::domain::digest::SampleDigest;
use crate::domain::sample_header::SampleHeader;

/// Said of a file that did not change, yet had another size than its content: made while it is read, by `/proc` for
/// example, it would have as many sizes as readings.
const OTHER_SIZE: &str =
    "its content has not the size that the file system tells, as in /proc; copy it into a file";

/// Why a path is not an acceptable Sample, or was not when it was read.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// Nothing is there.
    #[error("{}", if *.dangling_link { "the sample path is a link to nothing" } else { "the sample does not exist" })]
    NotFound {
        /// The path itself is a symbolic link.
        dangling_link: bool,
    },
    /// The system refused to open or read it.
    #[error("the sample cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// Not a regular file.
    #[error("the sample is a {file_type}, not a regular file")]
    NotRegular {
        /// `directory`, `fifo`, `socket`, `character_device`, `block_device` or `unknown`.
        file_type: &'static str,
    },
    /// Larger than the limit, by its metadata or while it was read.
    #[error("the sample has at least {observed_at_least_bytes} bytes, more than the limit of {limit_bytes}")]
    TooLarge {
        /// The selected limit.
        limit_bytes: u64,
        /// What was seen of it.
        observed_at_least_bytes: u64,
    },
    /// It changed while it was read.
    #[error("the sample changed while it was read")]
    Changed,
    /// The caller wanted the reading to end.
    #[error("signal {signal} interrupted the reading of the sample")]
    Interrupted {
        /// The signal that said so.
        signal: i32,
    },
}

/// Identity and header facts of a Sample, from one consistent reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleIdentity {
    /// SHA-256 of the exact bytes.
    pub digest: SampleDigest,
    /// How many bytes.
    pub size_bytes: u64,
    /// What the header says.
    pub header: SampleHeader,
}

/// The caller's Sample, open for reading.
#[derive(Debug)]
pub struct OpenedSample {
    file: File,
    before: Metadata,
    max_sample_bytes: u64,
}

/// What must not change between two looks at the same open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Metadata {
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl OpenedSample {
    /// Opens `path`, following links to a regular file of at most `max_sample_bytes`.
    pub fn open(path: &Path, max_sample_bytes: u64) -> Result<Self, SampleError> {
        // Opening a device can have effects of its own, so its type is looked at first; the
        // opened file is checked again because the path may have changed hands in between.
        refuse_irregular(&rustix::fs::stat(path).map_err(|errno| open_error(path, errno))?)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd =
            rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|errno| open_error(path, errno))?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| SampleError::Unreadable(errno.into()))?;
        refuse_irregular(&stat)?;
        let before = Metadata::from(&stat);
        if before.size_bytes > max_sample_bytes {
            return Err(SampleError::TooLarge {
                limit_bytes: max_sample_bytes,
                observed_at_least_bytes: before.size_bytes,
            });
        }
        Ok(Self { file: File::from(fd), before, max_sample_bytes })
    }

    /// Size by the metadata taken when it was opened.
    pub const fn observed_size_bytes(&self) -> u64 {
        self.before.size_bytes
    }

    /// Hashes the Sample without copying it.
    pub fn hash(&self, stop: Stop<'_>) -> Result<SampleIdentity, SampleError> {
        self.read_through(stop, |_| Ok(()))
    }

    /// Reads the whole Sample once, handing every chunk to `sink`, and checks afterwards that
    /// it is still the file that was opened.
    pub(super) fn read_through<E: From<SampleError>>(
        &self,
        stop: Stop<'_>,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<SampleIdentity, E> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut size_bytes = 0_u64;
        loop {
            let count = self.read_at(&mut buffer, size_bytes, stop)?;
            if count == 0 {
                break;
            }
            size_bytes += count as u64;
            if size_bytes > self.max_sample_bytes {
                return Err(E::from(SampleError::TooLarge {
                    limit_bytes: self.max_sample_bytes,
                    observed_at_least_bytes: size_bytes,
                }));
            }
            hasher.update(&buffer[..count]);
            sink(&buffer[..count])?;
        }
        let header = SampleHeader::read(|offset, length| self.read_window(offset, length, stop))?;
        let stat = rustix::fs::fstat(&self.file).map_err(|errno| SampleError::Unreadable(errno.into()))?;
        if Metadata::from(&stat) != self.before {
            return Err(E::from(SampleError::Changed));
        }
        if size_bytes != self.before.size_bytes {
            return Err(E::from(SampleError::Unreadable(io::Error::other(OTHER_SIZE))));
        }
        Ok(SampleIdentity { digest: SampleDigest::from_bytes(hasher.finalize().into()), size_bytes, header })
    }

    fn read_window(&self, offset: u64, length: usize, stop: Stop<'_>) -> Result<Vec<u8>, SampleError> {
        let mut window = vec![0; length];
        let mut filled = 0;
        while filled < length {
            match self.read_at(&mut window[filled..], offset.saturating_add(filled as u64), stop)? {
                0 => break,
                count => filled += count,
            }
        }
        window.truncate(filled);
        Ok(window)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64, stop: Stop<'_>) -> Result<usize, SampleError> {
        loop {
            if let Some(signal) = stop() {
                return Err(SampleError::Interrupted { signal });
            }
            match self.file.read_at(buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome.map_err(SampleError::Unreadable),
            }
        }
    }
}

impl From<&Stat> for Metadata {
    fn from(stat: &Stat) -> Self {
        let nanoseconds = |value| i64::try_from(value).unwrap_or(i64::MAX);
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
        }
    }
}

fn open_error(path: &Path, errno: Errno) -> SampleError {
    match errno {
        Errno::NOENT => SampleError::NotFound { dangling_link: rustix::fs::lstat(path).is_ok() },
        // A socket put in place of the file since its type was looked at.
        Errno::NXIO => SampleError::NotRegular { file_type: "socket" },
        errno => SampleError::Unreadable(errno.into()),
    }
}

fn refuse_irregular(stat: &Stat) -> Result<(), SampleError> {
    let file_type = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "directory",
        FileType::Fifo => "fifo",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character_device",
        FileType::BlockDevice => "block_device",
        FileType::Symlink | FileType::Unknown => "unknown",
    };
    Err(SampleError::NotRegular { file_type })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    fn open(path: &Path) -> Result<OpenedSample, SampleError> {
        OpenedSample::open(path, 1_000)
    }

    #[test]
    fn identity_is_the_content_whatever_the_path() {
        let temp = tempfile::tempdir().unwrap();
        let plain = temp.path().join("plain");
        let odd = temp.path().join(OsStr::from_bytes(b"odd ,\xff"));
        std::fs::write(&plain, b"content").unwrap();
        std::fs::write(&odd, b"content").unwrap();
        symlink(&plain, temp.path().join("link")).unwrap();
        let identity = open(&plain).unwrap().hash(&|| None).unwrap();
        assert_eq!(identity.digest, SampleDigest::of(b"content"));
        assert_eq!((identity.size_bytes, identity.header.clone()), (7, SampleHeader::Other));
        assert_eq!(open(&odd).unwrap().hash(&|| None).unwrap(), identity);
        assert_eq!(open(&temp.path().join("link")).unwrap().hash(&|| None).unwrap(), identity);
    }

    #[test]
    fn large_files_are_hashed_in_chunks() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("big");
        let bytes: Vec<u8> = (0..BUFFER_BYTES * 2 + 17).map(|index| index as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let identity = OpenedSample::open(&path, u64::MAX).unwrap().hash(&|| None).unwrap();
        assert_eq!(identity.digest, SampleDigest::of(&bytes));
    }

    #[test]
    fn everything_but_a_regular_file_is_refused_without_hanging() {
        let temp = tempfile::tempdir().unwrap();
        let refused = |path: &Path| match open(path) {
            Err(SampleError::NotRegular { file_type }) => file_type,
            other => unreachable!("{other:?}"),
        };
        assert_eq!(refused(temp.path()), "directory");
        assert_eq!(refused(Path::new("/dev/null")), "character_device");
        let fifo = temp.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(refused(&fifo), "fifo");
        let socket = temp.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(refused(&socket), "socket");
    }

    #[test]
    fn missing_files_and_dangling_links_are_told_apart() {
        let temp = tempfile::tempdir().unwrap();
        let missing = temp.path().join("missing");
        assert!(matches!(open(&missing), Err(SampleError::NotFound { dangling_link: false })));
        symlink("nowhere", &missing).unwrap();
        assert!(matches!(open(&missing), Err(SampleError::NotFound { dangling_link: true })));
    }

    #[test]
    fn the_size_limit_binds_before_and_while_reading() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("sample");
        std::fs::write(&path, b"12345").unwrap();
        assert!(OpenedSample::open(&path, 5).unwrap().hash(&|| None).is_ok());
        assert!(matches!(
            OpenedSample::open(&path, 4),
            Err(SampleError::TooLarge { limit_bytes: 4, observed_at_least_bytes: 5 })
        ));
        let sample = OpenedSample::open(&path, 5).unwrap();
        std::fs::write(&path, b"123456").unwrap();
        assert!(matches!(sample.hash(&|| None), Err(SampleError::TooLarge { limit_bytes: 5, .. })));
    }

    #[test]
    fn a_long_reading_ends_with_a_signal() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("big");
        std::fs::write(&path, vec![0; BUFFER_BYTES * 3]).unwrap();
        let asked = std::cell::Cell::new(0);
        let stop = || (asked.replace(asked.get() + 1) == 2).then_some(15);
        let mut read_bytes = 0;
        let outcome = OpenedSample::open(&path, u64::MAX).unwrap().read_through(&stop, |chunk| {
            read_bytes += chunk.len();
            Ok::<_, SampleError>(())
        });
        assert!(matches!(outcome, Err(SampleError::Interrupted { signal: 15 })), "{outcome:?}");
        assert_eq!(read_bytes, BUFFER_BYTES * 2);
    }

    #[test]
    fn a_file_that_is_made_while_it_is_read_has_no_bytes_to_identify() {
        let outcome = OpenedSample::open(Path::new("/proc/version"), u64::MAX).unwrap().hash(&|| None);
        assert!(matches!(&outcome, Err(SampleError::Unreadable(error)) if error.to_string() == OTHER_SIZE));
    }

    #[test]
    fn a_change_between_the_two_looks_voids_the_reading() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("sample");
        let changes: [fn(&Path); 4] = [
            |path| std::fs::write(path, b"other").unwrap(),
            |path| std::fs::write(path, b"").unwrap(),
            |path| std::fs::remove_file(path).unwrap(),
            |path| {
                let new = path.with_extension("new");
                std::fs::write(&new, b"12345").unwrap();
                std::fs::rename(new, path).unwrap();
            },
        ];
        for change in changes {
            std::fs::write(&path, b"12345").unwrap();
            let sample = open(&path).unwrap();
            let outcome = sample.read_through(&|| None, |_| -> Result<(), SampleError> {
                change(&path);
                Ok(())
            });
            assert!(matches!(outcome, Err(SampleError::Changed)), "{outcome:?}");
        }
    }
}
