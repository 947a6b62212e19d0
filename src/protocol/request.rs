//! The request document: everything a worker is told.
//!
//! All paths are as the worker sees them. The `boot` part is consumed by the Rust side of
//! the worker; the adapter validates every field again.

use serde::{Deserialize, Serialize};

use crate::domain::engine_layout::EngineLayout;
use crate::domain::invocation_id::InvocationId;
use crate::domain::selector::FunctionSelector;

/// What the worker shall do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Prove that Java and Ghidra work.
    Probe,
    /// Import and analyze a Sample, optionally answering Queries afterwards.
    Analyze,
    /// Answer Queries on a finished project.
    Query,
}

/// How the worker starts its JVM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// Absolute path of `libjvm.so`.
    pub libjvm: String,
    /// Class path entries, in order.
    pub class_path: Vec<String>,
    /// JVM options besides the class path.
    pub jvm_options: Vec<String>,
    /// Stack of the thread that creates the JVM, in MiB.
    pub main_stack_mib: u32,
}

/// The engine as the worker sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerEngine {
    /// Its layout.
    pub layout: EngineLayout,
    /// The jar, or the installation directory.
    pub path: String,
}

/// Access to a granted path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// A path below which the adapter may work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Absolute normal path.
    pub path: String,
    /// What is allowed there.
    pub access: Access,
}

/// Limits the adapter enforces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerLimits {
    /// Native analysis time-out, in seconds.
    pub analysis_timeout_seconds: u64,
    /// Native decompiler time-out, in seconds; null when nothing is decompiled.
    pub decompile_timeout_seconds: Option<u64>,
    /// Cores Ghidra may use.
    pub max_cpu: u32,
    /// Largest response, in bytes.
    pub max_response_bytes: u64,
    /// Largest facts file, in bytes.
    pub max_facts_bytes: u64,
}

/// A question about a finished Analysis that only Ghidra can answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkerQuery {
    /// Decompile one Function.
    Decompile {
        /// Which.
        selector: FunctionSelector,
    },
}

/// Queries that one worker answers one after another, on one opened Program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queries {
    /// The questions, at least one and at most [`super::limits::MAX_QUERIES`].
    pub items: Vec<WorkerQuery>,
    /// File that receives one line for each answer, in this order.
    pub answers_path: String,
    /// Whether the first failure is the last answer.
    pub stop_at_failure: bool,
    /// Time after which no further Query is begun, in seconds; null for no limit.
    pub timeout_seconds: Option<u64>,
    /// Size after which no further answer is written, in bytes.
    pub max_answers_bytes: u64,
}

/// Operation-specific arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", content = "arguments", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arguments {
    /// For [`Operation::Probe`].
    Probe {},
    /// For [`Operation::Analyze`].
    Analyze {
        /// The staged Sample.
        sample_path: String,
        /// Where the project is created.
        project_directory: String,
        /// Where facts files are written.
        facts_directory: String,
        /// Queries to answer in the same JVM once the Analysis is saved.
        queries: Option<Queries>,
    },
    /// For [`Operation::Query`].
    Query {
        /// The private copy of the stored project.
        project_directory: String,
        /// The questions.
        queries: Queries,
    },
}

impl Arguments {
    /// The operation these arguments belong to.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Probe {} => Operation::Probe,
            Self::Analyze { .. } => Operation::Analyze,
            Self::Query { .. } => Operation::Query,
        }
    }

    /// The Queries among them.
    pub fn queries(&self) -> Option<&Queries> {
        match self {
            Self::Analyze { queries, .. } => queries.as_ref(),
            Self::Query { queries, .. } => Some(queries),
            Self::Probe {} => None,
        }
    }
}

/// The whole request.
///
/// Unknown fields are refused by the adapter and by [`Boot`]; serde cannot combine
/// `deny_unknown_fields` with the flattened operation here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Always [`super::limits::PROTOCOL_VERSION`].
    pub protocol_version: u32,
    /// Identity the response must echo.
    pub invocation_id: InvocationId,
    /// Operation and its arguments.
    #[serde(flatten)]
    pub arguments: Arguments,
    /// JVM start.
    pub boot: Boot,
    /// Engine.
    pub engine: WorkerEngine,
    /// Granted paths.
    pub grants: Vec<Grant>,
    /// File the worker overwrites with its current phase and analyzer.
    pub progress_path: String,
    /// Limits.
    pub limits: WorkerLimits,
}
