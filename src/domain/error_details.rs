//! What the details of several errors share, and the error as documents carry it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counted::counted;
use super::diagnostic_log::DiagnosticLogDescriptor;
use super::error::PublicError;
use super::path_value::PathValue;

/// The rule that selects what was installed with this program.
pub const BUNDLE_RULE: &str = "bundle";

/// How the harness ended a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// The worker left within the grace period after SIGTERM.
    Graceful,
    /// It had to be killed.
    Forced,
}

/// Which phase of the worker a failure interrupted, and which analyzer was running.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerProgress {
    /// Phase the worker last reported.
    pub phase: Option<String>,
    /// Analyzer that was running, when one was.
    pub analyzer: Option<String>,
}

/// A flag whose larger value may let the same command succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaiseLimit {
    /// The flag.
    pub flag: String,
    /// The next value worth trying.
    pub next_value: u64,
}

/// An error inside an error document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// Stable code with its typed details.
    #[serde(flatten)]
    pub error: PublicError,
    /// Concise human context; not for control flow.
    pub message: String,
    /// Whether repeating the same request may succeed.
    pub retryable: bool,
    /// The retained Diagnostic Log, when there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub diagnostic_log: Option<DiagnosticLogDescriptor>,
}

impl ErrorBody {
    /// The error as documents carry it.
    pub fn new(error: PublicError, diagnostic_log: Option<DiagnosticLogDescriptor>) -> Self {
        Self { message: error.to_string(), retryable: error.retryable(), error, diagnostic_log }
    }
}

/// Who selected an engine's or a runtime's place, to stand in a message.
pub fn describe_rule(selected_by: &str) -> &str {
    if selected_by == BUNDLE_RULE { "the installation" } else { selected_by }
}

/// That nothing is where a rule points to, or that no rule points anywhere.
pub fn describe_missing(what: &str, path: Option<&PathValue>, selected_by: &str, remedy: &str) -> String {
    match path {
        Some(path) => format!("there is no {what} at {path}, which {} names", describe_rule(selected_by)),
        None => format!("no {what} was found; {remedy}"),
    }
}

/// What is said of a Sample that nothing can be asked about.
pub(super) fn describe_unsupported(recognised_format: Option<&str>) -> String {
    match recognised_format {
        Some(format) => {
            format!("the format is recognised ({format}), but Ghidra has no language for its processor")
        }
        None => "Ghidra recognises no executable format in this sample".to_owned(),
    }
}

/// What is known about a lack of space, to follow a message.
pub(super) fn describe_space(required_bytes: Option<u64>, available_bytes: Option<u64>) -> String {
    match (required_bytes, available_bytes) {
        (Some(required), Some(available)) => {
            format!(": it needs {} and has {available}", counted(required, "byte"))
        }
        (Some(required), None) => format!(": it needs {}", counted(required, "byte")),
        (None, Some(available)) => format!(": only {} left", counted(available, "byte")),
        (None, None) => String::new(),
    }
}
