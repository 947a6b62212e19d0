//! Finding a stored Analysis by its basis, and serving only what was verified.
//!
//! Directory traversal is authoritative. `profile.json` must hash to the name of its
//! directory, so it tells which basis an entry belongs to even when the rest is damaged. A
//! facts Query verifies manifest, Profile and the facts it reads; the project is verified by
//! whoever opens it (decisions D5 and D6).

use super::dir::Dir;
use super::document;
use super::error::StoreError;
use super::facts::PROGRAM_FACTS_LIMIT_BYTES;
use super::function_table::FunctionTable;
use super::hashing::read_bounded;
use super::inventory::{check_contents, check_listing};
use super::layout;
use super::lock::{AnalysisLock, HoldsAnalysisLock};
use super::manifest::{AnalysisManifest, digest_line};
use super::open::Store;
use crate::domain::digest::{BasisDigest, ContentDigest, ProfileDigest, SampleDigest};
use crate::domain::profile::AnalysisProfile;
use crate::domain::program::ProgramFacts;

/// Most bytes of `manifest.json` or `profile.json`.
pub(super) const DOCUMENT_LIMIT_BYTES: u64 = 16 * 1_048_576;
/// Everything an Analysis directory holds, bytewise sorted.
const ENTRIES: [&str; 5] =
    [layout::FACTS, layout::MANIFEST, layout::MANIFEST_DIGEST, layout::PROFILE, layout::PROJECT];

/// A complete Analysis whose manifest and Profile were verified. Holds its lock.
#[derive(Debug)]
pub struct StoredAnalysis {
    pub(super) dir: Dir,
    sample: SampleDigest,
    profile_digest: ProfileDigest,
    manifest_digest: ContentDigest,
    manifest: AnalysisManifest,
    profile: AnalysisProfile,
    _lock: AnalysisLock,
}

