//! The document `manifest.json`: what a complete Analysis is and every file it consists of.
//!
//! Written once, just before promotion, with its digest in `manifest.sha256` beside it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::error::StoreError;
use super::function_blocks::{FunctionBlock, cover};
use super::layout;
use crate::domain::canonical_json::to_canonical_bytes;
use crate::domain::digest::{BasisDigest, ContentDigest, ProfileDigest, SampleDigest};
use crate::domain::fault::{AnalyzerRun, FaultList, Suspicion};
use crate::domain::invocation_id::InvocationId;
use crate::domain::profile::AnalysisProfile;
use crate::domain::program::ProgramCounts;
use crate::domain::sample_header::SampleHeader;
use crate::domain::target::Target;

/// Version of the manifest document.
pub const MANIFEST_VERSION: u32 = 1;

/// State of an Analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisState {
    /// The only state a stored Analysis can have.
    Complete,
}

/// One inventoried file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InventoryEntry {
    /// Path relative to the inventoried directory, `/`-separated.
    pub path: String,
    /// Exact size in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the exact bytes.
    pub sha256: ContentDigest,
}

/// The analysed Sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestSample {
    /// Identity.
    pub sha256: SampleDigest,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Header facts that decide target coverage.
    pub header: SampleHeader,
}

/// The Profile in brief; `profile.json` holds it in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestProfile {
    /// Identity of the Profile.
    pub sha256: ProfileDigest,
    /// Engine version.
    pub ghidra_version: String,
    /// Version of the worker protocol.
    pub adapter_protocol_version: u32,
    /// What the Sample was recognised as.
    pub target: Target,
    /// SHA-256 over the canonical JSON of the analyzer options.
    pub analyzer_options_sha256: ContentDigest,
}

/// What was known before Ghidra ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestBasis {
    /// Identity of the basis.
    pub sha256: BasisDigest,
}

/// Who made the Analysis and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestCreator {
    /// Version of ghidr.
    pub ghidr_version: String,
    /// Invocation that ran the worker.
    pub invocation_id: InvocationId,
    /// RFC 3339 in UTC.
    #[schemars(extend("format" = "date-time"))]
    pub completed_at: String,
}

/// The facts directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestFacts {
    /// Always `facts`.
    #[schemars(extend("const" = layout::FACTS))]
    pub path: String,
    /// Its files, bytewise by path.
    pub files: Vec<InventoryEntry>,
    /// What `functions.jsonl` consists of, in its order.
    pub function_blocks: Vec<FunctionBlock>,
}

/// The Ghidra project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestProject {
    /// Always `analysis`.
    #[schemars(extend("const" = layout::PROJECT_NAME))]
    pub name: String,
    /// Always `project`.
    #[schemars(extend("const" = layout::PROJECT))]
    pub path: String,
    /// Its directories, bytewise by path: Ghidra needs even the empty ones.
    pub directories: Vec<String>,
    /// Its files, bytewise by path.
    pub files: Vec<InventoryEntry>,
}

/// The document `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalysisManifest {
    /// Version of this document.
    #[schemars(extend("const" = MANIFEST_VERSION))]
    pub manifest_version: u32,
    /// Always `complete`.
    pub state: AnalysisState,
    /// The analysed Sample.
    pub sample: ManifestSample,
    /// The Profile in brief.
    pub analysis_profile: ManifestProfile,
    /// What was known before Ghidra ran.
    pub analysis_basis: ManifestBasis,
    /// Who made it and when.
    pub created_by: ManifestCreator,
    /// Totals of the Program.
    pub program: ProgramCounts,
    /// Every analyzer's record, bytewise by name.
    pub analyzers: Vec<AnalyzerRun>,
    /// What the engine logged and swallowed.
    pub faults: FaultList,
    /// Signs that the Analysis may mean little.
    pub suspicions: Vec<Suspicion>,
    /// The file `profile.json`.
    pub profile_document: InventoryEntry,
    /// The facts files.
    pub facts: ManifestFacts,
    /// The project files.
    pub project: ManifestProject,
}

/// SHA-256 over the canonical JSON of a Profile's analyzer options.
pub(super) fn analyzer_options_digest(profile: &AnalysisProfile) -> Result<ContentDigest, StoreError> {
    Ok(ContentDigest::of(&to_canonical_bytes(&profile.analyzer_options)?))
}

