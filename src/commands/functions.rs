//! `ghidr functions`: one page of the complete, ordered function table, from validated facts.
//!
//! The page may be the whole table of a very large Program, so it is never held: each time the
//! document is written, the Functions pass from the facts into it one by one.

use std::cell::RefCell;
use std::ops::Range;

use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

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
use crate::process::Interrupts;
use crate::store::{FunctionTable, StoreError};

/// Kind of the success document.
pub const KIND: &str = "function_list";

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &FunctionsArguments) -> Result<Answer, Failure> {
    let request = arguments.page.request();
    let session = Session::begin(context, &arguments.sample, context.reported_limits(false))?;
    session.with_analysis(None, |ready| {
        let table = ready.analysis.functions()?;
        let total = table.total();
        let failure = RefCell::default();
        let items = PageItems {
            table: &table,
            range: request.range(total),
            interrupts: ready.interrupts,
            failure: &failure,
        };
        let text = |_: &_| Ok(human::function_list(&list(ready, request)?));
        let repeated = |made: &Envelope<_, FunctionList<_>>| {
            made.clone().with_provenance(session.provenance(ready, None))
        };
        let provenance = session.provenance(ready, ready.watchdog_seconds);
        let data = FunctionList { page: request.describe(FUNCTION_ORDER, total), items };
        let envelope = Envelope::new(KIND, provenance, data, warning::normalize(ready.warnings.clone()));
        let answered =
            answer(context, &envelope, text, session.explain(ready, None), &ready.spill(), repeated);
        answered.map_err(|unwritten| failure.take().map_or(unwritten, Failure::from))
    })
}

/// The data of the document, held as a whole.
pub fn list(ready: &Ready<'_>, request: PageRequest) -> Result<FunctionList, Failure> {
    let table = ready.analysis.functions()?;
    let total = table.total();
    let items = table.read_page(request.range(total), &|| ready.interrupts.first())?;
    Ok(FunctionList { page: request.describe(FUNCTION_ORDER, total), items })
}

/// The Functions of one page, serialized as they are read.
#[derive(Clone)]
struct PageItems<'run> {
    table: &'run FunctionTable<'run>,
    range: Range<u64>,
    interrupts: &'run Interrupts,
    /// Why they could not be read, which a serializer's error cannot carry.
    failure: &'run RefCell<Option<StoreError>>,
}

/// Why a page ended early.
enum Stop<E> {
    Table(StoreError),
    Serializer(E),
}

impl<E> From<StoreError> for Stop<E> {
    fn from(error: StoreError) -> Self {
        Self::Table(error)
    }
}

impl Serialize for PageItems<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        let stop = || self.interrupts.first();
        let passed = self.table.for_each_function(self.range.clone(), &stop, |item| {
            items.serialize_element(&item).map_err(Stop::Serializer)
        });
        match passed {
            Ok(()) => items.end(),
            Err(Stop::Serializer(error)) => Err(error),
            Err(Stop::Table(error)) => {
                let told = S::Error::custom(&error);
                self.failure.replace(Some(error));
                Err(told)
            }
        }
    }
}
