//! Decides what a worker can see and touch, and writes that down as a launch plan.
//!
//! A [`Backend`] turns [`WorkerGrants`] into a [`LaunchPlan`]; it starts nothing. Three
//! policies exist, chosen by the user and never silently exchanged: [`Bubblewrap`] isolates, [`Direct`] serves both
//! `external` (a surrounding harness isolates) and `off` (nothing does).
//!
//! Invariant: a plan of the bubblewrap backend always runs the worker inside bubblewrap; when that is impossible the
//! answer is a [`SandboxError`] that says why, not another plan.

mod binds;
mod bubblewrap;
mod diagnosis;
mod direct;
mod environment;
mod error;
mod filter;
mod grants;
mod java_links;
mod paths;
pub mod probe;

pub use bubblewrap::Bubblewrap;
pub use diagnosis::SetupFailure;
pub use direct::Direct;
pub use error::SandboxError;
pub use grants::{EngineCacheGrant, EngineGrant, ScriptBundlesGrant, Sizes, WorkerGrants};
pub use paths::WorkerPaths;

use crate::process::worker_arguments::Job;
use crate::process::{LaunchPlan, Outcome};

/// A sandbox policy.
pub trait Backend {
    /// Where the worker finds what it was granted; the request must speak of these paths.
    ///
    /// # Errors
    ///
    /// When a granted path cannot be resolved.
    fn worker_paths(&self, grants: &WorkerGrants) -> Result<WorkerPaths, SandboxError>;

    /// The plan that starts the worker with exactly these grants for this job.
    ///
    /// # Errors
    ///
    /// When the policy cannot be carried out here.
    fn plan(&self, grants: &WorkerGrants, job: Job) -> Result<LaunchPlan, SandboxError>;

    /// Why the worker was never started, when that is how the run ended.
    fn explain(&self, outcome: &Outcome) -> Option<SandboxError>;
}
