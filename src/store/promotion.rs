//! Turning what a worker left in staging into a stored Analysis, or refusing it.
//!
//! Called only after the whole worker tree is dead. Everything is validated, inventoried and
//! flushed first; then one rename makes it visible. A crash before the rename leaves an
//! orphan in staging, a crash after it a complete Analysis.

use rustix::fs::FileType;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::analysis::{DOCUMENT_LIMIT_BYTES, StoredAnalysis};
use super::dir::Dir;
use super::error::StoreError;
use super::facts::{self, FactsClaim};
use super::function_blocks::FunctionBlock;
use super::hashing::Stop;
use super::inventory::{seal, seal_file};
use super::io::{At as _, Operation};
use super::layout;
use super::lock::{BuildGuard, HoldsAnalysisLock as _};
use super::manifest::{
    AnalysisManifest, AnalysisState, MANIFEST_VERSION, ManifestBasis, ManifestCreator, ManifestFacts,
    ManifestProfile, ManifestProject, ManifestSample, analyzer_options_digest, describe, digest_line,
    target_agrees,
};
use super::open::Store;
use super::sample::SampleIdentity;
use super::staging::Staging;
use crate::domain::digest::ProfileDigest;
use crate::domain::fault::{AnalyzerRun, FaultList, Suspicion};
use crate::domain::profile::{AnalysisProfile, PROFILE_VERSION, ResolvedOption};
use crate::domain::program::ProgramCounts;
use crate::domain::target::Target;

/// What Ghidra's own project lock leaves beside the project when its owner just exits: it
/// names the host and the time, and is no part of an Analysis.
const PROJECT_LOCKS: [&str; 2] = ["analysis.lock", "analysis.lock~"];
/// The two entries of a Ghidra project.
const PROJECT_ENTRIES: [Entry; 2] =
    [("analysis.gpr", FileType::RegularFile), ("analysis.rep", FileType::Directory)];

/// Name and kind of what a directory has to hold.
type Entry = (&'static str, FileType);

/// What the harness knows about an Analysis besides the files in staging.
#[derive(Debug, Clone)]
pub struct PromotionInput {
    /// The staged Sample.
    pub sample: SampleIdentity,
    /// The Profile, as resolved by the worker.
    pub profile: AnalysisProfile,
    /// What the Sample was recognised as.
    pub target: Target,
    /// Totals of the Program.
    pub program: ProgramCounts,
    /// Every analyzer's record, bytewise by name.
    pub analyzers: Vec<AnalyzerRun>,
    /// What the engine logged and swallowed.
    pub faults: FaultList,
    /// Signs that the Analysis may mean little.
    pub suspicions: Vec<Suspicion>,
    /// What the response says about the facts files.
    pub facts: FactsClaim,
    /// Most bytes of `functions.jsonl`.
    pub max_facts_bytes: u64,
    /// Version of the worker protocol.
    pub adapter_protocol_version: u32,
    /// Version of ghidr.
    pub ghidr_version: String,
    /// When the worker ended.
    pub completed_at: OffsetDateTime,
}

impl Store {
    /// Validates the staged Analysis and makes it the stored one. On success `staging` keeps
    /// everything but the Analysis, so that captured diagnostics are still at hand.
    pub fn validate_and_promote(
        &self,
        guard: &BuildGuard,
        staging: &Staging,
        input: &PromotionInput,
        stop: Stop<'_>,
    ) -> Result<StoredAnalysis, StoreError> {
        let analysis = staging.base.dir.open_dir(layout::ANALYSIS)?;
        check_identity(guard, &analysis, input)?;
        refuse_unexpected(
            &analysis,
            &[(layout::FACTS, FileType::Directory), (layout::PROJECT, FileType::Directory)],
        )?;
        let project = analysis.open_dir(layout::PROJECT).map_err(StoreError::within_staging)?;
        for name in PROJECT_LOCKS {
            let stat = project.stat(name)?;
            // A directory of that name stays, and is refused as unexpected.
            if stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory) {
                project.remove_file(name)?;
            }
        }
        refuse_unexpected(&project, &PROJECT_ENTRIES)?;
        let facts = analysis.open_dir(layout::FACTS).map_err(StoreError::within_staging)?;
        refuse_unexpected(
            &facts,
            &[(layout::FUNCTIONS, FileType::RegularFile), (layout::PROGRAM_FACTS, FileType::RegularFile)],
        )?;
        let blocks = facts::validate(&facts, &input.facts, &input.program, input.max_facts_bytes, stop)?;
        let sealed_facts = seal_facts(&facts, blocks, stop).map_err(StoreError::within_staging)?;
        let sealed_project = seal_project(&project, stop).map_err(StoreError::within_staging)?;

        let profile_bytes = input.profile.canonical_bytes()?;
        let profile_digest = ProfileDigest::of(&profile_bytes);
        let manifest_bytes =
            build_manifest(guard, staging, input, &profile_bytes, sealed_facts, sealed_project)?.encode()?;
        refuse_unloadable(&analysis, layout::PROFILE, &profile_bytes)?;
        refuse_unloadable(&analysis, layout::MANIFEST, &manifest_bytes)?;
        analysis.write_new_file(layout::PROFILE, &profile_bytes)?;
        analysis.write_new_file(layout::MANIFEST, &manifest_bytes)?;
        analysis.write_new_file(layout::MANIFEST_DIGEST, digest_line(&manifest_bytes).as_bytes())?;
        analysis.restrict()?;
        analysis.sync()?;
        drop((facts, project, analysis));
        self.publish_analysis(guard, staging, profile_digest)
    }

    fn publish_analysis(
        &self,
        guard: &BuildGuard,
        staging: &Staging,
        profile: ProfileDigest,
    ) -> Result<StoredAnalysis, StoreError> {
        let sample = guard.sample();
        let analyses = self.root.ensure_dir(layout::ANALYSES)?;
        let profiles = analyses.ensure_dir(sample.to_string())?;
        let name = profile.to_string();
        let source = &staging.base.dir;
        while !source.rename_if_free(layout::ANALYSIS.as_ref(), &profiles, name.as_ref())? {
            // The lookup under this lock found no sound Analysis here, so what is in the way
            // is damaged; a sound one would mean the caller did not look.
            match StoredAnalysis::load(&profiles, sample, profile, None, guard.keep()) {
                Ok(Some(existing)) => return Ok(existing),
                Ok(None) | Err(StoreError::Corrupt { .. }) => {
                    self.quarantine(guard, profile, staging.invocation_id())?;
                }
                Err(error) => return Err(error),
            }
        }
        profiles.sync()?;
        source.sync()?;
        StoredAnalysis::load(&profiles, sample, profile, None, guard.keep())
            .map_err(|error| error.within_analysis(sample, profile))?
            .ok_or_else(|| profiles.corrupt(&name, "vanished after promotion"))
    }
}

