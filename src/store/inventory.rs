//! The exact contents of a project tree: which directories and files, how large, which bytes.
//!
//! Refuses symbolic links, special files, files with a second name, names that are not UTF-8
//! and trees beyond anything Ghidra makes.

use std::path::Path;

use rustix::fs::{FileType, fchmod};

use super::dir::{Dir, FILE_MODE};
use super::error::StoreError;
use super::hashing::{self, Stop};
use super::io::{At as _, Operation};
use super::manifest::InventoryEntry;
use crate::domain::limits::DISK_QUOTA_BYTES;

/// Deepest directory nesting; Ghidra's own is about five.
const MAX_DEPTH: usize = 32;
/// Most entries; Ghidra's own are about fifteen.
const MAX_ENTRIES: usize = 10_000;

/// Relative paths of a tree, each list bytewise sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub directories: Vec<String>,
    pub files: Vec<String>,
}

/// Lists the tree below `root`.
pub(super) fn list(root: &Dir) -> Result<Listing, StoreError> {
    let mut listing = Listing::default();
    list_into(root, "", 0, &mut listing)?;
    listing.directories.sort_unstable();
    listing.files.sort_unstable();
    Ok(listing)
}

fn list_into(dir: &Dir, prefix: &str, depth: usize, listing: &mut Listing) -> Result<(), StoreError> {
    for entry in dir.entries()? {
        let Some(name) = entry.name.to_str() else {
            return Err(dir.corrupt(&entry.name, "name is not UTF-8"));
        };
        if listing.directories.len() + listing.files.len() >= MAX_ENTRIES {
            return Err(dir.corrupt(name, format!("more than {MAX_ENTRIES} entries")));
        }
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        match entry.kind {
            FileType::RegularFile => listing.files.push(path),
            FileType::Directory if depth < MAX_DEPTH => {
                list_into(&dir.open_dir(name)?, &path, depth + 1, listing)?;
                listing.directories.push(path);
            }
            FileType::Directory => return Err(dir.corrupt(name, "nested too deeply")),
            kind => return Err(dir.corrupt(name, format!("unexpected {kind:?}"))),
        }
    }
    Ok(())
}

/// Opens the directory that holds `path` and gives the last component.
pub(super) fn open_parent<'path>(root: &Dir, path: &'path str) -> Result<(Dir, &'path str), StoreError> {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    Ok((open_directory(root, parents)?, name))
}

/// Opens the directory `path`; the empty path is `root` itself.
pub(super) fn open_directory(root: &Dir, path: &str) -> Result<Dir, StoreError> {
    let mut dir = root.reopen()?;
    for component in path.split('/').filter(|component| !component.is_empty()) {
        dir = dir.open_dir(component)?;
    }
    Ok(dir)
}

/// Inventories a finished tree, giving every file and directory the store's modes and making
/// them durable.
pub(super) fn seal(root: &Dir, stop: Stop<'_>) -> Result<(Listing, Vec<InventoryEntry>), StoreError> {
    let listing = list(root)?;
    let mut entries = Vec::with_capacity(listing.files.len());
    let mut total_bytes = 0_u64;
    for path in &listing.files {
        let (parent, name) = open_parent(root, path)?;
        total_bytes = total_bytes.saturating_add(size_bytes(&parent, name)?);
        if total_bytes > DISK_QUOTA_BYTES {
            return Err(parent.corrupt(name, format!("the tree has more than {DISK_QUOTA_BYTES} bytes")));
        }
        entries.push(seal_file(&parent, name, path, stop)?);
    }
    for path in listing.directories.iter().map(String::as_str).chain([""]) {
        let dir = open_directory(root, path)?;
        dir.restrict()?;
        dir.sync()?;
    }
    Ok((listing, entries))
}

/// As it is read, which a file with holes makes much more than it occupies.
fn size_bytes(dir: &Dir, name: &str) -> Result<u64, StoreError> {
    let stat = dir.stat(name)?;
    Ok(stat.and_then(|stat| u64::try_from(stat.st_size).ok()).unwrap_or(0))
}

/// Inventories one file, giving it the store's mode and making it durable.
pub(super) fn seal_file(
    dir: &Dir,
    name: &str,
    path: &str,
    stop: Stop<'_>,
) -> Result<InventoryEntry, StoreError> {
    let mut file = dir.open_file(name)?;
    let full_path = dir.child_path(name);
    let stat = rustix::fs::fstat(&file).at(Operation::Read, &full_path)?;
    if stat.st_nlink != 1 {
        return Err(dir.corrupt(name, "the file has a second name"));
    }
    fchmod(&file, FILE_MODE).at(Operation::Write, &full_path)?;
    let (size_bytes, sha256) = hashing::hash(&mut file, &full_path, stop)?;
    file.sync_all().at(Operation::Sync, &full_path)?;
    Ok(InventoryEntry { path: path.to_owned(), size_bytes, sha256 })
}

