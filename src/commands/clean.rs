//! `ghidr clean`: removes what is stored about one Sample, or everything.
//!
//! Needs no engine. The report is complete, fits its budget and is staged, if it has to be,
//! before anything is removed: a command that could not tell what it did does nothing.

use std::io;
use std::path::Path;

use super::answer::{Answer, Spill, answer, prepare};
use super::confirmation::confirm;
use super::context::Context;
use super::failure::{Failure, interrupted};
use crate::cli::CleanArguments;
use crate::domain::cleanup::{Cleanup, CleanupMatch, CleanupMode, CleanupTarget};
use crate::domain::digest::SampleDigest;
use crate::domain::error::PublicError;
use crate::domain::path_value::PathValue;
use crate::domain::provenance::ReducedProvenance;
use crate::output::envelope::Envelope;
use crate::output::storage;
use crate::store::{
    ArtifactScope, CleanLock, CleanupError, CleanupScope, CleanupStep, CleanupStepKind, HoldsStoreLock,
    OpenedSample, Store,
};

/// Kind of the success document.
pub const KIND: &str = "cleanup";

type Report = Envelope<ReducedProvenance, Cleanup>;

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &CleanArguments) -> Result<Answer, Failure> {
    let location = context.store_location()?;
    let (target, scope) = resolve(context, arguments)?;
    let mode = if arguments.dry_run { CleanupMode::DryRun } else { CleanupMode::Executed };
    let Some(store) = Store::open_existing(&location)? else {
        // Nothing is stored, and to say so no store is made.
        let report = report(context, mode, target, CleanupMatch::default());
        return without_store(context, &report);
    };
    if mode == CleanupMode::DryRun {
        let lock = store.lock()?;
        let report = report(context, mode, target, store.survey(&lock, scope)?);
        return answer(context, &report, text, String::new(), &spill(&store, &lock, mode), Envelope::clone);
    }
    if arguments.all && !arguments.yes {
        let matched = store.survey(&store.lock()?, scope)?;
        confirm(context, &store, matched.counts)?;
    }
    execute(context, &store, scope, target)
}

fn resolve(
    context: &Context<'_>,
    arguments: &CleanArguments,
) -> Result<(CleanupTarget, CleanupScope), Failure> {
    let (target, digest) = match (&arguments.sample, arguments.digest) {
        (Some(path), _) => {
            let sha256 = hash(context, path)?;
            (CleanupTarget::Sample { source_path: path.as_path().into(), sha256 }, sha256)
        }
        (None, Some(sha256)) => (CleanupTarget::Digest { sha256 }, sha256),
        (None, None) => return Ok((CleanupTarget::All {}, CleanupScope::All)),
    };
    context.learn(|known| known.sample_sha256 = Some(digest));
    Ok((target, CleanupScope::Sample(digest)))
}

fn hash(context: &Context<'_>, path: &Path) -> Result<SampleDigest, Failure> {
    context.learn(|known| known.source_path = Some(PathValue::from(path)));
    let opened = OpenedSample::open(path, context.max_sample_bytes);
    let stop = || context.host.interrupts.first();
    let identity =
        opened.and_then(|sample| sample.hash(&stop)).map_err(|error| Failure::sample(error, path))?;
    Ok(identity.digest)
}

fn execute(
    context: &Context<'_>,
    store: &Store,
    scope: CleanupScope,
    target: CleanupTarget,
) -> Result<Answer, Failure> {
    let id = (context.host.new_invocation_id)().map_err(Failure::internal)?;
    let lock = store.clean_lock(scope)?;
    store.sweep_for_cleanup(&lock)?;
    let report = report(context, CleanupMode::Executed, target, store.survey_for_cleanup(&lock)?);
    let place = spill(store, &lock, CleanupMode::Executed);
    let prepared = prepare(context, &report, text, String::new(), Some(&place), Envelope::clone)?;
    let mut before_step = |step: &CleanupStep| {
        // What was begun to be undone or ended is finished.
        let may_stop = !matches!(step.kind, CleanupStepKind::Undo | CleanupStepKind::End);
        if may_stop && context.host.interrupts.first().is_some() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        (context.host.before_cleanup_step)(step)
    };
    store
        .clean(&lock, id, &mut before_step)
        .map_err(|error| failure(context, store, &lock, &report.data.matched, error))?;
    let answer = prepared.publish()?;
    store.retire_locks(lock);
    Ok(answer)
}

/// The document of a cleanup that does, or would do, all that was matched.
fn report(context: &Context<'_>, mode: CleanupMode, target: CleanupTarget, matched: CleanupMatch) -> Report {
    let removed = (mode == CleanupMode::Executed).then_some(matched.counts);
    let data = Cleanup { mode, target, matched, removed };
    Envelope::new(KIND, context.store_provenance(), data, Vec::new())
}

fn text(report: &Report) -> Result<String, Failure> {
    Ok(storage::cleanup(&report.data))
}

fn without_store(context: &Context<'_>, report: &Report) -> Result<Answer, Failure> {
    prepare::<_, _, CleanLock>(context, report, text, String::new(), None, Envelope::clone)?.publish()
}

fn spill<'command, L: HoldsStoreLock>(
    store: &'command Store,
    lock: &'command L,
    mode: CleanupMode,
) -> Spill<'command, L> {
    // A Sample's own scope is what is being removed.
    Spill { store, lock, scope: ArtifactScope::Global, is_repeatable: mode == CleanupMode::DryRun }
}

fn failure(
    context: &Context<'_>,
    store: &Store,
    lock: &CleanLock,
    matched: &CleanupMatch,
    error: CleanupError,
) -> Failure {
    if let Some(signal) = context.host.interrupts.first() {
        return interrupted(signal, None).into();
    }
    match error {
        CleanupError::Refused(error) => error.into(),
        CleanupError::Incomplete { transaction, source } => {
            let left = store.survey_for_cleanup(lock);
            // What cannot be surveyed any more is as good as not removed.
            let remaining = left.map_or(matched.counts, |left| left.counts);
            PublicError::CleanupIncomplete {
                removed: matched.counts.without(remaining),
                remaining,
                transaction: transaction.into(),
                reason: source.to_string(),
            }
            .into()
        }
    }
}
