//! `ghidr functions`: one page of the complete, ordered function table, from validated facts.

use super::analysis::{Ready, Session};
use super::answer::{Answer, answer};
use super::context::Context;
use super::failure::Failure;
use crate::cli::FunctionsArguments;
use crate::domain::documents::{FUNCTION_ORDER, FunctionList};
use crate::domain::page::PageRequest;
use crate::domain::warning;
use crate::output::envelope::Envelope;
use crate::output::human;

/// Kind of the success document.
pub const KIND: &str = "function_list";

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &FunctionsArguments) -> Result<Answer, Failure> {
    let request = arguments.page.request();
    let session = Session::begin(context, &arguments.sample)?;
    session.with_analysis(None, |ready| {
        let data = list(ready, request)?;
        let provenance = session.provenance(ready, false, ready.watchdog_seconds);
        let text = human::function_list(&data);
        let repeated = |made: &Envelope<_, FunctionList>| {
            made.clone().with_provenance(session.provenance(ready, false, None))
        };
        let envelope = Envelope::new(KIND, provenance, data, warning::normalize(ready.warnings.clone()));
        answer(context, &envelope, text, session.explain(ready, None), &ready.spill(), repeated)
    })
}

/// The data of the document.
pub fn list(ready: &Ready<'_>, request: PageRequest) -> Result<FunctionList, Failure> {
    let table = ready.analysis.functions()?;
    let total = table.total();
    let items = table.read_page(request.range(total))?;
    Ok(FunctionList { page: request.describe(FUNCTION_ORDER, total), items })
}