/// Compares what was read of a file with its inventory entry.
pub(super) fn check_contents(
    path: &Path,
    expected: &InventoryEntry,
    found: (u64, crate::domain::digest::ContentDigest),
) -> Result<(), StoreError> {
    let reason = if found.0 != expected.size_bytes {
        format!("has {} bytes, recorded are {}", found.0, expected.size_bytes)
    } else if found.1 != expected.sha256 {
        format!("has SHA-256 {}, recorded is {}", found.1, expected.sha256)
    } else {
        return Ok(());
    };
    Err(StoreError::Corrupt { path: path.to_path_buf(), reason })
}

/// Compares a tree's listing with its inventory: nothing missing, nothing unexpected.
pub(super) fn check_listing(
    root: &Dir,
    directories: &[String],
    files: &[InventoryEntry],
) -> Result<(), StoreError> {
    let listing = list(root)?;
    let recorded: Vec<&String> = files.iter().map(|entry| &entry.path).collect();
    difference(root, listing.directories.iter().collect(), directories.iter().collect())?;
    difference(root, listing.files.iter().collect(), recorded)
}

fn difference(root: &Dir, found: Vec<&String>, recorded: Vec<&String>) -> Result<(), StoreError> {
    if let Some(path) = found.iter().find(|path| recorded.binary_search(path).is_err()) {
        return Err(root.corrupt(path.as_str(), "not in the inventory"));
    }
    match recorded.iter().find(|path| found.binary_search(path).is_err()) {
        Some(path) => Err(root.corrupt(path.as_str(), "missing")),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn project() -> (tempfile::TempDir, Dir) {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("analysis.gpr"), b"").unwrap();
        std::fs::create_dir_all(temp.path().join("analysis.rep/idata/00/~0.db")).unwrap();
        std::fs::create_dir_all(temp.path().join("analysis.rep/versioned")).unwrap();
        std::fs::write(temp.path().join("analysis.rep/idata/00/~0.db/db.1.gbf"), b"db").unwrap();
        std::fs::write(temp.path().join("analysis.rep/idata.x"), b"x").unwrap();
        let dir = Dir::open_root(temp.path()).unwrap().unwrap();
        (temp, dir)
    }

    #[test]
    fn sealing_records_and_protects_every_file_in_bytewise_path_order() {
        let (temp, dir) = project();
        let (listing, entries) = seal(&dir, &hashing::to_the_end).unwrap();
        let paths: Vec<_> = entries.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["analysis.gpr", "analysis.rep/idata.x", "analysis.rep/idata/00/~0.db/db.1.gbf"]);
        assert!(listing.directories.contains(&"analysis.rep/versioned".to_owned()));
        assert_eq!(entries[2].sha256, crate::domain::digest::ContentDigest::of(b"db"));
        let mode =
            |path: &str| std::fs::metadata(temp.path().join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode("analysis.rep/idata/00"), mode("analysis.gpr")), (0o700, 0o600));
        check_listing(&dir, &listing.directories, &entries).unwrap();
    }

    #[test]
    fn missing_and_unexpected_entries_are_corruption() {
        let (temp, dir) = project();
        let (listing, entries) = seal(&dir, &hashing::to_the_end).unwrap();
        let check = || check_listing(&dir, &listing.directories, &entries);
        let extra = temp.path().join("analysis.rep/extra");
        std::fs::write(&extra, b"").unwrap();
        assert!(
            matches!(check(), Err(StoreError::Corrupt { reason, .. }) if reason == "not in the inventory")
        );
        std::fs::remove_file(&extra).unwrap();
        std::fs::create_dir(&extra).unwrap();
        assert!(matches!(check(), Err(StoreError::Corrupt { .. })));
        std::fs::remove_dir(&extra).unwrap();
        check().unwrap();
        std::fs::remove_dir(temp.path().join("analysis.rep/versioned")).unwrap();
        assert!(matches!(check(), Err(StoreError::Corrupt { reason, .. }) if reason == "missing"));
    }

    #[test]
    fn links_and_second_names_are_refused() {
        let (temp, dir) = project();
        symlink("/etc/passwd", temp.path().join("analysis.rep/link")).unwrap();
        assert!(matches!(seal(&dir, &hashing::to_the_end), Err(StoreError::Corrupt { .. })));
        std::fs::remove_file(temp.path().join("analysis.rep/link")).unwrap();
        std::fs::hard_link(temp.path().join("analysis.gpr"), temp.path().join("second")).unwrap();
        assert!(matches!(seal(&dir, &hashing::to_the_end), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn a_bottomless_tree_is_refused() {
        let (_temp, dir) = project();
        let mut deep = dir.create_dir("deep").unwrap();
        for _ in 0..MAX_DEPTH + 1 {
            deep = deep.create_dir("d").unwrap();
        }
        assert!(matches!(list(&dir), Err(StoreError::Corrupt { .. })));
    }
}
