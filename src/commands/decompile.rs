//! `ghidr decompile`: the one Function an explicit selector names, as Ghidra's C.
//!
//! This file has the command and its document; [`super::decompilation`] gets the text.

use super::analysis::Session;
use super::answer::{Answer, answer};
use super::context::Context;
use super::decompilation::{Inquiry, Obtained};
use super::failure::Failure;
use super::wanted::wanted;
use super::worker::{Policy, QueryList};
use crate::cli::DecompileArguments;
use crate::domain::documents::{DecompilationData, DecompiledText, Syntax};
use crate::domain::error::PublicError;
use crate::domain::selector::{FunctionSelector, InvalidAddress, RequestedSelector};
use crate::domain::warning::{self, Warning};
use crate::output::envelope::Envelope;
use crate::output::human;
use crate::protocol::request::WorkerQuery;
use crate::protocol::response::Decompilation;

pub use super::decompilation::KIND;

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &DecompileArguments) -> Result<Answer, Failure> {
    let requested = requested(arguments)?;
    let selector = requested.parse().map_err(|error| refuse(requested.value(), &error))?;
    let session = Session::begin(context, &arguments.sample, context.reported_limits(true))?;
    let queries = QueryList::of(WorkerQuery::Decompile { selector: selector.clone() });
    session.with_analysis(Some(&queries), |ready| {
        let wanted = wanted(ready, std::slice::from_ref(&selector))?;
        let mut inquiry = Inquiry::new(&session, ready, Policy::SINGLE);
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
        let provenance = session.provenance(ready, inquiry.watchdog_seconds);
        let repeated = |made: &Envelope<_, DecompilationData>| {
            // Of a worker that finds the Analysis stored.
            let watchdog = (!kept).then(|| context.limits.watchdog_seconds(Policy::SINGLE.phases(false)));
            made.clone().with_provenance(session.provenance(ready, watchdog))
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
    let function = decompilation.function.clone();
    let (decompilation, own_warnings) = text_of(decompilation);
    (DecompilationData { requested_selector, function, decompilation }, own_warnings)
}

/// The text alone, and the same warnings.
pub fn text_of(decompilation: Decompilation) -> (DecompiledText, Vec<Warning>) {
    let Decompilation { text, warnings, faults, .. } = decompilation;
    let mut own_warnings = Warning::for_faults(&faults);
    own_warnings.extend(warnings.into_iter().map(|text| Warning::DecompilerWarning { text }));
    (DecompiledText { syntax: Syntax::GhidraC, text }, own_warnings)
}

fn requested(arguments: &DecompileArguments) -> Result<RequestedSelector, Failure> {
    match (arguments.name.clone(), arguments.address.clone()) {
        (Some(value), None) => Ok(RequestedSelector::Name { value }),
        (None, Some(value)) => Ok(RequestedSelector::Address { value }),
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
