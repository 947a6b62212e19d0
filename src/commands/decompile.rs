//! `ghidr decompile`: the one Function an explicit selector names, as Ghidra's C.
//!
//! On a stored Analysis the selector is first resolved from validated facts, so a wrong name
//! costs no JVM; only a unique Function reaches the worker, by its entry Address.

use super::analysis::{Ready, Session};
use super::answer::{Answer, answer};
use super::context::Context;
use super::diagnostics;
use super::failure::Failure;
use super::worker::{self, WorkerTask, Workplace};
use super::worker_times::WorkerTimes;
use crate::cli::DecompileArguments;
use crate::domain::address::{Address, Offset};
use crate::domain::candidates::Candidates;
use crate::domain::documents::{DecompilationData, DecompiledText, Syntax};
use crate::domain::error::PublicError;
use crate::domain::limits::NativePhases;
use crate::domain::selector::{FunctionSelector, InvalidAddress, RequestedSelector, Resolution, Resolver};
use crate::domain::warning::{self, Warning};
use crate::output::envelope::Envelope;
use crate::output::human;
use crate::protocol::request::WorkerQuery;
use crate::protocol::response::{Decompilation, Outcome, QueryOutcome};
use crate::store::{Store, StoreError};

/// Kind of the success document.
pub const KIND: &str = "decompilation";

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &DecompileArguments) -> Result<Answer, Failure> {
    let (requested, selector) = selector(arguments)?;
    let session = Session::begin(context, &arguments.sample)?;
    let query = WorkerQuery::Decompile { selector: selector.clone() };
    session.with_analysis(Some(&query), |ready| {
        require_canonical(&selector, ready)?;
        let (outcome, watchdog, times) = match &ready.answered {
            Some(outcome) => (outcome.clone(), ready.watchdog_seconds, None),
            None => {
                let (outcome, (watchdog, times)) = ask_worker(&session, ready, &selector)?;
                (outcome, Some(watchdog), Some(times))
            }
        };
        let decompilation = match outcome {
            QueryOutcome::Decompiled { decompilation } => decompilation,
            QueryOutcome::Failed { error } => {
                let failure = Failure::worker(error, Some(&selector), KIND);
                return Err(failure.with_log(ready.query_log.clone()));
            }
        };
        let Decompilation { function, text, warnings: decompiler_warnings, faults } = decompilation;
        let mut warnings = ready.warnings.clone();
        warnings.extend(Warning::for_faults(&faults));
        warnings.extend(decompiler_warnings.into_iter().map(|text| Warning::DecompilerWarning { text }));
        let data = DecompilationData {
            requested_selector: requested.clone(),
            function,
            decompilation: DecompiledText { syntax: Syntax::GhidraC, text },
        };
        let provenance = session.provenance(ready, true, watchdog);
        let repeated = |made: &Envelope<_, DecompilationData>| {
            let watchdog = Some(query_watchdog_seconds(context));
            made.clone().with_provenance(session.provenance(ready, true, watchdog))
        };
        let text = human::decompilation(&data);
        let envelope = Envelope::new(KIND, provenance, data, warning::normalize(warnings));
        answer(context, &envelope, text, session.explain(ready, times.as_ref()), &ready.spill(), repeated)
    })
}

/// The watchdog of a worker that finds the Analysis stored.
fn query_watchdog_seconds(context: &Context<'_>) -> u64 {
    context.limits.watchdog_seconds(NativePhases { analysis: false, decompilation: true })
}

fn selector(arguments: &DecompileArguments) -> Result<(RequestedSelector, FunctionSelector), Failure> {
    match (&arguments.name, &arguments.address) {
        (Some(value), None) => Ok((
            RequestedSelector::Name { value: value.clone() },
            FunctionSelector::Name { value: value.clone() },
        )),
        (None, Some(value)) => {
            let selector = FunctionSelector::parse_address(value).map_err(|error| refuse(value, &error))?;
            Ok((RequestedSelector::Address { value: value.clone() }, selector))
        }
        _ => Err(Failure::internal("exactly one selector passes the command line")),
    }
}

