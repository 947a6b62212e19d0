//! Names of the files that harness and worker exchange in the invocation directory.

/// What the worker is asked.
pub const REQUEST: &str = "request.json";
/// What it answers, once it is complete.
pub const RESPONSE: &str = "response.json";
/// Its answers to Queries, as they come.
pub const ANSWERS: &str = "answers.jsonl";
/// What it is doing.
pub const PROGRESS: &str = "progress";
/// What a Java virtual machine says about its own crash.
pub const CRASH_REPORT: &str = "hs_err.log";
