//! What becomes of a directory of the store that its owner may not open.
//!
//! A count that silently leaves out what it could not see is a wrong answer, so only a walk
//! over what a live worker may have closed leaves anything out.

use std::ffi::OsStr;
use std::io::ErrorKind;

use super::dir::Dir;
use super::error::StoreError;

/// How one walk meets a directory that may not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// It is not counted.
    LeftOut,
    /// It ends the walk: nothing may be changed, and nothing may be missed.
    Refused,
    /// It gets its owner's permissions first, as it does before it is removed.
    Reclaimed,
}

impl Denied {
    /// Opens a directory; `None` for anything else and for what vanished.
    pub fn open_if_directory(self, parent: &Dir, name: &OsStr) -> Result<Option<Dir>, StoreError> {
        if self == Self::Reclaimed {
            parent.reclaim(name);
        }
        match self.tolerate(parent.try_open_dir(name)) {
            Err(StoreError::Corrupt { .. }) => Ok(None),
            outcome => outcome,
        }
    }

    /// The outcome of a look at one entry; `None` for one that is left out.
    pub fn tolerate<T>(self, outcome: Result<Option<T>, StoreError>) -> Result<Option<T>, StoreError> {
        match outcome {
            Err(StoreError::Io { source, .. })
                if self == Self::LeftOut && source.kind() == ErrorKind::PermissionDenied =>
            {
                Ok(None)
            }
            outcome => outcome,
        }
    }
}
