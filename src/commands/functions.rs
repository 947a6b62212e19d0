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
        let listing = Listing::of(ready)?;
        let text = |made: &Envelope<_, _>| Ok(human::function_list(&listing.held(&made.data)?));
        let repeated = |made: &Envelope<_, FunctionList<_>>| {
            made.clone().with_provenance(session.provenance(ready, None))
        };
        let provenance = session.provenance(ready, ready.watchdog_seconds);
        let warnings = warning::normalize(ready.warnings.clone());
        let envelope = Envelope::new(KIND, provenance, listing.page(request), warnings);
        let answered =
            answer(context, &envelope, text, session.explain(ready, None), &ready.spill(), repeated);
        answered.map_err(|unwritten| listing.reason(unwritten))
    })
}

/// What pages are read from while they are written.
pub struct Listing<'run> {
    table: FunctionTable<'run>,
    interrupts: &'run Interrupts,
    /// Why one could not be read, which a serializer's error cannot carry.
    failure: RefCell<Option<StoreError>>,
}

impl<'run> Listing<'run> {
    /// Of the Analysis that is `ready`.
    pub fn of(ready: &'run Ready<'_>) -> Result<Self, Failure> {
        let table = ready.analysis.functions()?;
        Ok(Self { table, interrupts: ready.interrupts, failure: RefCell::default() })
    }

    /// The data of a document, of which no Function is read yet.
    pub fn page(&self, request: PageRequest) -> FunctionList<PageItems<'_>> {
        let total = self.table.total();
        let items = PageItems { listing: self, range: request.range(total) };
        FunctionList { page: request.describe(FUNCTION_ORDER, total), items }
    }

    /// The same data with its Functions.
    pub fn held(&self, list: &FunctionList<PageItems<'_>>) -> Result<FunctionList, Failure> {
        let items = self.table.read_page(list.items.range.clone(), &|| self.interrupts.first())?;
        Ok(FunctionList { page: list.page.clone(), items })
    }

    /// Why a document that has a page was not written: `unwritten`, unless its Functions could not be read.
    pub fn reason(&self, unwritten: Failure) -> Failure {
        self.failure.take().map_or(unwritten, Failure::from)
    }
}

/// The Functions of one page, serialized as they are read.
#[derive(Clone)]
pub struct PageItems<'run> {
    listing: &'run Listing<'run>,
    range: Range<u64>,
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
        let stop = || self.listing.interrupts.first();
        let passed = self.listing.table.for_each_function(self.range.clone(), &stop, |item| {
            items.serialize_element(&item).map_err(Stop::Serializer)
        });
        match passed {
            Ok(()) => items.end(),
            Err(Stop::Serializer(error)) => Err(error),
            Err(Stop::Table(error)) => {
                let told = S::Error::custom(&error);
                self.listing.failure.replace(Some(error));
                Err(told)
            }
        }
    }
}
