//! The private snapshot of a Sample that the worker reads instead of the caller's file.
//!
//! Copied and hashed in one pass, so the digest describes exactly the staged bytes.

use std::io::Write as _;

use rustix::fs::Mode;

use super::error::StoreError;
use super::hashing::Stop;
use super::io::{At as _, Operation};
use super::layout;
use super::sample::{OpenedSample, SampleIdentity};
use super::staging::Staging;

impl OpenedSample {
    /// Copies the Sample into `staging`, first making sure that the store's file system has
    /// room for it and `reserve_bytes` more. On failure nothing stays behind.
    pub fn snapshot_into(
        &self,
        staging: &Staging,
        reserve_bytes: u64,
        stop: Stop<'_>,
    ) -> Result<SampleIdentity, StoreError> {
        let outcome = self.copy_into(staging, reserve_bytes, stop);
        if outcome.is_err() {
            // The staging directory goes with its owner; this only frees the space sooner.
            let _ = staging.remove_sample();
        }
        outcome
    }

    fn copy_into(
        &self,
        staging: &Staging,
        reserve_bytes: u64,
        stop: Stop<'_>,
    ) -> Result<SampleIdentity, StoreError> {
        let dir = staging.base.dir.open_dir(layout::SAMPLE)?;
        let path = dir.child_path(layout::SAMPLE);
        staging.require_room(self.observed_size_bytes().saturating_add(reserve_bytes), &path)?;
        let mut file = dir.create_file(layout::SAMPLE, Mode::RUSR)?;
        self.read_through(stop, |chunk| file.write_all(chunk).at(Operation::Write, &path))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::digest::SampleDigest;
    use crate::store::sample::SampleError;
    use crate::store::testing::{TestStore, id};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_snapshot_is_the_hashed_bytes_read_only() {
        let test = TestStore::new();
        let path = test.path().join("../sample");
        std::fs::write(&path, b"bytes").unwrap();
        let staging = test.store.begin_staging(id(1), &test.store.lock().unwrap()).unwrap();
        let sample = OpenedSample::open(&path, 100).unwrap();
        let identity = sample.snapshot_into(&staging, 0, &|| None).unwrap();
        assert_eq!(identity.digest, SampleDigest::of(b"bytes"));
        assert_eq!(identity, sample.hash(&|| None).unwrap());
        assert_eq!(std::fs::read(staging.sample_path()).unwrap(), b"bytes");
        let mode = std::fs::metadata(staging.sample_path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o400);
        staging.remove_sample().unwrap();
        assert!(!staging.sample_path().exists());
    }

    #[test]
    fn a_source_change_during_the_copy_aborts_and_leaves_no_snapshot() {
        let test = TestStore::new();
        let path = test.path().join("../sample");
        std::fs::write(&path, b"bytes").unwrap();
        let staging = test.store.begin_staging(id(1), &test.store.lock().unwrap()).unwrap();
        let sample = OpenedSample::open(&path, 100).unwrap();
        // Asked before every step of the copy, and so in the middle of it.
        let change = || {
            std::fs::write(&path, b"other").unwrap();
            None
        };
        let outcome = sample.snapshot_into(&staging, 0, &change);
        assert!(matches!(outcome, Err(StoreError::Sample(SampleError::Changed))));
        assert!(!staging.sample_path().exists());
    }

    #[test]
    fn room_for_the_reserve_is_required_before_anything_is_copied() {
        let test = TestStore::new();
        let path = test.path().join("../sample");
        std::fs::write(&path, b"bytes").unwrap();
        let staging = test.store.begin_staging(id(1), &test.store.lock().unwrap()).unwrap();
        let sample = OpenedSample::open(&path, 100).unwrap();
        let outcome = sample.snapshot_into(&staging, u64::MAX - 5, &|| None);
        let Err(StoreError::NoSpace {
            required_bytes: Some(required), available_bytes: Some(available), ..
        }) = outcome
        else {
            unreachable!("{outcome:?}")
        };
        assert_eq!(required, u64::MAX);
        assert!(available < required);
        assert!(!staging.sample_path().exists());
    }
}
