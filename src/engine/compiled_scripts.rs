//! The compiled script bundles of boot data, file by file.
//!
//! Ghidra compiles what is missing or older than its source, but a worker cannot add to prepared bundles: one class less
//! would make an Analysis poorer. So they are used only as a whole and exactly as they were made. Refuses anything but
//! regular files in directories. Nothing larger than recorded is read.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::digest::ContentDigest;

/// How deep a bundle's packages may lie.
const MAX_DEPTH: usize = 16;

/// One file of the bundles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompiledFile {
    /// Relative to the directory of the bundles.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was modified, in seconds since the epoch; Ghidra compares this with the script's own time.
    pub modified_seconds: i64,
    /// SHA-256 of its content.
    pub sha256: ContentDigest,
}

/// A file as the file system describes it, without its content.
#[derive(Debug)]
struct Listed {
    path: PathBuf,
    bytes: u64,
    modified_seconds: i64,
}

/// Describes every file below `directory`, sorted by path; none when it does not exist.
///
/// # Errors
///
/// When something cannot be read, or is neither a regular file nor a directory that holds any.
pub fn describe(directory: &Path) -> io::Result<Vec<CompiledFile>> {
    let describe = |Listed { path, bytes, modified_seconds }| {
        let sha256 = ContentDigest::of(&std::fs::read(directory.join(&path))?);
        Ok(CompiledFile { path, bytes, modified_seconds, sha256 })
    };
    list(directory)?.into_iter().map(describe).collect()
}

/// The first thing below `directory` that is not as recorded.
pub fn difference(directory: &Path, recorded: &[CompiledFile]) -> Option<String> {
    let found = match list(directory) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    // Both are sorted, so the first pair that differs names what is missing or additional.
    for (index, then) in recorded.iter().enumerate() {
        match found.get(index) {
            Some(now) if now.path == then.path => {
                if now.bytes != then.bytes || now.modified_seconds != then.modified_seconds {
                    return Some(format!("{} is not the recorded one", then.path.display()));
                }
            }
            Some(now) if now.path < then.path => return Some(is_additional(&now.path)),
            _ => return Some(format!("{} is missing", then.path.display())),
        }
    }
    if let Some(more) = found.get(recorded.len()) {
        return Some(is_additional(&more.path));
    }
    let is_recorded = |file: &CompiledFile| {
        std::fs::read(directory.join(&file.path)).is_ok_and(|bytes| ContentDigest::of(&bytes) == file.sha256)
    };
    let changed = recorded.iter().find(|file| !is_recorded(file))?;
    Some(format!("{} is not the recorded one", changed.path.display()))
}

fn is_additional(path: &Path) -> String {
    format!("{} was not recorded", path.display())
}

fn list(directory: &Path) -> io::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    match std::fs::symlink_metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(named(directory, &error)),
        Ok(metadata) if metadata.is_dir() => collect(directory, Path::new(""), 0, &mut listed)?,
        Ok(_) => return Err(io::Error::other(format!("{} is no directory", directory.display()))),
    }
    listed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(listed)
}

