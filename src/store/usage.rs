//! How much the store occupies, and whether it can be written.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::denied::Denied;
use super::dir::Dir;
use super::error::StoreError;
use super::lock::HoldsStoreLock;
use super::open::Store;
use super::staging::StagingDir;
use crate::domain::usage::StorageUsage;

/// Depth below which nothing is counted: only the live staging of a hostile worker is deeper.
const MAX_DEPTH: usize = 64;
/// Size of one `st_blocks` unit, in bytes.
const BLOCK_BYTES: u64 = 512;

impl Store {
    /// Usage of everything in the store, never through a link. Entries that vanish meanwhile,
    /// or that a live worker closes, are not counted.
    pub fn usage(&self) -> Result<StorageUsage, StoreError> {
        usage_of(&self.root, Denied::LeftOut)
    }

    /// Writes, flushes and removes a file, as `doctor` proves that the store is writable.
    pub fn probe_writable(&self, lock: &impl HoldsStoreLock) -> Result<(), StoreError> {
        let staging = StagingDir::create_unnamed(self, lock)?;
        staging.dir.write_new_file("probe", b"ghidr\n")
    }
}

/// Usage of the tree at `top`, itself included.
pub(super) fn usage_of(top: &Dir, denied: Denied) -> Result<StorageUsage, StoreError> {
    let mut usage = StorageUsage { logical_bytes: 0, allocated_bytes: allocated(top.metadata()?.st_blocks) };
    let mut pending = vec![(PathBuf::new(), 0)];
    while let Some((path, depth)) = pending.pop() {
        let Some(dir) = open_relative(top, &path, denied)? else { continue };
        let Some(entries) = denied.tolerate(dir.entries().map(Some))? else { continue };
        for entry in entries {
            let Some(stat) = denied.tolerate(dir.stat(&entry.name))? else { continue };
            usage.allocated_bytes = usage.allocated_bytes.saturating_add(allocated(stat.st_blocks));
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => {
                    let bytes = u64::try_from(stat.st_size).unwrap_or(0);
                    usage.logical_bytes = usage.logical_bytes.saturating_add(bytes);
                }
                FileType::Directory if depth < MAX_DEPTH => {
                    pending.push((path.join(&entry.name), depth + 1));
                }
                _ => {}
            }
        }
    }
    Ok(usage)
}

/// Usage of one entry of `parent` and everything inside; nothing of that name uses nothing.
pub(super) fn usage_of_entry(parent: &Dir, name: &OsStr, denied: Denied) -> Result<StorageUsage, StoreError> {
    let Some(stat) = parent.stat(name)? else { return Ok(StorageUsage::default()) };
    let entry = |logical_bytes| StorageUsage { logical_bytes, allocated_bytes: allocated(stat.st_blocks) };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(entry(u64::try_from(stat.st_size).unwrap_or(0))),
        FileType::Directory => match denied.open_if_directory(parent, name)? {
            Some(dir) => usage_of(&dir, denied),
            None => Ok(entry(0)),
        },
        _ => Ok(entry(0)),
    }
}

/// Opens a directory found a moment ago; `None` when it vanished or was replaced.
fn open_relative(top: &Dir, path: &Path, denied: Denied) -> Result<Option<Dir>, StoreError> {
    let mut dir = top.reopen()?;
    for component in path {
        let Some(child) = denied.open_if_directory(&dir, component)? else { return Ok(None) };
        dir = child;
    }
    Ok(Some(dir))
}

fn allocated(blocks: i64) -> u64 {
    u64::try_from(blocks).unwrap_or(0).saturating_mul(BLOCK_BYTES)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::store::testing::{TestStore, bound_by_modes};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    #[test]
    fn usage_counts_lengths_and_blocks_and_follows_no_link() {
        let test = TestStore::new();
        let record = std::fs::metadata(test.path().join("store.json")).unwrap();
        let outside = test.path().join("../outside");
        std::fs::write(&outside, vec![0; 1_000_000]).unwrap();
        std::fs::create_dir(test.path().join("analyses")).unwrap();
        std::fs::write(test.path().join("analyses/file"), b"12345").unwrap();
        std::os::unix::fs::symlink(&outside, test.path().join("analyses/link")).unwrap();
        std::os::unix::fs::symlink("..", test.path().join("analyses/loop")).unwrap();
        let usage = test.store.usage().unwrap();
        assert_eq!(usage.logical_bytes, record.len() + 5);
        let blocks: u64 = ["", "store.json", "analyses", "analyses/file", "analyses/link", "analyses/loop"]
            .iter()
            .map(|path| std::fs::symlink_metadata(test.path().join(path)).unwrap().blocks())
            .sum();
        assert_eq!(usage.allocated_bytes, blocks * 512);
    }

    #[test]
    fn what_a_live_worker_closes_is_left_out() {
        let test = TestStore::new();
        let without = test.store.usage().unwrap();
        for mode in [0o000, 0o400] {
            let closed = test.path().join(format!("staging/{mode:o}"));
            std::fs::create_dir_all(&closed).unwrap();
            std::fs::write(closed.join("file"), b"12345").unwrap();
            std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(test.store.usage().unwrap().logical_bytes, without.logical_bytes + 10);
        assert_eq!(bound_by_modes(|| test.store.usage().unwrap().logical_bytes), without.logical_bytes);
    }

    #[test]
    fn the_write_probe_leaves_nothing() {
        let test = TestStore::new();
        test.store.probe_writable(&test.store.lock().unwrap()).unwrap();
        assert_eq!(std::fs::read_dir(test.path().join("staging")).unwrap().count(), 0);
    }
}
