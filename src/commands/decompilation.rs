//! Where the decompilation of one Function comes from: the worker that made the Analysis, a kept
//! result, or a worker of its own, in this order.
//!
//! The selector is resolved from validated facts first, so a wrong name costs no JVM, and a
//! worker's answer counts only for the Function that the facts name. Only completed
//! decompilations without a fault of the engine are kept; everything else is asked again.

use serde::Serialize;

use super::analysis::{Ready, Session};
use super::decompile::KIND;
use super::diagnostics;
use super::failure::Failure;
use super::worker::{self, WorkerTask, Workplace};
use super::worker_times::WorkerTimes;
use crate::domain::address::Address;
use crate::domain::digest::ContentDigest;
use crate::domain::error::PublicError;
use crate::domain::function::FunctionItem;
use crate::domain::selector::{FunctionSelector, Resolution, Resolver};
use crate::protocol::limits::DECOMPILATION_VERSION;
use crate::protocol::request::WorkerQuery;
use crate::protocol::response::{Decompilation, Outcome, QueryOutcome};
use crate::protocol::violation::ProtocolViolation;
use crate::store::{Store, StoreError};

/// A decompilation and how the command came by it.
pub struct Obtained {
    /// The text and whose it is.
    pub decompilation: Decompilation,
    /// Watchdog of the worker that was asked, in seconds; `None` when none was.
    pub watchdog_seconds: Option<u64>,
    /// What that worker spent its time on, when it did not make the Analysis as well.
    pub times: Option<WorkerTimes>,
    /// It stands in the store and answers the same Query next time.
    pub kept: bool,
}

/// Everything that can change the text. Engine, Java and adapter are behind the Analysis; the
/// decompiler's options are fixed by the version. The time-out is not here: it decides whether
/// there is a text, not which.
#[derive(Serialize)]
struct Key<'query> {
    query: &'static str,
    decompilation_version: u32,
    analysis_manifest_sha256: ContentDigest,
    entry: &'query Address,
}

/// The decompilation of the Function that `selector` names.
pub fn obtain(
    session: &Session<'_>,
    ready: &Ready<'_>,
    selector: &FunctionSelector,
) -> Result<Obtained, Failure> {
    if let Some(QueryOutcome::Failed { error }) = &ready.answered {
        let failure = Failure::worker(error.clone(), Some(selector), KIND);
        return Err(failure.with_log(ready.query_log.clone()));
    }
    let resolution = resolve(ready, selector)?;
    if let Some(QueryOutcome::Decompiled { decompilation }) = &ready.answered {
        let kept = keep(ready, &resolution, decompilation)?;
        let decompilation = decompilation.clone();
        return Ok(Obtained { decompilation, watchdog_seconds: ready.watchdog_seconds, times: None, kept });
    }
    if let Resolution::Unique(item) = &resolution
        && let Some(decompilation) = kept(ready, item)
    {
        return Ok(Obtained { decompilation, watchdog_seconds: None, times: None, kept: true });
    }
    let asked = to_ask(&resolution, selector)?;
    let (decompilation, watchdog_seconds, times) = ask_worker(session, ready, selector, asked)?;
    let kept = keep(ready, &resolution, &decompilation)?;
    Ok(Obtained { decompilation, watchdog_seconds: Some(watchdog_seconds), times: Some(times), kept })
}

/// What a worker is asked about, when facts alone do not settle the matter.
fn to_ask(resolution: &Resolution, selector: &FunctionSelector) -> Result<FunctionSelector, Failure> {
    match (resolution, selector) {
        (Resolution::Unique(item), _) if item.decompilable => {
            Ok(FunctionSelector::Address { space: item.entry.space.clone(), offset: item.entry.offset })
        }
        // Whether an Address lies inside a Function, and why a Function cannot be decompiled,
        // only Ghidra knows.
        (Resolution::Unique(_), _) | (Resolution::NotFound, FunctionSelector::Address { .. }) => {
            Ok(selector.clone())
        }
        (Resolution::NotFound, FunctionSelector::Name { value }) => {
            Err(PublicError::FunctionNotFound { name: value.clone() }.into())
        }
        (Resolution::Ambiguous(candidates), FunctionSelector::Name { value }) => {
            let (name, candidates) = (value.clone(), candidates.clone());
            Err(PublicError::FunctionSelectorAmbiguous { name, candidates }.into())
        }
        (Resolution::Ambiguous(_), FunctionSelector::Address { .. }) => {
            Err(Failure::internal("an entry address resolved to several functions"))
        }
    }
}

