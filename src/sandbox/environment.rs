//! The worker's whole environment, the same in every mode but for its two private directories.
//!
//! A virtual machine created through JNI obeys `JAVA_TOOL_OPTIONS` and its like, and Ghidra reads the locale: none of the
//! caller's variables may reach the worker.

use std::ffi::OsString;

use super::paths::WorkerPaths;

/// The names of [`of_worker`].
pub(super) const NAMES: [&str; 5] = ["HOME", "LC_ALL", "PATH", "TMPDIR", "TZ"];

pub(super) fn of_worker(paths: &WorkerPaths) -> Vec<(OsString, OsString)> {
    vec![
        ("HOME".into(), paths.home_directory.clone().into()),
        ("LC_ALL".into(), "C.UTF-8".into()),
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("TMPDIR".into(), paths.temporary_directory.clone().into()),
        ("TZ".into(), "UTC".into()),
    ]
}
