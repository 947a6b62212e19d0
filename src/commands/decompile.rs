//! `ghidr decompile`: the one Function an explicit selector names, as Ghidra's C.
//!
//! This file has the command and its document; [`super::decompilation`] gets the text.

use super::analysis::{Ready, Session};
use super::answer::{Answer, answer};
use super::context::Context;
use super::decompilation;
use super::failure::Failure;
use crate::cli::DecompileArguments;
use crate::domain::address::{Address, Offset};
use crate::domain::candidates::Candidates;
use crate::domain::documents::{DecompilationData, DecompiledText, Syntax};
use crate::domain::error::PublicError;
use crate::domain::limits::NativePhases;
use crate::domain::selector::{FunctionSelector, InvalidAddress, RequestedSelector};
use crate::domain::warning::{self, Warning};
use crate::output::envelope::Envelope;
use crate::output::human;
use crate::protocol::request::WorkerQuery;
use crate::protocol::response::Decompilation;

/// Kind of the success document.
pub const KIND: &str = "decompilation";

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &DecompileArguments) -> Result<Answer, Failure> {
    let (requested, selector) = selector(arguments)?;
    let session = Session::begin(context, &arguments.sample)?;
    let query = WorkerQuery::Decompile { selector: selector.clone() };
    session.with_analysis(Some(&query), |ready| {
        require_canonical(&selector, ready)?;
        let obtained = decompilation::obtain(&session, ready, &selector)?;
        let Decompilation { function, text, warnings: decompiler_warnings, faults } = obtained.decompilation;
        let mut warnings = ready.warnings.clone();
        warnings.extend(Warning::for_faults(&faults));
        warnings.extend(decompiler_warnings.into_iter().map(|text| Warning::DecompilerWarning { text }));
        let data = DecompilationData {
            requested_selector: requested.clone(),
            function,
            decompilation: DecompiledText { syntax: Syntax::GhidraC, text },
        };
        let provenance = session.provenance(ready, true, obtained.watchdog_seconds);
        let repeated = |made: &Envelope<_, DecompilationData>| {
            let watchdog = (!obtained.kept).then(|| query_watchdog_seconds(context));
            made.clone().with_provenance(session.provenance(ready, true, watchdog))
        };
        let mut explanation = session.explain(ready, obtained.times.as_ref());
        if obtained.watchdog_seconds.is_none() {
            explanation.push_str("decompilation: reused\n");
        }
        let envelope = Envelope::new(KIND, provenance, data, warning::normalize(warnings));
        let text = |made: &Envelope<_, _>| Ok(human::decompilation(&made.data));
        answer(context, &envelope, text, explanation, &ready.spill(), repeated)
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