fn refuse(value: &str, error: &InvalidAddress) -> Failure {
    PublicError::InvalidArguments {
        argument: Some("--address".to_owned()),
        reason: format!("'{value}' is no address: {error}"),
        suggestion: FunctionSelector::suggest_address(value).map(|text| format!("--address {text}")),
    }
    .into()
}

/// An offset is written with its space's width, so that one Address has one spelling.
fn require_canonical(selector: &FunctionSelector, ready: &Ready<'_>) -> Result<(), Failure> {
    let FunctionSelector::Address { space, offset } = selector else { return Ok(()) };
    let facts = ready.analysis.program_facts()?;
    let Some(known) = facts.address_spaces.iter().find(|known| known.name == *space) else {
        let spaces = Candidates::from_all(facts.address_spaces.iter().map(|known| known.name.clone()));
        return Err(PublicError::AddressSpaceNotFound { space: space.clone(), spaces }.into());
    };
    if offset.digits() == known.offset_digits {
        return Ok(());
    }
    let canonical =
        Address { space: space.clone(), offset: Offset::new(offset.value(), known.offset_digits) };
    Err(PublicError::InvalidArguments {
        argument: Some("--address".to_owned()),
        reason: format!("an offset in '{space}' has {} hexadecimal digits", known.offset_digits),
        suggestion: Some(format!("--address {canonical}")),
    }
    .into())
}

/// Resolves the selector against the stored table, then lets a worker decompile.
fn ask_worker(
    session: &Session<'_>,
    ready: &Ready<'_>,
    selector: &FunctionSelector,
) -> Result<(QueryOutcome, (u64, WorkerTimes)), Failure> {
    let mut resolver = Resolver::new(selector);
    ready.analysis.functions()?.for_each_function::<StoreError>(|item| {
        resolver.visit(&item);
        Ok(())
    })?;
    let resolved = match resolver.finish() {
        Resolution::Unique(item) if item.decompilable => {
            FunctionSelector::Address { space: item.entry.space, offset: item.entry.offset }
        }
        // Whether an Address lies inside a Function, and why a Function cannot be decompiled,
        // only Ghidra knows.
        Resolution::Unique(_) => selector.clone(),
        Resolution::NotFound if matches!(selector, FunctionSelector::Address { .. }) => selector.clone(),
        Resolution::NotFound => {
            let FunctionSelector::Name { value } = selector else { unreachable_selector()? };
            return Err(PublicError::FunctionNotFound { name: value.clone() }.into());
        }
        Resolution::Ambiguous(candidates) => {
            let FunctionSelector::Name { value } = selector else { unreachable_selector()? };
            return Err(PublicError::FunctionSelectorAmbiguous { name: value.clone(), candidates }.into());
        }
    };
    let context = session.context;
    let id = (context.host.new_invocation_id)().map_err(Failure::internal)?;
    let store = Store::open_or_create(ready.store.location())?;
    store.sweep_orphans(&ready.lock)?;
    let staging = store.begin_staging(id, &ready.lock)?;
    ready.analysis.copy_project_into(&staging)?;
    let place = Workplace { store: &store, staging: &staging, sample: Some(session.identity.digest) };
    let task = WorkerTask::Query { query: WorkerQuery::Decompile { selector: resolved } };
    let reply = worker::run(context, &session.engine, &place, &task)?;
    let times = WorkerTimes::of(&reply);
    match reply.response.outcome {
        Outcome::Queried { query: QueryOutcome::Failed { error } } | Outcome::Failed { error } => {
            let failure = Failure::worker(error, Some(selector), KIND);
            Err(diagnostics::attach(context, &place, &reply.run, failure))
        }
        Outcome::Queried { query } => Ok((query, (reply.run.watchdog_seconds, times))),
        Outcome::Probed { .. } | Outcome::Analyzed { .. } => {
            Err(Failure::internal("a response passed validation with a foreign outcome"))
        }
    }
}

/// Only names can be ambiguous or absent from a table whose entries are unique.
fn unreachable_selector<T>() -> Result<T, Failure> {
    Err(Failure::internal("an entry address resolved to several functions"))
}
