//! Where a worker works, and what is known of its run.

use time::OffsetDateTime;

use crate::domain::digest::SampleDigest;
use crate::process::Outcome;
use crate::store::{Staging, Store};

/// Where a worker works, and for which Sample.
pub struct Workplace<'store> {
    /// The store, for Diagnostic Logs.
    pub store: &'store Store,
    /// Private directories of this invocation.
    pub staging: &'store Staging,
    /// The Sample the work is about; `None` for a probe.
    pub sample: Option<SampleDigest>,
}

/// One run of a worker.
pub struct Run {
    /// The operation.
    pub operation: &'static str,
    /// When it started.
    pub started_at: OffsetDateTime,
    /// How it ended.
    pub outcome: Outcome,
    /// The derived watchdog, in seconds.
    pub watchdog_seconds: u64,
    /// Whether the store's file system was seen full while it ran.
    pub space_ran_out: bool,
}