impl Store {
    /// The Analysis of the Sample and basis that `lock` stands for.
    ///
    /// Fails with [`StoreError::CorruptAnalysis`] when there is none but a damaged entry is,
    /// or may have been, that Analysis: to be quarantined under a build lock.
    pub fn find_analysis(&self, lock: &impl HoldsAnalysisLock) -> Result<Option<StoredAnalysis>, StoreError> {
        let sample = lock.sample();
        let Some(analyses) = self.root.try_open_dir(layout::ANALYSES)? else { return Ok(None) };
        let Some(profiles) = analyses.try_open_dir(sample.to_string())? else { return Ok(None) };
        let mut damaged = None;
        for entry in profiles.entries()? {
            // Other names were never promoted and cannot satisfy a Query.
            let Some(profile) = entry.name.to_str().and_then(|name| name.parse::<ProfileDigest>().ok())
            else {
                continue;
            };
            match StoredAnalysis::load(&profiles, sample, profile, Some(lock.basis()), lock.keep())
                .map_err(|error| error.within_analysis(sample, profile))
            {
                Ok(Some(analysis)) => return Ok(Some(analysis)),
                Ok(None) => {}
                Err(error @ StoreError::CorruptAnalysis { .. }) => {
                    damaged.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        damaged.map_or(Ok(None), Err)
    }
}

impl StoredAnalysis {
    /// Verifies one entry of `analyses/<sample>/`; `None` when it has another basis.
    pub(super) fn load(
        profiles: &Dir,
        sample: SampleDigest,
        profile_digest: ProfileDigest,
        basis: Option<BasisDigest>,
        lock: AnalysisLock,
    ) -> Result<Option<Self>, StoreError> {
        let dir = profiles.open_dir(profile_digest.to_string())?;
        let profile = load_profile(&dir, profile_digest)?;
        let found = profile.basis().digest()?;
        if basis.is_some_and(|basis| basis != found) {
            return Ok(None);
        }
        let (manifest, manifest_digest) = load_verified_manifest(&dir, sample, &profile)?;
        Ok(Some(Self { dir, sample, profile_digest, manifest_digest, manifest, profile, _lock: lock }))
    }

    /// Identity of the Sample.
    pub const fn sample_digest(&self) -> SampleDigest {
        self.sample
    }

    /// Identity of the Profile.
    pub const fn profile_digest(&self) -> ProfileDigest {
        self.profile_digest
    }

    /// Identity of this very Analysis: one made anew of the same Sample has another.
    pub const fn manifest_digest(&self) -> ContentDigest {
        self.manifest_digest
    }

    /// The verified manifest.
    pub const fn manifest(&self) -> &AnalysisManifest {
        &self.manifest
    }

    /// The verified Profile.
    pub const fn profile(&self) -> &AnalysisProfile {
        &self.profile
    }

    /// The verified facts about the Program as a whole.
    pub fn program_facts(&self) -> Result<ProgramFacts, StoreError> {
        self.attribute(self.read_program_facts())
    }

    /// The function table; each reading verifies it.
    pub fn functions(&self) -> Result<FunctionTable<'_>, StoreError> {
        self.attribute(self.open_functions())
    }

    pub(super) fn open_project(&self) -> Result<Dir, StoreError> {
        let project = self.dir.open_dir(layout::PROJECT)?;
        let recorded = &self.manifest.project;
        check_listing(&project, &recorded.directories, &recorded.files)?;
        Ok(project)
    }

    pub(super) fn attribute<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        outcome.map_err(|error| error.within_analysis(self.sample, self.profile_digest))
    }

    fn read_program_facts(&self) -> Result<ProgramFacts, StoreError> {
        let facts = self.dir.open_dir(layout::FACTS)?;
        let corrupt = |reason| facts.corrupt(layout::PROGRAM_FACTS, reason);
        let entry = self.manifest.facts_file(layout::PROGRAM_FACTS).map_err(corrupt)?;
        let bytes = read_bounded(&facts, layout::PROGRAM_FACTS, PROGRAM_FACTS_LIMIT_BYTES)?;
        let found = (bytes.len() as u64, ContentDigest::of(&bytes));
        check_contents(&facts.child_path(layout::PROGRAM_FACTS), entry, found)?;
        document::decode(&bytes).map_err(corrupt)
    }

    fn open_functions(&self) -> Result<FunctionTable<'_>, StoreError> {
        let facts = self.dir.open_dir(layout::FACTS)?;
        let entry = self
            .manifest
            .facts_file(layout::FUNCTIONS)
            .map_err(|reason| facts.corrupt(layout::FUNCTIONS, reason))?;
        Ok(FunctionTable {
            facts,
            entry,
            blocks: &self.manifest.facts.function_blocks,
            total: self.manifest.program.function_count,
            identity: (self.sample, self.profile_digest),
        })
    }
}

/// Manifest and Profile of one Analysis, verified, for whoever reads nothing else of it.
pub(super) fn load_identity(
    profiles: &Dir,
    sample: SampleDigest,
    profile_digest: ProfileDigest,
) -> Result<(AnalysisManifest, AnalysisProfile), StoreError> {
    let dir = profiles.open_dir(profile_digest.to_string())?;
    let profile = load_profile(&dir, profile_digest)?;
    let (manifest, _) = load_verified_manifest(&dir, sample, &profile)?;
    Ok((manifest, profile))
}

fn load_profile(dir: &Dir, expected: ProfileDigest) -> Result<AnalysisProfile, StoreError> {
    let bytes = read_bounded(dir, layout::PROFILE, DOCUMENT_LIMIT_BYTES)?;
    let corrupt = |reason: String| dir.corrupt(layout::PROFILE, reason);
    if ProfileDigest::of(&bytes) != expected {
        return Err(corrupt("its SHA-256 is not the name of its directory".to_owned()));
    }
    let profile: AnalysisProfile =
        serde_json::from_slice(&bytes).map_err(|error| corrupt(error.to_string()))?;
    if profile.canonical_bytes()? != bytes {
        return Err(corrupt("not canonical JSON".to_owned()));
    }
    Ok(profile)
}

fn load_verified_manifest(
    dir: &Dir,
    sample: SampleDigest,
    profile: &AnalysisProfile,
) -> Result<(AnalysisManifest, ContentDigest), StoreError> {
    check_entries(dir)?;
    load_manifest(dir, sample, profile)
}

