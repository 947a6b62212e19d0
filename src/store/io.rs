//! Gives every failed system call its path and its meaning.
//!
//! The one place that decides which errno means "full", "read-only" or merely "failed".

use std::fmt;
use std::io;
use std::path::Path;

use super::error::StoreError;

/// What was being done when a system call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Opening for reading.
    Open,
    /// Reading contents, entries or metadata.
    Read,
    /// Creating a file or directory.
    Create,
    /// Writing contents or changing a mode.
    Write,
    /// Flushing to stable storage.
    Sync,
    /// Renaming.
    Rename,
    /// Deleting.
    Remove,
    /// Locking.
    Lock,
}

impl Operation {
    const fn changes_the_store(self) -> bool {
        match self {
            Self::Create | Self::Write | Self::Sync | Self::Rename | Self::Remove => true,
            Self::Open | Self::Read | Self::Lock => false,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Create => "create",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::Lock => "lock",
        })
    }
}

/// Attaches path and operation to a system error.
pub(super) trait At<T> {
    /// Converts the error, naming what was attempted on `path`.
    fn at(self, operation: Operation, path: &Path) -> Result<T, StoreError>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, operation: Operation, path: &Path) -> Result<T, StoreError> {
        self.map_err(|error| classify(error.into(), operation, path))
    }
}

pub(super) fn classify(source: io::Error, operation: Operation, path: &Path) -> StoreError {
    let path = path.to_path_buf();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::NoSpace { path, required_bytes: None, available_bytes: None }
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
            if operation.changes_the_store() =>
        {
            StoreError::Unwritable { path, operation, source }
        }
        _ => StoreError::Io { path, operation, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn error(errno: Errno, operation: Operation) -> StoreError {
        classify(errno.into(), operation, Path::new("/p"))
    }

    #[test]
    fn errno_decides_the_variant_and_reading_is_never_unwritable() {
        assert!(matches!(error(Errno::NOSPC, Operation::Write), StoreError::NoSpace { .. }));
        assert!(matches!(error(Errno::DQUOT, Operation::Create), StoreError::NoSpace { .. }));
        assert!(matches!(error(Errno::ROFS, Operation::Create), StoreError::Unwritable { .. }));
        assert!(matches!(error(Errno::ACCESS, Operation::Rename), StoreError::Unwritable { .. }));
        assert!(matches!(error(Errno::ACCESS, Operation::Open), StoreError::Io { .. }));
        assert!(matches!(error(Errno::IO, Operation::Write), StoreError::Io { .. }));
    }
}
