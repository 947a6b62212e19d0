//! What the details of several errors share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
