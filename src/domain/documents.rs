//! The `data` of every success document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::digest::{ContentDigest, SampleDigest};
use super::fault::Completeness;
use super::function::FunctionItem;
use super::page::Page;
use super::path_value::PathValue;
use super::selector::RequestedSelector;

/// Major version of every document.
pub const SCHEMA_VERSION: u32 = 1;

/// Kinds of documents with a published schema: what commands answer, and what the store keeps.
pub const DOCUMENT_KINDS: [&str; 13] = [
    "analysis_manifest",
    "analysis_profile",
    "batch_report",
    "cleanup",
    "decompilation",
    "decompilation_line",
    "diagnostic_manifest",
    "doctor_report",
    "error",
    "function_list",
    "inspection",
    "store",
    "store_list",
];

/// Identifier of the order in which `functions` lists.
pub const FUNCTION_ORDER: &str = "location_then_entry_ascending";

/// The Sample a document is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SampleSummary {
    /// SHA-256 of its bytes.
    pub sha256: SampleDigest,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// The Program Ghidra made of a Sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramSummary {
    /// Image base, when there is one.
    pub image_base: Option<Address>,
    /// Lowest memory Address, when the Program has memory.
    pub minimum_address: Option<Address>,
    /// Highest memory Address, when the Program has memory.
    pub maximum_address: Option<Address>,
    /// Memory, external and thunk Functions: the population of `functions`.
    pub function_count: u64,
}

/// How the answer came by its Analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// This command made it.
    Created,
    /// It was stored already.
    Reused,
    /// The stored one was corrupt; this command made it again.
    Rebuilt,
}

/// The Analysis behind an inspection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalysisSummary {
    /// How the answer came by it.
    pub disposition: Disposition,
    /// Whether the analysis finished; absent only in documents of older versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completeness: Option<Completeness>,
}

/// Data of an `inspection`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// The Sample.
    pub sample: SampleSummary,
    /// Its Program.
    pub program: ProgramSummary,
    /// Its Analysis.
    pub analysis: AnalysisSummary,
}

/// Data of a `function_list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FunctionList")]
pub struct FunctionList<Items = Vec<FunctionItem>> {
    /// Which part of the collection this is.
    pub page: Page,
    /// The Functions, in the page's order.
    pub items: Items,
}

/// Identity of one Function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionIdentity {
    /// Exact basename.
    pub name: String,
    /// Exact qualified name.
    pub qualified_name: String,
    /// Entry Address.
    pub entry: Address,
}

/// Which language decompiled text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Syntax {
    /// Ghidra's C-like representation; not guaranteed to be ISO C.
    GhidraC,
}

/// Decompiled text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecompiledText {
    /// Its language.
    pub syntax: Syntax,
    /// The text with LF line ends, otherwise exactly as Ghidra gave it.
    pub text: String,
}

/// Data of a `decompilation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecompilationData {
    /// The selector exactly as supplied.
    pub requested_selector: RequestedSelector,
    /// The unique Function it resolved to.
    pub function: FunctionIdentity,
    /// The text.
    pub decompilation: DecompiledText,
}

/// Media type of an Artifact.
pub const ARTIFACT_MEDIA_TYPE: &str = "application/json";

/// What an Artifact holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactContents {
    /// The whole success document, as it would have stood on stdout.
    CompleteSuccessResponse,
}

/// Points at a result that exceeded the inline budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDescriptor {
    /// Absolute path.
    pub path: PathValue,
    /// Exact size in bytes, final LF included.
    pub bytes: u64,
    /// SHA-256 of the exact file.
    pub sha256: ContentDigest,
    /// Media type of the file.
    #[schemars(extend("const" = ARTIFACT_MEDIA_TYPE))]
    pub media_type: String,
    /// What the file holds.
    pub contains: ArtifactContents,
}

/// Data of a success document whose result lies in an Artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spilled {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub spilled: bool,
    /// Where the result is.
    pub artifact: ArtifactDescriptor,
}