fn check_identity(guard: &BuildGuard, analysis: &Dir, input: &PromotionInput) -> Result<(), StoreError> {
    let profile = &input.profile;
    let required = [
        (input.sample.digest == guard.sample(), "the staged sample is not the locked one"),
        (profile.profile_version == PROFILE_VERSION, "unknown profile version"),
        (profile.basis().digest()? == guard.basis(), "the profile does not have the locked basis"),
        (target_agrees(&input.target, profile), "the target is not the profile's"),
        (is_ordered(&profile.loader_options), "loader options are not strictly ascending"),
        (is_ordered(&profile.analyzer_options), "analyzer options are not strictly ascending"),
        (input.analyzers.is_sorted_by(|a, b| a.name <= b.name), "analyzers are not ascending"),
    ];
    match required.into_iter().find(|(holds, _)| !holds) {
        None => Ok(()),
        Some((_, reason)) => Err(analysis.corrupt(layout::PROFILE, reason).within_staging()),
    }
}

/// A document that is larger than what is read of it would make an Analysis that nobody can use.
fn refuse_unloadable(analysis: &Dir, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    if bytes.len() as u64 <= DOCUMENT_LIMIT_BYTES {
        return Ok(());
    }
    let reason = format!("larger than {DOCUMENT_LIMIT_BYTES} bytes");
    Err(analysis.corrupt(name, reason).within_staging())
}

fn is_ordered(options: &[ResolvedOption]) -> bool {
    options.is_sorted_by(|a, b| a.name < b.name)
}

fn refuse_unexpected(dir: &Dir, expected: &[Entry]) -> Result<(), StoreError> {
    let entries = dir.entries()?;
    for entry in &entries {
        let reason = match expected.iter().find(|(name, _)| entry.name == *name) {
            None => "unexpected entry",
            Some((_, kind)) if entry.kind != *kind => "another kind of entry than expected",
            Some(_) => continue,
        };
        return Err(dir.corrupt(&entry.name, reason).within_staging());
    }
    match expected.iter().find(|(name, _)| !entries.iter().any(|entry| entry.name == *name)) {
        Some((name, _)) => Err(dir.corrupt(name, "missing").within_staging()),
        None => Ok(()),
    }
}

fn seal_facts(
    facts: &Dir,
    function_blocks: Vec<FunctionBlock>,
    stop: Stop<'_>,
) -> Result<ManifestFacts, StoreError> {
    let mut files = Vec::new();
    for name in [layout::FUNCTIONS, layout::PROGRAM_FACTS] {
        files.push(seal_file(facts, name, name, stop)?);
    }
    facts.restrict()?;
    facts.sync()?;
    Ok(ManifestFacts { path: layout::FACTS.to_owned(), files, function_blocks })
}