fn resolve(ready: &Ready<'_>, selector: &FunctionSelector) -> Result<Resolution, Failure> {
    let mut resolver = Resolver::new(selector);
    ready.analysis.functions()?.for_each_function::<StoreError>(|item| {
        resolver.visit(&item);
        Ok(())
    })?;
    Ok(resolver.finish())
}

fn key<'query>(ready: &Ready<'_>, entry: &'query Address) -> Key<'query> {
    Key {
        query: "decompile",
        decompilation_version: DECOMPILATION_VERSION,
        analysis_manifest_sha256: ready.analysis.manifest_digest(),
        entry,
    }
}

fn kept(ready: &Ready<'_>, item: &FunctionItem) -> Option<Decompilation> {
    if !item.decompilable {
        return None;
    }
    let found: Decompilation = ready.analysis.kept_result(ready.store, &key(ready, &item.entry))?;
    names(&found, item).then_some(found)
}

/// Keeps what a worker answered, when it answered about the Function that was asked for.
/// A store that cannot keep it costs the next command time, and this one nothing.
fn keep(
    ready: &Ready<'_>,
    resolution: &Resolution,
    decompilation: &Decompilation,
) -> Result<bool, ProtocolViolation> {
    match resolution {
        Resolution::Unique(item) if names(decompilation, item) => {
            if decompilation.faults.total > 0 {
                return Ok(false);
            }
            let key = key(ready, &item.entry);
            Ok(ready.analysis.keep_result(ready.store, &ready.lock, &key, decompilation).unwrap_or(false))
        }
        _ => Err(ProtocolViolation::new(
            "function",
            "the one Function that the facts name",
            &decompilation.function.entry,
        )),
    }
}

fn names(decompilation: &Decompilation, item: &FunctionItem) -> bool {
    let function = &decompilation.function;
    function.name == item.name
        && function.qualified_name == item.qualified_name
        && function.entry == item.entry
}

/// Lets a worker decompile on a private copy of the project.
fn ask_worker(
    session: &Session<'_>,
    ready: &Ready<'_>,
    selector: &FunctionSelector,
    asked: FunctionSelector,
) -> Result<(Decompilation, u64, WorkerTimes), Failure> {
    let context = session.context;
    let id = (context.host.new_invocation_id)().map_err(Failure::internal)?;
    let store = Store::open_or_create(ready.store.location())?;
    store.sweep_orphans(&ready.lock)?;
    let staging = store.begin_staging(id, &ready.lock)?;
    let stop = || context.host.interrupts.first();
    ready.analysis.copy_project_into(&staging, context.host.store_reserve_bytes, &stop)?;
    let place = Workplace { store: &store, staging: &staging, sample: Some(session.identity.digest) };
    let task = WorkerTask::Query { query: WorkerQuery::Decompile { selector: asked } };
    let reply = worker::run(context, &session.engine, &place, &task)?;
    let times = WorkerTimes::of(&reply);
    match reply.response.outcome {
        Outcome::Queried { query: QueryOutcome::Failed { error } } | Outcome::Failed { error } => {
            let failure = Failure::worker(error, Some(selector), KIND);
            Err(diagnostics::attach(context, &place, &reply.run, failure))
        }
        Outcome::Queried { query: QueryOutcome::Decompiled { decompilation } } => {
            Ok((decompilation, reply.run.watchdog_seconds, times))
        }
        Outcome::Probed { .. } | Outcome::Analyzed { .. } => {
            Err(Failure::internal("a response passed validation with a foreign outcome"))
        }
    }
}
