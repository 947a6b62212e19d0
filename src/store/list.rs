//! What is kept of one Sample, read without changing anything.
//!
//! Under the store lock alone: an Analysis may be made, quarantined or cleaned meanwhile. Its
//! manifest and Profile are verified, facts and project are not. What is damaged is said to
//! be, and stops nothing.

use std::ffi::OsStr;

use super::analysis::load_identity;
use super::cleanup::CleanupScope;
use super::denied::Denied;
use super::dir::Dir;
use super::error::StoreError;
use super::layout;
use super::lock::HoldsStoreLock;
use super::manifest::AnalysisManifest;
use super::open::Store;
use super::usage::usage_of_entry;
use crate::domain::digest::{ProfileDigest, SampleDigest};
use crate::domain::profile::AnalysisProfile;
use crate::domain::store_list::{AnalysisStatus, ListedAnalysis, ListedManifest, StoredSample};

impl Store {
    /// Everything that is kept of one Sample.
    pub fn describe_sample(
        &self,
        lock: &impl HoldsStoreLock,
        sample: SampleDigest,
    ) -> Result<StoredSample, StoreError> {
        let counts = self.survey_kept(lock, CleanupScope::Sample(sample))?;
        let mut described = StoredSample {
            sample_sha256: sample,
            sample_size_bytes: None,
            analyses: Vec::new(),
            quarantined_analyses: counts.quarantined_analyses,
            artifacts: counts.artifacts,
            kept_results: counts.kept_results,
            diagnostic_logs: counts.diagnostic_logs,
            usage: counts.usage,
        };
        let Some(analyses) = self.root.try_open_dir(layout::ANALYSES)? else { return Ok(described) };
        // Something else in the place of a directory holds no Analysis; its usage is counted.
        let name = sample.to_string();
        let Some(profiles) = Denied::Refused.open_if_directory(&analyses, name.as_ref())? else {
            return Ok(described);
        };
        for entry in profiles.entries()? {
            let Some(profile) = entry.name.to_str().and_then(|name| name.parse().ok()) else { continue };
            let outcome = load_identity(&profiles, sample, profile);
            if let Ok((manifest, _)) = &outcome {
                described.sample_size_bytes = Some(manifest.sample.size_bytes);
            }
            described.analyses.extend(describe(&profiles, &entry.name, profile, outcome)?);
        }
        Ok(described)
    }
}

/// `None` when the Analysis vanished while it was read.
fn describe(
    profiles: &Dir,
    name: &OsStr,
    profile_digest: ProfileDigest,
    outcome: Result<(AnalysisManifest, AnalysisProfile), StoreError>,
) -> Result<Option<ListedAnalysis>, StoreError> {
    let usage = usage_of_entry(profiles, name, Denied::Refused)?;
    if profiles.stat(name)?.is_none() {
        return Ok(None);
    }
    let (status, problem, manifest) = match outcome {
        Ok((manifest, profile)) => (AnalysisStatus::Complete, None, Some(listed(manifest, profile))),
        Err(error) => (AnalysisStatus::Corrupt, Some(problem(error)), None),
    };
    Ok(Some(ListedAnalysis { analysis_profile_sha256: profile_digest, status, problem, manifest, usage }))
}

fn listed(manifest: AnalysisManifest, profile: AnalysisProfile) -> ListedManifest {
    ListedManifest {
        target: manifest.analysis_profile.target,
        ghidra_version: profile.ghidra_version,
        ghidra_build: profile.ghidra_build,
        java_version: profile.java_version,
        max_cpu: profile.max_cpu,
        created_at: manifest.created_by.completed_at,
        created_by_ghidr_version: manifest.created_by.ghidr_version,
    }
}

/// What is wrong, by the file it was found in.
fn problem(error: StoreError) -> String {
    match error {
        StoreError::Corrupt { path, reason } => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("{name}: {reason}")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::{TestStore, profile};

    fn describe(test: &TestStore) -> StoredSample {
        test.store.describe_sample(&test.store.lock().unwrap(), test.sample()).unwrap()
    }

    #[test]
    fn a_sample_is_described_by_its_sound_manifests() {
        let test = TestStore::new();
        test.promote(2, 1);
        test.promote(1, 2);
        let described = describe(&test);
        assert_eq!((described.sample_size_bytes, described.analyses.len()), (Some(6), 2));
        let one = described
            .analyses
            .iter()
            .find(|listed| listed.analysis_profile_sha256 == profile(1).digest().unwrap())
            .unwrap();
        assert_eq!((one.status, &one.problem), (AnalysisStatus::Complete, &None));
        let manifest = one.manifest.as_ref().unwrap();
        assert_eq!((manifest.max_cpu, manifest.ghidra_version.as_str()), (1, "10.3"));
        assert_eq!(manifest.created_at, "1970-01-01T00:00:00Z");
        assert!(one.usage.logical_bytes > 300_000);
        let sum: u64 = described.analyses.iter().map(|listed| listed.usage.logical_bytes).sum();
        assert_eq!(described.usage.logical_bytes, sum);
    }

    #[test]
    fn a_damaged_analysis_is_listed_as_such_and_hides_no_other() {
        type Damage = fn(&std::path::Path);
        let damages: [(Damage, &str); 5] = [
            (|path| std::fs::write(path.join("manifest.json"), b"{}\n").unwrap(), "manifest.json: "),
            (|path| std::fs::remove_file(path.join("profile.json")).unwrap(), "profile.json: missing"),
            (|path| std::fs::write(path.join("more"), b"").unwrap(), "more: unexpected entry"),
            (
                |path| {
                    std::fs::remove_dir_all(path).unwrap();
                    std::os::unix::fs::symlink("..", path).unwrap();
                },
                "expected a directory",
            ),
            (
                |path| {
                    std::fs::remove_dir_all(path).unwrap();
                    std::fs::write(path, b"file").unwrap();
                },
                "expected a directory",
            ),
        ];
        for (damage, problem) in damages {
            let test = TestStore::new();
            test.promote(1, 1);
            damage(&test.promote(2, 2));
            let described = describe(&test);
            assert_eq!(described.sample_size_bytes, Some(6));
            let found: Vec<_> = described.analyses.iter().filter_map(|it| it.problem.as_deref()).collect();
            assert!(found.len() == 1 && found[0].contains(problem), "{found:?}");
            let is_corrupt = |it: &&ListedAnalysis| it.status == AnalysisStatus::Corrupt;
            let corrupt = described.analyses.iter().find(is_corrupt).unwrap();
            assert_eq!(corrupt.analysis_profile_sha256, profile(2).digest().unwrap());
            assert!(corrupt.manifest.is_none());
        }
    }

    #[test]
    fn what_is_in_the_place_of_a_samples_directory_is_no_analysis() {
        let test = TestStore::new();
        test.promote(1, 1);
        let place = test.path().join("analyses").join(test.sample().to_string());
        std::fs::remove_dir_all(&place).unwrap();
        std::fs::write(&place, b"12345").unwrap();
        let described = describe(&test);
        assert_eq!((described.analyses.len(), described.usage.logical_bytes), (0, 5));
    }
}