fn check_entries(dir: &Dir) -> Result<(), StoreError> {
    let entries = dir.entries()?;
    if let Some(entry) = entries.iter().find(|entry| !ENTRIES.iter().any(|name| entry.name == *name)) {
        return Err(dir.corrupt(&entry.name, "unexpected entry"));
    }
    match ENTRIES.iter().find(|name| !entries.iter().any(|entry| entry.name == **name)) {
        Some(name) => Err(dir.corrupt(name, "missing")),
        None => Ok(()),
    }
}

fn load_manifest(
    dir: &Dir,
    sample: SampleDigest,
    profile: &AnalysisProfile,
) -> Result<(AnalysisManifest, ContentDigest), StoreError> {
    let bytes = read_bounded(dir, layout::MANIFEST, DOCUMENT_LIMIT_BYTES)?;
    let recorded = read_bounded(dir, layout::MANIFEST_DIGEST, DOCUMENT_LIMIT_BYTES)?;
    if recorded != digest_line(&bytes).as_bytes() {
        return Err(dir.corrupt(layout::MANIFEST, "does not match manifest.sha256"));
    }
    let manifest = AnalysisManifest::decode(&bytes, sample, profile)
        .map_err(|reason| dir.corrupt(layout::MANIFEST, reason))?;
    Ok((manifest, ContentDigest::of(&bytes)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::digest::ContentDigest;
    use crate::store::hashing::to_the_end;
    use crate::store::testing::{TestStore, function, id};
    use std::path::Path;

    fn find(test: &TestStore, max_cpu: u32) -> Result<Option<StoredAnalysis>, StoreError> {
        test.store.find_analysis(&test.read_lock(max_cpu))
    }

    /// Changes one byte and nothing else.
    fn flip(path: &Path) {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn an_analysis_is_found_by_its_basis_and_verifies() {
        let test = TestStore::new();
        assert!(find(&test, 2).unwrap().is_none());
        test.promote(2, 1);
        test.promote(1, 2);
        assert!(find(&test, 4).unwrap().is_none());
        let analysis = find(&test, 2).unwrap().unwrap();
        assert_eq!(analysis.manifest().created_by.invocation_id, id(1));
        assert_eq!(find(&test, 1).unwrap().unwrap().manifest().created_by.invocation_id, id(2));
        assert_eq!(analysis.program_facts().unwrap().function_count, 3);
        analysis.verify().unwrap();
    }

    #[test]
    fn an_analysis_keeps_its_lock_for_as_long_as_it_lives() {
        let test = TestStore::new();
        test.promote(2, 1);
        let analysis = find(&test, 2).unwrap().unwrap();
        let basis = analysis.profile().basis().digest().unwrap();
        assert!(matches!(test.reopen().build_lock(test.sample(), basis), Err(StoreError::Busy { .. })));
        drop(analysis);
        test.reopen().build_lock(test.sample(), basis).unwrap();
    }

    #[test]
    fn a_flipped_byte_is_never_served_by_a_query_that_reads_it() {
        let files = [
            "manifest.json",
            "manifest.sha256",
            "profile.json",
            "facts/program.json",
            "facts/functions.jsonl",
            "project/analysis.rep/idata/00/db.1.gbf",
        ];
        for file in files {
            let test = TestStore::new();
            let path = test.promote(2, 1);
            flip(&path.join(file));
            let outcome = find(&test, 2).and_then(|found| found.unwrap().verify());
            let Err(StoreError::CorruptAnalysis { profile, sample, path: culprit, .. }) = outcome else {
                unreachable!("{file}: {outcome:?}")
            };
            assert_eq!(sample, test.sample());
            assert!(path.ends_with(profile.to_string()));
            assert!(culprit.starts_with(&path), "{culprit:?}");
        }
    }

    #[test]
    fn damage_to_another_basis_does_not_matter() {
        let test = TestStore::new();
        test.promote(2, 1);
        let other = test.promote(1, 2);
        flip(&other.join("manifest.json"));
        assert!(find(&test, 2).unwrap().is_some());
        assert!(find(&test, 4).unwrap().is_none());
        assert!(matches!(find(&test, 1), Err(StoreError::CorruptAnalysis { .. })));
        // With its Profile gone it may have been anybody's.
        flip(&other.join("profile.json"));
        assert!(find(&test, 2).unwrap().is_some());
        assert!(matches!(find(&test, 4), Err(StoreError::CorruptAnalysis { .. })));
    }

    #[test]
    fn links_missing_and_unexpected_entries_are_corruption() {
        let spoilers: [fn(&Path); 5] = [
            |path| std::fs::remove_file(path.join("manifest.sha256")).unwrap(),
            |path| std::fs::write(path.join("extra"), b"").unwrap(),
            |path| {
                std::fs::rename(path.join("facts"), path.with_extension("moved")).unwrap();
                std::os::unix::fs::symlink(path.with_extension("moved"), path.join("facts")).unwrap();
            },
            |path| std::fs::write(path.join("project/analysis.rep/extra"), b"").unwrap(),
            |path| {
                let moved = path.with_extension("moved");
                std::fs::rename(path, &moved).unwrap();
                std::os::unix::fs::symlink(&moved, path).unwrap();
            },
        ];
        for spoil in spoilers {
            let test = TestStore::new();
            spoil(&test.promote(2, 1));
            let outcome = find(&test, 2).and_then(|found| found.unwrap().verify());
            assert!(matches!(outcome, Err(StoreError::CorruptAnalysis { .. })), "{outcome:?}");
        }
    }

    #[test]
    fn a_manifest_that_lies_consistently_about_its_place_is_corrupt() {
        let test = TestStore::new();
        let path = test.promote(2, 1);
        let text = std::fs::read_to_string(path.join("manifest.json")).unwrap();
        let other = ContentDigest::of(b"other").to_string();
        for lie in [
            text.replace(&test.sample().to_string(), &other),
            text.replacen("\"manifest_version\":1", "\"manifest_version\":2", 1),
            text.replacen('{', "{\"unknown\":1,", 1),
            text.replace("\"path\":\"program.json\"", "\"path\":\"../program.json\""),
            text.replace("\"loader\":\"loader\"", "\"loader\":\"raw\""),
        ] {
            assert_ne!(lie, text);
            std::fs::write(path.join("manifest.json"), &lie).unwrap();
            std::fs::write(path.join("manifest.sha256"), digest_line(lie.as_bytes())).unwrap();
            assert!(matches!(find(&test, 2), Err(StoreError::CorruptAnalysis { .. })), "{lie}");
        }
    }

    #[test]
    fn function_pages_are_exact_and_bounded() {
        let test = TestStore::new();
        test.promote(2, 1);
        let analysis = find(&test, 2).unwrap().unwrap();
        let table = analysis.functions().unwrap();
        assert_eq!(table.total(), 3);
        assert_eq!(table.read_page(1..2, &to_the_end).unwrap(), [function("b", 2)]);
        assert_eq!(table.read_page(3..3, &to_the_end).unwrap(), []);
        let all = table.read_page(0..3, &to_the_end).unwrap();
        assert_eq!(all, [function("a", 1), function("b", 2), function("c", 3)]);
    }

    #[test]
    fn nothing_unverified_is_served_of_the_function_table() {
        let test = TestStore::new();
        let path = test.promote(2, 1).join("facts/functions.jsonl");
        let analysis = find(&test, 2).unwrap().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"c\"", "\"d\"")).unwrap();
        let table = analysis.functions().unwrap();
        assert!(matches!(table.read_page(0..1, &to_the_end), Err(StoreError::CorruptAnalysis { .. })));
    }

    #[test]
    fn a_quarantined_analysis_is_gone_for_every_query() {
        let test = TestStore::new();
        let path = test.promote(2, 1);
        flip(&path.join("manifest.json"));
        let Err(StoreError::CorruptAnalysis { profile, .. }) = find(&test, 2) else { unreachable!() };
        let guard = test.build_lock(2);
        let quarantined = test.store.quarantine(&guard, profile, id(9)).unwrap().unwrap();
        assert!(quarantined.join("project/analysis.gpr").exists());
        assert!(!path.exists());
        assert!(test.store.quarantine(&guard, profile, id(9)).unwrap().is_none());
        drop(guard);
        assert!(find(&test, 2).unwrap().is_none());
    }
}
