//! Results of Queries that need Ghidra, kept so that asking again does not.
//!
//! `results/<sample>/<profile>/<key>.json`: the name is the digest of everything that can change
//! the result, the Analysis's manifest digest among it, so a rebuilt Analysis never meets the
//! results of its predecessor. The file carries a digest of its own. One that does not match, in
//! whatever way, is no result: the Query is asked again and the file replaced. Keeping is an
//! economy, never a promise: refuses results larger than [`MAX_RESULT_BYTES`].

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::analysis::StoredAnalysis;
use super::dir::Dir;
use super::document;
use super::error::StoreError;
use super::hashing::read_bounded;
use super::layout;
use super::lock::{BuildGuard, HoldsAnalysisLock as _, HoldsStoreLock};
use super::open::Store;
use super::staging::StagingDir;
use super::tree;
use crate::domain::canonical_json::to_canonical_bytes;
use crate::domain::digest::{ContentDigest, ProfileDigest};

/// Largest kept result, in bytes.
const MAX_RESULT_BYTES: u64 = 16 * 1_048_576;
/// Name of the file while it is in staging.
const PENDING: &str = "result";

/// The file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct KeptResult<T> {
    /// SHA-256 of the canonical key: the name of the file.
    key_sha256: ContentDigest,
    /// SHA-256 of `result` in its exact encoding.
    result_sha256: ContentDigest,
    /// What the Query gave.
    result: T,
}

/// Digest of the canonical form of everything that can change a result.
pub(super) fn key_digest(key: &impl Serialize) -> Result<ContentDigest, StoreError> {
    Ok(ContentDigest::of(&to_canonical_bytes(key)?))
}

impl StoredAnalysis {
    /// The result that was kept under `key`, if it is there and intact.
    pub fn kept_result<T: Serialize + DeserializeOwned>(
        &self,
        store: &Store,
        key: &impl Serialize,
    ) -> Option<T> {
        let key = key_digest(key).ok()?;
        let dir = self.results_dir(&store.root).ok()??;
        let bytes = read_bounded(&dir, &file_name(key), MAX_RESULT_BYTES).ok()?;
        let kept: KeptResult<T> = document::decode(&bytes).ok()?;
        // INVARIANT(nothing-unverified-is-served): what does not match its digests was never asked.
        let intact = kept.key_sha256 == key && kept.result_sha256 == digest_of(&kept.result).ok()?;
        intact.then_some(kept.result)
    }

    /// Keeps `result` under `key`, replacing whatever is there; `false` when it is too large.
    pub fn keep_result<T: Serialize>(
        &self,
        store: &Store,
        lock: &impl HoldsStoreLock,
        key: &impl Serialize,
        result: &T,
    ) -> Result<bool, StoreError> {
        let key = key_digest(key)?;
        let kept = KeptResult { key_sha256: key, result_sha256: digest_of(result)?, result };
        let bytes = document::encode(&kept)?;
        if bytes.len() as u64 > MAX_RESULT_BYTES {
            return Ok(false);
        }
        let staging = StagingDir::create_unnamed(store, lock)?;
        staging.dir.write_new_file(PENDING, &bytes)?;
        let dir = store
            .root
            .ensure_dir(layout::RESULTS)?
            .ensure_dir(self.sample_digest().to_string())?
            .ensure_dir(self.profile_digest().to_string())?;
        staging.dir.rename(PENDING.as_ref(), &dir, file_name(key).as_ref())?;
        dir.sync()?;
        Ok(true)
    }

    fn results_dir(&self, root: &Dir) -> Result<Option<Dir>, StoreError> {
        let Some(results) = root.try_open_dir(layout::RESULTS)? else { return Ok(None) };
        let Some(sample) = results.try_open_dir(self.sample_digest().to_string())? else { return Ok(None) };
        sample.try_open_dir(self.profile_digest().to_string())
    }
}

impl Store {
    /// Removes the results of an Analysis that was quarantined. They can no longer be found, so
    /// what cannot be removed is only space, and cleanup's.
    pub(super) fn forget_results(&self, guard: &BuildGuard, profile: ProfileDigest) {
        let _ = self.try_forget_results(&guard.sample().to_string(), &profile.to_string());
    }

    fn try_forget_results(&self, sample: &str, profile: &str) -> Result<(), StoreError> {
        let Some(results) = self.root.try_open_dir(layout::RESULTS)? else { return Ok(()) };
        let Some(profiles) = results.try_open_dir(sample)? else { return Ok(()) };
        let Some(dir) = profiles.try_open_dir(profile)? else { return Ok(()) };
        tree::remove_contents(&dir)?;
        profiles.remove_empty_dir(profile)
    }
}

