//! Starts the worker as a plain child, for `external` and `off`.
//!
//! Both differ only in what is claimed about isolation, which is the caller's to report. The worker's home and temporary
//! directory are host directories of this invocation, bounded by the quota like everything else it can write.

use super::error::SandboxError;
use super::grants::WorkerGrants;
use super::paths::{WorkerPaths, absolute};
use super::{Backend, environment};
use crate::process::worker_arguments::{Job, WorkerArguments};
use crate::process::{LaunchPlan, Outcome};

/// No isolation by ghidr.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Backend for Direct {
    fn worker_paths(&self, grants: &WorkerGrants) -> Result<WorkerPaths, SandboxError> {
        WorkerPaths::outside(grants)
    }

    fn plan(&self, grants: &WorkerGrants, job: Job) -> Result<LaunchPlan, SandboxError> {
        let paths = self.worker_paths(grants)?;
        let arguments = WorkerArguments {
            file_size_bytes: Some(grants.sizes.file_size_bytes),
            job,
            request: paths.request(),
            response: paths.response(),
        };
        let writable = [
            Some(&paths.invocation_directory),
            paths.project_directory.as_ref(),
            paths.facts_directory.as_ref(),
            Some(&paths.home_directory),
            Some(&paths.temporary_directory),
        ];
        Ok(LaunchPlan {
            guard: absolute(&grants.worker_executable)?.to_owned(),
            program: absolute(&grants.worker_executable)?.to_owned(),
            arguments: arguments.encode(),
            environment: environment::of_worker(&paths),
            current_directory: paths.invocation_directory.clone(),
            status_channel: None,
            handed_files: Vec::new(),
            memory_file_systems: Vec::new(),
            writable_directories: writable.into_iter().flatten().cloned().collect(),
        })
    }

    /// Without a launcher in between, a worker that cannot start is a spawn error.
    fn explain(&self, _outcome: &Outcome) -> Option<SandboxError> {
        None
    }
}
