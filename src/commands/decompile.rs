//! `ghidr decompile`: the one Function an explicit selector names, as Ghidra's C.
//!
//! This file has the command and its document; [`super::decompilation`] gets the text.

use super::analysis::{Ready, Session};
use super::answer::{Answer, answer};
use super::context::Context;
use super::decompilation::{Inquiry, Obtained, Policy, Wanted};
use super::failure::Failure;
use super::worker::QueryList;
use crate::cli::DecompileArguments;
use crate::domain::address::{Address, Offset};
use crate::domain::candidates::Candidates;
use crate::domain::documents::{DecompilationData, DecompiledText, Syntax};
use crate::domain::error::PublicError;
use crate::domain::limits::NativePhases;
use crate::domain::program::ProgramFacts;
use crate::domain::selector::{FunctionSelector, InvalidAddress, RequestedSelector, Resolution, Resolver};
use crate::domain::warning::{self, Warning};
use crate::output::envelope::Envelope;
use crate::output::human;
use crate::protocol::request::WorkerQuery;
use crate::protocol::response::Decompilation;
use crate::store::StoreError;

/// Kind of the success document.
pub const KIND: &str = "decompilation";

/// One question, whose worker has the native time-out and nothing beyond it.
const SINGLE: Policy = Policy { stop_at_failure: false, timeout_seconds: None };

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &DecompileArguments) -> Result<Answer, Failure> {
    let (requested, selector) = selector(arguments)?;
    let session = Session::begin(context, &arguments.sample)?;
    let queries = QueryList::of(WorkerQuery::Decompile { selector: selector.clone() });
    session.with_analysis(Some(&queries), |ready| {
        if let FunctionSelector::Address { .. } = selector {
            require_canonical(&selector, &ready.analysis.program_facts()?)?;
        }
        let resolution = resolve(ready, &selector)?;
        let wanted = [Wanted { selector: selector.clone(), resolution: Ok(resolution) }];
        let mut inquiry = Inquiry::new(&session, ready, SINGLE);
        let mut obtained = None;
        inquiry.obtain(&wanted, &mut |_, became| {
            obtained = Some(became);
            Ok(())
        })?;
        let (decompilation, kept) = match obtained {
            Some(Obtained::Text { decompilation, kept }) => (decompilation, kept),
            Some(Obtained::Failed(failure)) => return Err(failure),
            Some(Obtained::NotRun(_)) | None => {
                return Err(Failure::internal("a function was not asked about"));
            }
        };
        let (data, own_warnings) = answer_of(decompilation, requested.clone());
        let mut warnings = ready.warnings.clone();
        warnings.extend(own_warnings);
        let provenance = session.provenance(ready, true, inquiry.watchdog_seconds);
        let repeated = |made: &Envelope<_, DecompilationData>| {
            let watchdog = (!kept).then(|| query_watchdog_seconds(context));
            made.clone().with_provenance(session.provenance(ready, true, watchdog))
        };
        let mut explanation = session.explain(ready, inquiry.times.as_ref());
        if inquiry.watchdog_seconds.is_none() {
            explanation.push_str("decompilation: reused\n");
        }
        let envelope = Envelope::new(KIND, provenance, data, warning::normalize(warnings));
        let text = |made: &Envelope<_, _>| Ok(human::decompilation(&made.data));
        answer(context, &envelope, text, explanation, &ready.spill(), repeated)
    })
}

/// What a decompilation gives: the data, and the warnings that are its own.
pub fn answer_of(
    decompilation: Decompilation,
    requested_selector: RequestedSelector,
) -> (DecompilationData, Vec<Warning>) {
    let Decompilation { function, text, warnings, faults } = decompilation;
    let mut own_warnings = Warning::for_faults(&faults);
    own_warnings.extend(warnings.into_iter().map(|text| Warning::DecompilerWarning { text }));
    let decompilation = DecompiledText { syntax: Syntax::GhidraC, text };
    (DecompilationData { requested_selector, function, decompilation }, own_warnings)
}

fn resolve(ready: &Ready<'_>, selector: &FunctionSelector) -> Result<Resolution, Failure> {
    let mut resolver = Resolver::new(selector);
    ready.analysis.functions()?.for_each_function::<StoreError>(|item| {
        resolver.visit(&item);
        Ok(())
    })?;
    Ok(resolver.finish())
}

/// The watchdog of a worker that finds the Analysis stored.
fn query_watchdog_seconds(context: &Context<'_>) -> u64 {
    let phases = NativePhases { analysis: false, decompilation: true, batch_timeout_seconds: None };
    context.limits.watchdog_seconds(phases)
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
pub fn require_canonical(selector: &FunctionSelector, facts: &ProgramFacts) -> Result<(), Failure> {
    let FunctionSelector::Address { space, offset } = selector else { return Ok(()) };
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
