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
use super::hashing::{self, read_bounded};
use super::inventory::{check_contents, check_listing, open_parent};
use super::layout;
use super::lock::{AnalysisLock, HoldsAnalysisLock};
use super::manifest::{AnalysisManifest, digest_line};
use super::open::Store;
use crate::domain::digest::{BasisDigest, ContentDigest, ProfileDigest, SampleDigest};
use crate::domain::profile::AnalysisProfile;
use crate::domain::program::ProgramFacts;

/// Most bytes of `manifest.json` or `profile.json`.
const DOCUMENT_LIMIT_BYTES: u64 = 16 * 1_048_576;
/// Everything an Analysis directory holds, bytewise sorted.
const ENTRIES: [&str; 5] =
    [layout::FACTS, layout::MANIFEST, layout::MANIFEST_DIGEST, layout::PROFILE, layout::PROJECT];

/// A complete Analysis whose manifest and Profile were verified. Holds its lock.
#[derive(Debug)]
pub struct StoredAnalysis {
    pub(super) dir: Dir,
    sample: SampleDigest,
    profile_digest: ProfileDigest,
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
        check_entries(&dir)?;
        let manifest = load_manifest(&dir, sample, &profile)?;
        Ok(Some(Self { dir, sample, profile_digest, manifest, profile, _lock: lock }))
    }

    /// Identity of the Sample.
    pub const fn sample_digest(&self) -> SampleDigest {
        self.sample
    }

    /// Identity of the Profile.
    pub const fn profile_digest(&self) -> ProfileDigest {
        self.profile_digest
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

    /// Verifies every file of the Analysis, the project included.
    pub fn verify(&self) -> Result<(), StoreError> {
        self.program_facts()?;
        self.functions()?.verify()?;
        self.attribute(self.verify_project())
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
        let total = self.manifest.program.function_count;
        Ok(FunctionTable { facts, entry, total, identity: (self.sample, self.profile_digest) })
    }

    fn verify_project(&self) -> Result<(), StoreError> {
        let project = self.open_project()?;
        for entry in &self.manifest.project.files {
            let (parent, name) = open_parent(&project, &entry.path)?;
            let path = parent.child_path(name);
            let found = hashing::hash(&mut parent.open_file(name)?, &path)?;
            check_contents(&path, entry, found)?;
        }
        Ok(())
    }
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
) -> Result<AnalysisManifest, StoreError> {
    let bytes = read_bounded(dir, layout::MANIFEST, DOCUMENT_LIMIT_BYTES)?;
    let recorded = read_bounded(dir, layout::MANIFEST_DIGEST, DOCUMENT_LIMIT_BYTES)?;
    if recorded != digest_line(&bytes).as_bytes() {
        return Err(dir.corrupt(layout::MANIFEST, "does not match manifest.sha256"));
    }
    AnalysisManifest::decode(&bytes, sample, profile).map_err(|reason| dir.corrupt(layout::MANIFEST, reason))
}
