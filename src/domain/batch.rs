//! The report of a batch: what became of each of its Queries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::ContentDigest;
use super::documents::{
    DecompilationData, DecompiledText, FunctionIdentity, FunctionList, Inspection, SCHEMA_VERSION,
};
use super::error::ErrorBody;
use super::function::FunctionItem;
use super::path_value::PathValue;
use super::warning::WarningDocument;

/// What a Query of a batch asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchOperation {
    /// As `ghidr inspect`.
    Inspect,
    /// As `ghidr functions`.
    Functions,
    /// As `ghidr decompile`.
    Decompile,
}

/// Why a Query was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotRunReason {
    /// An earlier one failed, and the batch was to end there.
    EarlierFailure,
    /// The time for all of them was over.
    TimeExpired,
    /// A worker ended before it came to its Queries, and another would end the same way.
    WorkerEnded,
}

/// The answer to one Query: the data that its own command would give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "BatchData")]
pub enum BatchData<Items = Vec<FunctionItem>> {
    /// Of `inspect`.
    Inspection(Box<Inspection>),
    /// Of `functions`.
    FunctionList(FunctionList<Items>),
    /// Of `decompile`.
    Decompilation(DecompilationData),
}

/// What became of one Query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
#[schemars(rename = "BatchOutcome")]
pub enum BatchOutcome<Items = Vec<FunctionItem>> {
    /// It was answered.
    Succeeded {
        /// The answer.
        data: BatchData<Items>,
    },
    /// It failed.
    Failed {
        /// The error that its own command would give.
        error: ErrorBody,
    },
    /// It was not run.
    NotRun {
        /// Why.
        reason: NotRunReason,
    },
}

/// One Query and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatchItem")]
pub struct BatchItem<Items = Vec<FunctionItem>> {
    /// Its place in the input, counted from 0.
    pub index: u64,
    /// What it asks.
    pub op: BatchOperation,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: BatchOutcome<Items>,
    /// Non-fatal facts about this answer alone; what is true of all stands in the document.
    pub warnings: Vec<WarningDocument>,
}

/// How many Queries ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchCounts {
    /// All of them.
    pub total: u64,
    /// Answered.
    pub succeeded: u64,
    /// Failed.
    pub failed: u64,
    /// Not run.
    pub not_run: u64,
}

/// Media type of an Artifact of lines.
pub const LINES_MEDIA_TYPE: &str = "application/jsonl";

/// Points at an Artifact of JSON Lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinesDescriptor {
    /// Absolute path.
    pub path: PathValue,
    /// Exact size in bytes.
    pub bytes: u64,
    /// Number of lines, each a `decompilation_line`.
    pub lines: u64,
    /// SHA-256 of the exact file.
    pub sha256: ContentDigest,
    /// Media type of the file.
    #[schemars(extend("const" = LINES_MEDIA_TYPE))]
    pub media_type: String,
}

/// Data of a `batch_report`: of given Queries the items, of `--decompile-all` the Artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatchReport")]
pub struct BatchReport<Items = Vec<FunctionItem>> {
    /// How many ended how.
    pub counts: BatchCounts,
    /// Each Query, in the order of the input.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub items: Option<Vec<BatchItem<Items>>>,
    /// One line for each decompilable Function, in the order of `functions`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decompilations: Option<LinesDescriptor>,
}

/// What became of one Function of `--decompile-all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum DecompilationOutcome {
    /// It was decompiled.
    Succeeded {
        /// The text.
        decompilation: DecompiledText,
    },
    /// It could not be.
    Failed {
        /// The error that `decompile` would give.
        error: Box<ErrorBody>,
    },
    /// It was not tried.
    NotRun {
        /// Why.
        reason: NotRunReason,
    },
}

/// Kind of every line of the Artifact of `--decompile-all`.
pub const LINE_KIND: &str = "decompilation_line";

/// One line of the Artifact of `--decompile-all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecompilationLine {
    /// Version of the contract.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// Kind of document.
    #[schemars(extend("const" = LINE_KIND))]
    pub kind: String,
    /// The Function.
    pub function: FunctionIdentity,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: DecompilationOutcome,
    /// Non-fatal facts about this text alone.
    pub warnings: Vec<WarningDocument>,
}

impl NotRunReason {
    /// The reason, for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::EarlierFailure => "an earlier query failed",
            Self::TimeExpired => "the time for the whole batch was over",
            Self::WorkerEnded => "a worker ended before it came to its queries",
        }
    }
}

impl BatchCounts {
    /// Counts an answer.
    pub const fn succeed(&mut self) {
        self.total += 1;
        self.succeeded += 1;
    }

    /// Counts a failure.
    pub const fn fail(&mut self) {
        self.total += 1;
        self.failed += 1;
    }

    /// Counts what was not run.
    pub const fn skip(&mut self) {
        self.total += 1;
        self.not_run += 1;
    }
}