fn file_name(key: ContentDigest) -> String {
    format!("{key}.json")
}

fn digest_of(result: &impl Serialize) -> Result<ContentDigest, StoreError> {
    Ok(ContentDigest::of(&document::encode(result)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::{TestStore, id};
    use std::path::PathBuf;

    const KEY: (&str, u32) = ("query", 1);

    fn found(test: &TestStore) -> StoredAnalysis {
        test.store.find_analysis(&test.read_lock(2)).unwrap().unwrap()
    }

    fn kept(test: &TestStore) -> Option<String> {
        found(test).kept_result(&test.store, &KEY)
    }

    fn keep(test: &TestStore, text: &str) -> bool {
        let lock = test.store.lock().unwrap();
        found(test).keep_result(&test.store, &lock, &KEY, &text).unwrap()
    }

    fn file(test: &TestStore) -> PathBuf {
        let analysis = found(test);
        test.path()
            .join("results")
            .join(test.sample().to_string())
            .join(analysis.profile_digest().to_string())
            .join(file_name(key_digest(&KEY).unwrap()))
    }

    #[test]
    fn a_kept_result_comes_back_under_its_key_alone() {
        let test = TestStore::new();
        test.promote(2, 1);
        assert_eq!(kept(&test), None);
        assert!(keep(&test, "text"));
        assert_eq!(kept(&test).as_deref(), Some("text"));
        assert_eq!(found(&test).kept_result::<String>(&test.store, &("query", 2)), None);
        test.promote(1, 2);
        let other = test.store.find_analysis(&test.read_lock(1)).unwrap().unwrap();
        assert_eq!(other.kept_result::<String>(&test.store, &KEY), None);
        assert!(keep(&test, "other"));
        assert_eq!(kept(&test).as_deref(), Some("other"));
        assert_eq!(std::fs::read_dir(test.path().join("staging")).unwrap().count(), 0);
    }

    #[test]
    fn every_flipped_byte_and_every_cut_of_a_kept_result_is_no_result() {
        let test = TestStore::new();
        test.promote(2, 1);
        keep(&test, "text");
        let path = file(&test);
        let intact = std::fs::read(&path).unwrap();
        for position in 0..intact.len() {
            let mut bytes = intact.clone();
            bytes[position] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(kept(&test), None, "byte {position}");
            std::fs::write(&path, &intact[..position]).unwrap();
            assert_eq!(kept(&test), None, "cut at {position}");
        }
        std::fs::write(&path, &intact).unwrap();
        assert_eq!(kept(&test).as_deref(), Some("text"));
    }

    #[test]
    fn what_is_no_file_is_no_result_and_a_link_is_replaced() {
        let test = TestStore::new();
        test.promote(2, 1);
        keep(&test, "text");
        let path = file(&test);
        let outside = test.path().join("../outside");
        std::fs::rename(&path, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        assert_eq!(kept(&test), None);
        keep(&test, "new");
        assert!(std::fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(kept(&test).as_deref(), Some("new"));
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        assert_eq!(kept(&test), None);
    }

    #[test]
    fn a_result_over_the_bound_is_not_kept() {
        let test = TestStore::new();
        test.promote(2, 1);
        assert!(!keep(&test, &"x".repeat(MAX_RESULT_BYTES as usize)));
        assert!(!test.path().join("results").exists());
    }

    #[test]
    fn quarantine_forgets_the_results_of_that_analysis_alone() {
        let test = TestStore::new();
        test.promote(2, 1);
        test.promote(1, 2);
        keep(&test, "text");
        let path = file(&test);
        let lock = test.store.lock().unwrap();
        let other = test.store.find_analysis(&test.read_lock(1)).unwrap().unwrap();
        other.keep_result(&test.store, &lock, &KEY, &"other").unwrap();
        let profile = found(&test).profile_digest();
        test.store.quarantine(&test.build_lock(2), profile, id(9)).unwrap().unwrap();
        assert!(!path.exists());
        assert_eq!(other.kept_result::<String>(&test.store, &KEY).as_deref(), Some("other"));
    }

    #[test]
    fn a_rebuilt_analysis_has_another_manifest_digest() {
        let test = TestStore::new();
        test.promote(2, 1);
        let (before, profile) = (found(&test).manifest_digest(), found(&test).profile_digest());
        test.store.quarantine(&test.build_lock(2), profile, id(9)).unwrap().unwrap();
        test.promote(2, 2);
        assert_eq!(found(&test).profile_digest(), profile);
        assert_ne!(found(&test).manifest_digest(), before);
    }
}
