//! The per-user download cache, held under a lock while a set-up uses it.
//!
//! Layout: `engines/<version>-<digest>/` (see `engine` and `prepare`), `maven/` (local repository for the one
//! download), `tools/` (cargo-installed programs). Everything in it can be deleted at any time.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{AtPath, TaskError};
use crate::{files, report};

/// The cache directory; two set-ups never use it at once.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    /// Held for its lock, which the kernel releases when this process ends in any way.
    _lock: File,
}

impl Cache {
    /// Opens the cache of the calling user, waiting for another set-up to finish.
    pub fn open() -> Result<Self, TaskError> {
        Self::open_at(directory(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))?)
    }

    /// Opens the cache at `root`.
    pub fn open_at(root: PathBuf) -> Result<Self, TaskError> {
        files::create_public_directory(&root)?;
        let path = root.join("lock");
        let lock = File::create(&path).at("create", &path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                report::say("waiting for another set-up of the same user to finish");
                lock.lock().at("lock", &path)?;
            }
            Err(TryLockError::Error(error)) => return Err(error).at("lock", &path),
        }
        Ok(Self { root, _lock: lock })
    }

    /// The cache directory.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// `$XDG_CACHE_HOME/ghidr-xtask`, else `~/.cache/ghidr-xtask`; a relative value is ignored, as XDG demands.
fn directory(xdg: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, TaskError> {
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(xdg)
        .or_else(|| absolute(home).map(|home| home.join(".cache")))
        .map(|base| base.join("ghidr-xtask"))
        .ok_or_else(|| {
            TaskError::Refused(
                "no place for downloads: set HOME or XDG_CACHE_HOME to an absolute path".to_owned(),
            )
        })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_place_follows_xdg_then_home() {
        let place = |xdg: Option<&str>, home: Option<&str>| {
            directory(xdg.map(OsString::from), home.map(OsString::from))
        };
        let expect = |path: &str| PathBuf::from(path);
        assert_eq!(place(Some("/c"), Some("/h")).unwrap(), expect("/c/ghidr-xtask"));
        assert_eq!(place(Some("c"), Some("/h")).unwrap(), expect("/h/.cache/ghidr-xtask"));
        assert_eq!(place(None, Some("/h")).unwrap(), expect("/h/.cache/ghidr-xtask"));
        assert!(place(Some(""), None).is_err());
    }

    #[test]
    fn the_lock_is_exclusive_and_released_on_drop() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open_at(root.path().join("cache")).unwrap();
        let other = File::open(cache.root().join("lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(cache);
        other.try_lock().unwrap();
    }
}
