//! File operations shared by the tasks: publishing, copying and removing, each naming its path on failure.
//!
//! Publication is always: temporary file in the same directory, write, fsync, rename, fsync of the directory.
//! What an interruption leaves behind therefore never has a final name.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{AtPath, TaskError};

/// Mode of directories and executable files that any user may read.
pub const MODE_PUBLIC_EXECUTABLE: u32 = 0o755;
/// The beginning of 2020, which the entries of built jars have too.
const FIXED_TIME: Duration = Duration::from_secs(1_577_836_800);
/// Mode of data files that any user may read.
pub const MODE_PUBLIC_DATA: u32 = 0o644;

/// Creates a directory and its parents; those it creates are readable for any user whatever the umask.
pub fn create_public_directory(path: &Path) -> Result<(), TaskError> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .collect();
    for directory in missing.into_iter().rev() {
        match fs::create_dir(directory) {
            Ok(()) => set_mode(directory, MODE_PUBLIC_EXECUTABLE)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).at("create", directory),
        }
    }
    Ok(())
}

/// Sets the permission bits of `path`.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), TaskError> {
    fs::set_permissions(path, Permissions::from_mode(mode)).at("set the mode of", path)
}

/// Publishes `bytes` as the whole content of `path`.
pub fn publish(path: &Path, bytes: &[u8]) -> Result<(), TaskError> {
    let temporary = sibling(path, "new");
    let mut file = File::create(&temporary).at("create", &temporary)?;
    file.write_all(bytes).at("write", &temporary)?;
    set_mode(&temporary, MODE_PUBLIC_DATA)?;
    file.sync_all().at("write", &temporary)?;
    publish_path(&temporary, path)
}

/// Renames a finished file or directory to its final name and makes the rename durable.
pub fn publish_path(from: &Path, to: &Path) -> Result<(), TaskError> {
    fs::rename(from, to).at("rename to", to)?;
    sync_directory(to.parent().unwrap_or(Path::new("/")))
}

/// Makes a file's content durable.
pub fn sync_file(path: &Path) -> Result<(), TaskError> {
    File::open(path).and_then(|file| file.sync_all()).at("write", path)
}

/// Makes a directory's entries durable.
pub fn sync_directory(path: &Path) -> Result<(), TaskError> {
    sync_file(path)
}

/// Shares a file that will never be modified: a hard link, or a copy where links cannot be made.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<(), TaskError> {
    if fs::hard_link(from, to).is_err() {
        copy(from, to)?;
    }
    Ok(())
}

/// Copies a file with its permission bits and its time, by which boot data knows it again.
pub fn copy(from: &Path, to: &Path) -> Result<(), TaskError> {
    fs::copy(from, to).at("copy to", to)?;
    let modified = fs::metadata(from).and_then(|metadata| metadata.modified()).at("examine", from)?;
    set_modified(to, modified)
}

/// Gives a file the one time that every jar has: boot data made from it then fits any equal jar, whenever it was
/// downloaded or built.
pub fn set_fixed_time(path: &Path) -> Result<(), TaskError> {
    set_modified(path, SystemTime::UNIX_EPOCH + FIXED_TIME)
}

fn set_modified(path: &Path, time: SystemTime) -> Result<(), TaskError> {
    File::open(path).and_then(|file| file.set_modified(time)).at("set the time of", path)
}

/// Removes a file or a whole directory; nothing there is fine. Never follows a symbolic link.
pub fn remove(path: &Path) -> Result<(), TaskError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at("examine", path),
    };
    if metadata.is_dir() {
        fs::remove_dir_all(path).at("remove", path)
    } else {
        fs::remove_file(path).at("remove", path)
    }
}

/// The regular files below `root` as relative paths in bytewise order. Anything but files and directories is refused.
pub fn regular_files(root: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(relative) = pending.pop() {
        let directory = root.join(&relative);
        for entry in fs::read_dir(&directory).at("list", &directory)? {
            let entry = entry.at("list", &directory)?;
            let kind = entry.file_type().at("examine", &entry.path())?;
            let path = relative.join(entry.file_name());
            if kind.is_dir() {
                pending.push(path);
            } else if kind.is_file() {
                found.push(path);
            } else {
                return Err(TaskError::Refused(format!(
                    "{} is neither a file nor a directory",
                    entry.path().display()
                )));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A hidden name beside `path` for something unfinished.
pub fn sibling(path: &Path, purpose: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{purpose}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn publication_replaces_and_leaves_no_temporary_file() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.json");
        publish(&path, b"one").unwrap();
        publish(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(regular_files(root.path()).unwrap(), [PathBuf::from("x.json")]);
    }

    #[test]
    fn removal_does_not_follow_links() {
        let root = tempfile::tempdir().unwrap();
        let kept = root.path().join("kept");
        fs::create_dir(&kept).unwrap();
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&kept, &link).unwrap();
        remove(&link).unwrap();
        remove(&link).unwrap();
        assert!(kept.is_dir() && !link.exists());
    }

    #[test]
    fn a_link_in_a_tree_is_refused() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/", root.path().join("link")).unwrap();
        assert!(regular_files(root.path()).is_err());
    }
}
