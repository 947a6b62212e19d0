//! `ghidr batch`: many Queries about one Sample, and one start of Ghidra for as many as one request holds.
//!
//! This file has the command and what its two forms share: [`items`] answers given Queries, and
//! [`everything`] decompiles all there is. Nothing runs in parallel. A Query that fails is an item
//! of the report; the command fails when it can give none.

mod everything;
mod input;
mod items;

use super::answer::Answer;
use super::context::Context;
use super::failure::Failure;
use super::retained_log::RetainedLog;
use super::worker::Policy;
use crate::cli::BatchArguments;
use crate::domain::error::ErrorBody;
use crate::domain::limits::ReportedLimits;
use crate::domain::warning::Warning;

/// Kind of the success document.
pub const KIND: &str = "batch_report";

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &BatchArguments) -> Result<Answer, Failure> {
    match &arguments.queries {
        Some(source) => items::run(context, arguments, &input::read(context, source)?),
        None => everything::run(context, arguments),
    }
}

fn policy(arguments: &BatchArguments) -> Policy {
    Policy { stop_at_failure: arguments.fail_fast, timeout_seconds: Some(arguments.batch_timeout_seconds) }
}

/// The limits of a batch that decompiles, one of which only it has.
fn limits(context: &Context<'_>, arguments: &BatchArguments) -> ReportedLimits {
    let batch_timeout_seconds = Some(arguments.batch_timeout_seconds);
    ReportedLimits { batch_timeout_seconds, ..context.reported_limits(true) }
}

/// A failure as a part of the report, and what there is to say about its log.
fn body(failure: Failure) -> (ErrorBody, Option<Warning>) {
    let Failure { error, diagnostic_log, .. } = failure;
    let warning = diagnostic_log.as_deref().and_then(RetainedLog::warning);
    (ErrorBody::new(*error, diagnostic_log.map(|log| log.descriptor)), warning)
}
