//! The private copy of a stored project that a Query works on (decision D6).
//!
//! Copied and verified in one pass, so what the worker opens is what was hashed and the
//! stored project is never exposed. Shares blocks where the file system can.

use std::io::Seek as _;

use rustix::fs::ioctl_ficlone;

use super::analysis::StoredAnalysis;
use super::dir::{Dir, FILE_MODE};
use super::error::StoreError;
use super::hashing::{self, Stop};
use super::inventory::{check_contents, open_directory, open_parent};
use super::io::{At as _, Operation};
use super::layout;
use super::manifest::InventoryEntry;
use super::staging::Staging;

impl StoredAnalysis {
    /// Copies the project into the empty project directory of `staging`, verifying every byte
    /// and refusing missing and unexpected entries. First makes sure that the file system has room for it, holes
    /// filled, and `reserve_bytes` more.
    pub fn copy_project_into(
        &self,
        staging: &Staging,
        reserve_bytes: u64,
        stop: Stop<'_>,
    ) -> Result<(), StoreError> {
        let target = staging.base.dir.open_dir(layout::ANALYSIS)?.open_dir(layout::PROJECT)?;
        let files = self.manifest().project.files.iter();
        let project_bytes = files.fold(0_u64, |sum, entry| sum.saturating_add(entry.size_bytes));
        staging.require_room(project_bytes.saturating_add(reserve_bytes), target.path())?;
        self.attribute(self.copy_project(&target, stop))
    }

    fn copy_project(&self, target: &Dir, stop: Stop<'_>) -> Result<(), StoreError> {
        let source = self.open_project()?;
        let recorded = &self.manifest().project;
        for path in &recorded.directories {
            let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
            open_directory(target, parents)?.create_dir(name)?;
        }
        recorded.files.iter().try_for_each(|entry| copy_file(&source, target, entry, stop))
    }
}

fn copy_file(source: &Dir, target: &Dir, entry: &InventoryEntry, stop: Stop<'_>) -> Result<(), StoreError> {
    let (source, name) = open_parent(source, &entry.path)?;
    let (target, _) = open_parent(target, &entry.path)?;
    let source_path = source.child_path(name);
    let target_path = target.child_path(name);
    let mut from = source.open_file(name)?;
    let mut to = target.create_file(name, FILE_MODE)?;
    let found = if ioctl_ficlone(&to, &from).is_ok() {
        to.rewind().at(Operation::Read, &target_path)?;
        hashing::hash(&mut to, &target_path, stop)?
    } else {
        hashing::copy(&mut from, &source_path, &mut to, &target_path, stop)?
    };
    check_contents(&source_path, entry, found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::{TestStore, id};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn room_is_required_before_anything_is_copied_and_a_signal_ends_the_copy() {
        let test = TestStore::new();
        test.promote(2, 1);
        let guard = test.read_lock(2);
        let analysis = test.store.find_analysis(&guard).unwrap().unwrap();
        let staging = test.store.begin_staging(id(2), &guard).unwrap();
        let refused = analysis.copy_project_into(&staging, u64::MAX, &hashing::to_the_end);
        assert!(
            matches!(refused, Err(StoreError::NoSpace { required_bytes: Some(u64::MAX), .. })),
            "{refused:?}"
        );
        assert_eq!(std::fs::read_dir(staging.project_directory()).unwrap().count(), 0);
        let interrupted = analysis.copy_project_into(&staging, 0, &|| Some(15));
        assert!(matches!(interrupted, Err(StoreError::Interrupted { signal: 15 })), "{interrupted:?}");
    }

    #[test]
    fn the_copy_is_exact_private_and_independent() {
        let test = TestStore::new();
        let stored = test.promote(2, 1).join("project");
        let guard = test.read_lock(2);
        let analysis = test.store.find_analysis(&guard).unwrap().unwrap();
        let staging = test.store.begin_staging(id(2), &guard).unwrap();
        analysis.copy_project_into(&staging, 0, &hashing::to_the_end).unwrap();
        let copy = staging.project_directory();
        let database = "analysis.rep/idata/00/db.1.gbf";
        assert_eq!(std::fs::read(copy.join(database)).unwrap(), vec![7; 300_000]);
        assert!(copy.join("analysis.rep/versioned").is_dir());
        let mode = std::fs::metadata(copy.join(database)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        std::fs::write(copy.join(database), b"changed").unwrap();
        assert_eq!(std::fs::read(stored.join(database)).unwrap(), vec![7; 300_000]);
        analysis.verify().unwrap();
    }

    #[test]
    fn a_damaged_project_is_not_copied_silently() {
        let test = TestStore::new();
        let stored = test.promote(2, 1).join("project");
        let guard = test.read_lock(2);
        let analysis = test.store.find_analysis(&guard).unwrap().unwrap();
        std::fs::write(stored.join("analysis.rep/project.prp"), b"Owner").unwrap();
        let staging = test.store.begin_staging(id(2), &guard).unwrap();
        let outcome = analysis.copy_project_into(&staging, 0, &hashing::to_the_end);
        assert!(matches!(outcome, Err(StoreError::CorruptAnalysis { .. })), "{outcome:?}");
        std::fs::write(stored.join("analysis.rep/project.prp"), b"owner").unwrap();
        std::fs::write(stored.join("analysis.rep/more"), b"").unwrap();
        let staging = test.store.begin_staging(id(3), &guard).unwrap();
        let outcome = analysis.copy_project_into(&staging, 0, &hashing::to_the_end);
        assert!(matches!(outcome, Err(StoreError::CorruptAnalysis { .. })), "{outcome:?}");
    }
}