/// The file `manifest.sha256`, in the format that `sha256sum --check` reads.
pub(super) fn digest_line(manifest_bytes: &[u8]) -> String {
    format!("{}  {}\n", ContentDigest::of(manifest_bytes), layout::MANIFEST)
}

impl AnalysisManifest {
    /// The bytes of `manifest.json`.
    pub(super) fn encode(&self) -> Result<Vec<u8>, StoreError> {
        document::encode(self)
    }

    /// Reads `manifest.json` strictly and checks that it describes this Sample and Profile.
    pub(super) fn decode(
        bytes: &[u8],
        sample: SampleDigest,
        profile: &AnalysisProfile,
    ) -> Result<Self, String> {
        let manifest: Self = document::decode(bytes)?;
        manifest.check_identity(sample, profile).map_err(|error| error.to_string())??;
        Ok(manifest)
    }

    fn check_identity(
        &self,
        sample: SampleDigest,
        profile: &AnalysisProfile,
    ) -> Result<Result<(), String>, StoreError> {
        let brief = &self.analysis_profile;
        let profile_bytes = profile.canonical_bytes()?;
        let expected = [
            (self.manifest_version == MANIFEST_VERSION, "manifest_version"),
            (self.sample.sha256 == sample, "sample.sha256"),
            (brief.sha256 == ProfileDigest::of(&profile_bytes), "analysis_profile.sha256"),
            (brief.ghidra_version == profile.ghidra_version, "analysis_profile.ghidra_version"),
            (target_agrees(&brief.target, profile), "analysis_profile.target"),
            (
                brief.analyzer_options_sha256 == analyzer_options_digest(profile)?,
                "analysis_profile.analyzer_options_sha256",
            ),
            (self.analysis_basis.sha256 == profile.basis().digest()?, "analysis_basis.sha256"),
            (self.profile_document == describe(layout::PROFILE, &profile_bytes), "profile_document"),
            (self.facts.path == layout::FACTS, "facts.path"),
            (paths(&self.facts.files) == [layout::FUNCTIONS, layout::PROGRAM_FACTS], "facts.files"),
            (self.function_blocks_agree(), "facts.function_blocks"),
            (self.project.name == layout::PROJECT_NAME, "project.name"),
            (self.project.path == layout::PROJECT, "project.path"),
            (paths(&self.project.files).is_sorted_by(|a, b| a < b), "project.files"),
            (self.project.directories.is_sorted_by(|a, b| a < b), "project.directories"),
        ];
        Ok(match expected.into_iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, field)) => Err(format!("field {field} does not agree with where it was found")),
        })
    }

    fn function_blocks_agree(&self) -> bool {
        self.facts_file(layout::FUNCTIONS).is_ok_and(|entry| {
            cover(&self.facts.function_blocks, self.program.function_count, entry.size_bytes)
        })
    }

    /// The inventoried facts file of that name.
    pub(super) fn facts_file(&self, name: &str) -> Result<&InventoryEntry, String> {
        self.facts.files.iter().find(|entry| entry.path == name).ok_or_else(|| format!("no entry for {name}"))
    }
}

/// Inventory entry of bytes at hand.
pub(super) fn describe(path: &str, bytes: &[u8]) -> InventoryEntry {
    InventoryEntry { path: path.to_owned(), size_bytes: bytes.len() as u64, sha256: ContentDigest::of(bytes) }
}

/// Whether a target is the one that identifies the Profile.
pub(super) fn target_agrees(target: &Target, profile: &AnalysisProfile) -> bool {
    let identity = &profile.target;
    target.loader == identity.loader
        && target.processor_language == identity.processor_language
        && target.compiler_specification == identity.compiler_specification
}

fn paths(entries: &[InventoryEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.path.as_str()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::profile;

    #[test]
    fn the_digest_file_is_what_sha256sum_writes() {
        assert_eq!(
            digest_line(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  manifest.json\n"
        );
    }

    #[test]
    fn the_options_digest_covers_their_canonical_json() {
        let canonical =
            r#"[{"name":"A","type":"boolean","value":true},{"name":"B","type":"boolean","value":true}]"#;
        assert_eq!(analyzer_options_digest(&profile(2)).unwrap(), ContentDigest::of(canonical.as_bytes()));
    }
}
