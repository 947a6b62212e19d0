//! The response document. Everything in it is untrusted until [`super::receive`] accepted it.

use serde::{Deserialize, Serialize};

use super::request::Operation;
use crate::domain::digest::ContentDigest;
use crate::domain::documents::FunctionIdentity;
use crate::domain::fault::{AnalyzerRun, FaultList, Suspicion};
use crate::domain::invocation_id::InvocationId;
use crate::domain::profile::ResolvedOption;
use crate::domain::program::ProgramCounts;
use crate::domain::target::Target;
use crate::domain::worker_error::WorkerError;

/// The whole response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Echo of the request's version.
    pub protocol_version: u32,
    /// Echo of the request's identity.
    pub invocation_id: InvocationId,
    /// Echo of the request's operation.
    pub operation: Operation,
    /// What the worker spent its time on.
    pub phases: Vec<Phase>,
    /// The result.
    pub outcome: Outcome,
}

/// Duration of one phase of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase.
    pub name: String,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
}

/// Result of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// Of `probe`.
    Probed {
        /// What was found.
        probe: Probe,
    },
    /// Of `analyze`: the Analysis is complete and saved, whatever became of the Queries.
    Analyzed {
        /// The Analysis.
        analysis: Box<AnalysisResult>,
        /// The answers to the Queries that were asked, if any were.
        answers: Option<AnswersSummary>,
    },
    /// Of `query`.
    Queried {
        /// The answers.
        answers: AnswersSummary,
    },
    /// The operation failed; nothing may be promoted.
    Failed {
        /// Why.
        error: WorkerError,
    },
}

/// What `probe` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Version the engine reports.
    pub ghidra_version: String,
    /// Revision or build date the engine reports.
    pub ghidra_build: String,
    /// Java feature version.
    pub java_version: String,
    /// `jdk.compiler` is usable.
    pub java_compiler: bool,
    /// The native decompiler starts.
    pub native_decompiler: bool,
    /// AWT can lay out text.
    pub fonts: bool,
}

/// What `analyze` found and wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisResult {
    /// Recognised target.
    pub target: Target,
    /// Resolved loader options.
    pub loader_options: Vec<ResolvedOption>,
    /// Resolved analyzer options.
    pub analyzer_options: Vec<ResolvedOption>,
    /// Per-analyzer records, by name.
    pub analyzers: Vec<AnalyzerRun>,
    /// Logged throwables.
    pub faults: FaultList,
    /// Odd signs.
    pub suspicions: Vec<Suspicion>,
    /// Counts over the Program.
    pub program: ProgramCounts,
    /// Facts files.
    pub facts: FactsDescriptor,
}

/// The facts files as the worker describes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactsDescriptor {
    /// `program.json`.
    pub program: FactsFile,
    /// `functions.jsonl`.
    pub functions: FunctionFactsFile,
}

/// Size and digest of a facts file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactsFile {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: ContentDigest,
}

/// Size, digest and length of the function table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionFactsFile {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: ContentDigest,
    /// Lines.
    pub count: u64,
}

/// The file of answers as the worker describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswersSummary {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: ContentDigest,
    /// Lines, one for each answered Query.
    pub count: u64,
    /// Failures among them.
    pub failed: u64,
    /// Why there are fewer lines than Queries; null when there are as many.
    pub stopped: Option<Stopped>,
}

/// Why a worker left Queries unanswered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The last answer is a failure, after which it was to stop.
    Failure,
    /// The time for all of them was over.
    Time,
    /// The next answer would have exceeded the size of the file.
    Size,
}

/// One line of the file of answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Index of the Query among those of the request.
    pub index: u64,
    /// Its result.
    pub outcome: QueryOutcome,
}

/// Result of a Query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueryOutcome {
    /// A Function was decompiled.
    Decompiled {
        /// The text.
        decompilation: Decompilation,
    },
    /// The Query failed; the Analysis is not affected.
    Failed {
        /// Why.
        error: WorkerError,
    },
}

/// Decompiled text of one Function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decompilation {
    /// The Function the selector resolved to.
    pub function: FunctionIdentity,
    /// Ghidra's C, with LF line ends.
    pub text: String,
    /// Warning comments found in the text.
    pub warnings: Vec<String>,
    /// Throwables that were logged on the way, from the opening of the project on.
    pub faults: FaultList,
}