fn collect(root: &Path, below: &Path, depth: usize, listed: &mut Vec<Listed>) -> io::Result<()> {
    let directory = root.join(below);
    let mut is_empty = true;
    for entry in std::fs::read_dir(&directory).map_err(|error| named(&directory, &error))? {
        let entry = entry.map_err(|error| named(&directory, &error))?;
        is_empty = false;
        let path = below.join(entry.file_name());
        // Not followed: a link is no regular file.
        let metadata = entry.metadata().map_err(|error| named(&entry.path(), &error))?;
        if metadata.is_dir() && depth < MAX_DEPTH {
            collect(root, &path, depth + 1, listed)?;
        } else if metadata.is_file() {
            listed.push(Listed { path, bytes: metadata.len(), modified_seconds: metadata.mtime() });
        } else {
            return Err(io::Error::other(format!("{} is no regular file", path.display())));
        }
    }
    // Ghidra would take the empty directory for a bundle of which every class is missing.
    if is_empty { Err(io::Error::other(format!("{} is empty", directory.display()))) } else { Ok(()) }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::{Duration, UNIX_EPOCH};

    /// The bundles of two script directories, and their description.
    fn bundles() -> (tempfile::TempDir, Vec<CompiledFile>) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("b/META-INF")).unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        for file in ["b/META-INF/MANIFEST.MF", "b/B.class", "a/A$1.class", "a/A.class"] {
            fs::write(root.path().join(file), file).unwrap();
        }
        let described = describe(root.path()).unwrap();
        (root, described)
    }

    #[test]
    fn every_file_is_described_once_in_order_and_found_again() {
        let (root, described) = bundles();
        let paths: Vec<_> = described.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["a/A$1.class", "a/A.class", "b/B.class", "b/META-INF/MANIFEST.MF"]);
        assert_eq!((described[1].bytes, described[1].sha256), (9, ContentDigest::of(b"a/A.class")));
        assert_eq!(difference(root.path(), &described), None);
        assert_eq!(describe(&root.path().join("none")).unwrap(), []);
        assert_eq!(difference(&root.path().join("none"), &[]), None);
    }

    #[test]
    fn any_difference_is_named() {
        type Change = fn(&Path);
        let changes: [(Change, &str); 10] = [
            (|root| fs::remove_file(root.join("a/A.class")).unwrap(), "a/A.class is missing"),
            (|root| fs::remove_file(root.join("b/META-INF/MANIFEST.MF")).unwrap(), "/b/META-INF is empty"),
            (|root| fs::remove_dir_all(root).unwrap(), "a/A$1.class is missing"),
            (
                |root| {
                    let (file, time) = (root.join("a/A.class"), root.join("a/A.class").metadata().unwrap());
                    fs::write(&file, "a/A.clasS").unwrap();
                    let opened = fs::File::options().write(true).open(&file).unwrap();
                    opened.set_modified(time.modified().unwrap()).unwrap();
                },
                "a/A.class is not the recorded one",
            ),
            (|root| fs::write(root.join("a/A.class"), "").unwrap(), "a/A.class is not the recorded one"),
            // Ghidra would compile what is older than its source.
            (
                |root| {
                    let opened = fs::File::options().write(true).open(root.join("b/B.class")).unwrap();
                    opened.set_modified(UNIX_EPOCH + Duration::from_secs(1)).unwrap();
                },
                "b/B.class is not the recorded one",
            ),
            (|root| fs::write(root.join("a/B.class"), "").unwrap(), "a/B.class was not recorded"),
            (|root| fs::write(root.join("z.class"), "").unwrap(), "z.class was not recorded"),
            (
                |root| {
                    fs::rename(root.join("a/A.class"), root.join("a/moved")).unwrap();
                    std::os::unix::fs::symlink("moved", root.join("a/A.class")).unwrap();
                },
                "a/A.class is no regular file",
            ),
            (
                |root| {
                    fs::remove_file(root.join("a/A.class")).unwrap();
                    fs::create_dir(root.join("a/A.class")).unwrap();
                },
                "a/A.class is empty",
            ),
        ];
        for (change, reason) in changes {
            let (root, described) = bundles();
            change(root.path());
            let found = difference(root.path(), &described).unwrap();
            assert!(found.ends_with(reason), "{found} instead of {reason}");
        }
    }

    #[test]
    fn a_link_or_a_file_in_the_place_of_the_directory_is_refused() {
        let (root, described) = bundles();
        let link = root.path().with_extension("link");
        std::os::unix::fs::symlink(root.path(), &link).unwrap();
        for place in [link.clone(), root.path().join("b/B.class")] {
            assert!(difference(&place, &described).unwrap().ends_with("is no directory"));
            assert!(describe(&place).is_err());
        }
        fs::remove_file(link).unwrap();
    }
}