fn seal_project(project: &Dir, stop: Stop<'_>) -> Result<ManifestProject, StoreError> {
    let (listing, files) = seal(project, stop)?;
    Ok(ManifestProject {
        name: layout::PROJECT_NAME.to_owned(),
        path: layout::PROJECT.to_owned(),
        directories: listing.directories,
        files,
    })
}

fn build_manifest(
    guard: &BuildGuard,
    staging: &Staging,
    input: &PromotionInput,
    profile_bytes: &[u8],
    facts: ManifestFacts,
    project: ManifestProject,
) -> Result<AnalysisManifest, StoreError> {
    let completed_at = input
        .completed_at
        .to_offset(time::UtcOffset::UTC)
        .format(&Rfc3339)
        .map_err(std::io::Error::other)
        .at(Operation::Write, &staging.base.dir.child_path(layout::MANIFEST))?;
    Ok(AnalysisManifest {
        manifest_version: MANIFEST_VERSION,
        state: AnalysisState::Complete,
        sample: ManifestSample {
            sha256: input.sample.digest,
            size_bytes: input.sample.size_bytes,
            header: input.sample.header.clone(),
        },
        analysis_profile: ManifestProfile {
            sha256: ProfileDigest::of(profile_bytes),
            ghidra_version: input.profile.ghidra_version.clone(),
            adapter_protocol_version: input.adapter_protocol_version,
            target: input.target.clone(),
            analyzer_options_sha256: analyzer_options_digest(&input.profile)?,
        },
        analysis_basis: ManifestBasis { sha256: guard.basis() },
        created_by: ManifestCreator {
            ghidr_version: input.ghidr_version.clone(),
            invocation_id: staging.invocation_id(),
            completed_at,
        },
        program: input.program,
        analyzers: input.analyzers.clone(),
        faults: input.faults.clone(),
        suspicions: input.suspicions.clone(),
        profile_document: describe(layout::PROFILE, profile_bytes),
        facts,
        project,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::profile::OptionValue;
    use crate::store::hashing::to_the_end;
    use crate::store::testing::{TestStore, id};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    fn refused(spoil: impl FnOnce(&Staging, &mut PromotionInput)) -> StoreError {
        let test = TestStore::new();
        let guard = test.build_lock(2);
        let staging = test.store.begin_staging(id(1), &guard).unwrap();
        let mut input = TestStore::fill(&staging, 2);
        spoil(&staging, &mut input);
        let error = test.store.validate_and_promote(&guard, &staging, &input, &to_the_end).unwrap_err();
        assert!(!test.path().join("analyses").exists(), "something was promoted");
        drop(staging);
        assert_eq!(std::fs::read_dir(test.path().join("staging")).unwrap().count(), 0);
        error
    }

    #[test]
    fn a_promoted_analysis_is_complete_private_and_without_locks_or_sample() {
        let test = TestStore::new();
        let path = test.promote(2, 1);
        let mut files: Vec<(String, u32)> = Vec::new();
        walk(&path, &path, &mut files);
        files.sort();
        let expected = [
            ("facts", 0o700),
            ("facts/functions.jsonl", 0o600),
            ("facts/program.json", 0o600),
            ("manifest.json", 0o600),
            ("manifest.sha256", 0o600),
            ("profile.json", 0o600),
            ("project", 0o700),
            ("project/analysis.gpr", 0o600),
            ("project/analysis.rep", 0o700),
            ("project/analysis.rep/idata", 0o700),
            ("project/analysis.rep/idata/00", 0o700),
            ("project/analysis.rep/idata/00/db.1.gbf", 0o600),
            ("project/analysis.rep/project.prp", 0o600),
            ("project/analysis.rep/versioned", 0o700),
        ];
        assert_eq!(files, expected.map(|(name, mode)| (name.to_owned(), mode)));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o700);
    }

    fn walk(top: &Path, dir: &Path, files: &mut Vec<(String, u32)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            files.push((name, metadata.permissions().mode() & 0o7777));
            if metadata.is_dir() {
                walk(top, &path, files);
            }
        }
    }

    #[test]
    fn the_staging_directory_outlives_promotion_without_the_analysis() {
        let test = TestStore::new();
        let guard = test.build_lock(2);
        let staging = test.store.begin_staging(id(1), &guard).unwrap();
        std::fs::write(staging.logs_directory().join("stdout"), b"log").unwrap();
        let input = TestStore::fill(&staging, 2);
        let analysis = test.store.validate_and_promote(&guard, &staging, &input, &to_the_end).unwrap();
        assert_eq!(analysis.manifest().created_by.completed_at, "1970-01-01T00:00:00Z");
        assert!(staging.logs_directory().join("stdout").exists());
        assert!(!staging.project_directory().exists());
    }

    #[test]
    fn unexpected_missing_and_irregular_entries_are_refused() {
        let spoilers: [fn(&Staging); 10] = [
            |staging| {
                let file = staging.project_directory().join("analysis.gpr");
                std::fs::remove_file(&file).unwrap();
                std::fs::create_dir(&file).unwrap();
            },
            |staging| {
                let lock = staging.project_directory().join("analysis.lock");
                std::fs::remove_file(&lock).unwrap();
                std::fs::create_dir(&lock).unwrap();
            },
            |staging| {
                let directory = staging.project_directory().join("analysis.rep");
                std::fs::remove_dir_all(&directory).unwrap();
                std::fs::write(&directory, b"").unwrap();
            },
            |staging| std::fs::write(staging.project_directory().join("extra"), b"").unwrap(),
            |staging| std::fs::remove_file(staging.project_directory().join("analysis.gpr")).unwrap(),
            |staging| symlink("/etc", staging.project_directory().join("analysis.rep/link")).unwrap(),
            |staging| std::fs::write(staging.facts_directory().join("extra"), b"").unwrap(),
            |staging| std::fs::write(staging.facts_directory().join("../extra"), b"").unwrap(),
            |staging| {
                std::fs::remove_dir_all(staging.project_directory()).unwrap();
                symlink("/etc", staging.project_directory()).unwrap();
            },
            |staging| {
                let program = staging.facts_directory().join("program.json");
                std::fs::rename(&program, staging.temporary_directory().join("p")).unwrap();
                symlink(staging.temporary_directory().join("p"), program).unwrap();
            },
        ];
        for spoil in spoilers {
            let error = refused(|staging, _| spoil(staging));
            assert!(matches!(error, StoreError::StagedAnalysisInvalid { .. }), "{error:?}");
        }
    }

    #[test]
    fn what_could_not_be_loaded_or_would_not_end_is_refused() {
        let error = refused(|_, input| {
            let text = "x".repeat(usize::try_from(DOCUMENT_LIMIT_BYTES).unwrap());
            input.profile.analyzer_options[0].value = OptionValue::Text(text);
        });
        let StoreError::StagedAnalysisInvalid { path, reason } = error else { unreachable!("{error:?}") };
        assert!(path.ends_with("profile.json") && reason.starts_with("larger than"), "{reason}");
        let error = refused(|staging, _| {
            let holes =
                std::fs::File::create(staging.project_directory().join("analysis.rep/holes")).unwrap();
            holes.set_len((8 << 30) + 1).unwrap();
        });
        assert!(matches!(error, StoreError::StagedAnalysisInvalid { .. }), "{error:?}");
    }

    #[test]
    fn facts_that_break_their_contract_are_refused() {
        let error = refused(|staging, _| {
            let path = staging.facts_directory().join("functions.jsonl");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(path, text.replace("\"a\"", "\"\\u0061\"")).unwrap();
        });
        assert!(matches!(error, StoreError::FactsInvalid { line: 1, .. }), "{error:?}");
        let error = refused(|_, input| input.max_facts_bytes = 10);
        assert!(matches!(error, StoreError::FactsInvalid { .. }), "{error:?}");
    }

    #[test]
    fn a_profile_that_is_not_the_locked_one_or_not_canonical_is_refused() {
        let spoilers: [fn(&mut PromotionInput); 6] = [
            |input| input.profile.max_cpu = 3,
            |input| input.profile.ghidra_version = "11".into(),
            |input| input.target.loader = "other".into(),
            |input| input.profile.analyzer_options.reverse(),
            |input| {
                let duplicate = input.profile.analyzer_options[0].clone();
                input.profile.analyzer_options.insert(0, duplicate);
            },
            |input| input.sample.digest = crate::domain::digest::SampleDigest::of(b"other"),
        ];
        for spoil in spoilers {
            let error = refused(|_, input| spoil(input));
            assert!(matches!(error, StoreError::StagedAnalysisInvalid { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_sound_analysis_in_the_way_wins_and_a_damaged_one_is_quarantined() {
        let test = TestStore::new();
        let path = test.promote(2, 1);
        test.promote(2, 2);
        let creator = |path: &Path| {
            let text = std::fs::read_to_string(path.join("manifest.json")).unwrap();
            serde_json::from_str::<AnalysisManifest>(&text).unwrap().created_by.invocation_id
        };
        assert_eq!(creator(&path), id(1));
        std::fs::write(path.join("manifest.sha256"), b"damaged").unwrap();
        test.promote(2, 3);
        assert_eq!(creator(&path), id(3));
        let relative = path.strip_prefix(test.path().join("analyses")).unwrap();
        let quarantined = test.path().join("quarantine").join(relative).join(id(3).to_string());
        assert_eq!(creator(&quarantined), id(1));
    }
}
