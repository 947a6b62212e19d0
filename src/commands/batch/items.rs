//! Given Queries: each answered as its own command would answer it, in the order of the input.
//!
//! What they need of Ghidra is asked first and together; what facts answer costs no process. The
//! answers are bounded together: one that no longer fits is a failure in its place. The Functions of
//! a list are not held: each time the document is written, they pass from the facts into it.

use std::collections::HashMap;

use serde::Serialize;

use super::input::BatchQuery;
use super::{KIND, body, limits, policy};
use crate::cli::BatchArguments;
use crate::commands::analysis::{Ready, Session};
use crate::commands::answer::{Answer, answer};
use crate::commands::context::Context;
use crate::commands::decompilation::{Inquiry, Obtained};
use crate::commands::decompile::answer_of;
use crate::commands::failure::Failure;
use crate::commands::functions::{Listing, PageItems};
use crate::commands::inspect;
use crate::commands::wanted::wanted;
use crate::commands::worker::QueryList;
use crate::domain::batch::{BatchCounts, BatchData, BatchItem, BatchOutcome, BatchReport, NotRunReason};
use crate::domain::documents::{Disposition, FunctionList};
use crate::domain::error::PublicError;
use crate::domain::selector::{FunctionSelector, RequestedSelector};
use crate::domain::warning;
use crate::output::envelope::Envelope;
use crate::output::{batch as batch_text, budget, human};
use crate::protocol::request::WorkerQuery;

/// What became of a Query, its Functions unread.
type Item<'run> = BatchItem<PageItems<'run>>;

/// Answers `queries` about the Sample.
pub fn run(
    context: &Context<'_>,
    arguments: &BatchArguments,
    queries: &[BatchQuery],
) -> Result<Answer, Failure> {
    let selectors = Selectors::of(queries);
    let policy = policy(arguments);
    let items = selectors.distinct.iter().cloned();
    let items: Vec<_> = items.map(|selector| WorkerQuery::Decompile { selector }).collect();
    let list = (!items.is_empty()).then_some(QueryList { items, policy });
    let limits = if list.is_some() { limits(context, arguments) } else { context.reported_limits(false) };
    let session = Session::begin(context, &arguments.sample, limits)?;
    session.with_analysis(list.as_ref(), |ready| {
        let mut inquiry = Inquiry::new(&session, ready, policy);
        let listing = Listing::of(ready)?;
        let mut writer = Writer::new(&session, ready, &listing, context.host.max_response_bytes);
        writer.obtain(&mut inquiry, &selectors)?;
        let items = writer.answer_all(queries, &selectors, arguments.fail_fast)?;
        let counts = count(&items);
        let data = BatchReport { counts, items: Some(items), decompilations: None };
        let provenance = |watchdog| session.provenance(ready, watchdog);
        let made = provenance(inquiry.watchdog_seconds.or(ready.watchdog_seconds));
        let list_text = |list: &FunctionList<_>| Ok(human::function_list(&listing.held(list)?));
        let text = |made: &Envelope<_, _>| batch_text::report(&made.data, &made.provenance, list_text);
        let all_kept = writer.all_kept;
        let repeated = |made: &Envelope<_, BatchReport<_>>| {
            let watchdog = (!all_kept).then(|| context.limits.watchdog_seconds(policy.phases(false)));
            let mut again = made.clone().with_provenance(provenance(watchdog));
            again.data.items.iter_mut().flatten().for_each(reuse);
            again
        };
        let warnings = warning::normalize(ready.warnings.clone());
        let envelope = Envelope::new(KIND, made, data, warnings);
        let explanation = session.explain(ready, inquiry.times.as_ref());
        let answered = answer(context, &envelope, text, explanation, &ready.spill(), repeated);
        answered.map_err(|unwritten| listing.reason(unwritten))
    })
}

/// The Functions that are asked for, each selector once, and which item wants which of them.
struct Selectors {
    distinct: Vec<FunctionSelector>,
    uses: Vec<usize>,
    of_item: HashMap<usize, usize>,
}

impl Selectors {
    fn of(queries: &[BatchQuery]) -> Self {
        let mut places: HashMap<&RequestedSelector, usize> = HashMap::new();
        let mut found = Self { distinct: Vec::new(), uses: Vec::new(), of_item: HashMap::new() };
        for (index, query) in queries.iter().enumerate() {
            let BatchQuery::Decompile { requested, selector } = query else { continue };
            let place = *places.entry(requested).or_insert_with(|| {
                found.distinct.push(selector.clone());
                found.uses.push(0);
                found.distinct.len() - 1
            });
            found.uses[place] += 1;
            found.of_item.insert(index, place);
        }
        found
    }
}

/// Makes the items, within the bytes that all answers may have together.
struct Writer<'run> {
    session: &'run Session<'run>,
    ready: &'run Ready<'run>,
    listing: &'run Listing<'run>,
    most_bytes: u64,
    used_bytes: u64,
    obtained: Vec<Option<Obtained>>,
    all_kept: bool,
}

impl<'run> Writer<'run> {
    fn new(
        session: &'run Session<'run>,
        ready: &'run Ready<'run>,
        listing: &'run Listing<'run>,
        most_bytes: u64,
    ) -> Self {
        Self { session, ready, listing, most_bytes, used_bytes: 0, obtained: Vec::new(), all_kept: true }
    }

    /// Everything that a decompiler is needed for.
    fn obtain(&mut self, inquiry: &mut Inquiry<'_>, selectors: &Selectors) -> Result<(), Failure> {
        let wanted = wanted(self.ready, &selectors.distinct)?;
        self.obtained = (0..wanted.len()).map(|_| None).collect();
        inquiry.obtain(&wanted, &mut |index, obtained| {
            self.all_kept &= matches!(obtained, Obtained::Text { kept: true, .. });
            let bytes = match &obtained {
                Obtained::Text { decompilation, .. } => self.size(decompilation)?,
                Obtained::Failed(failure) => self.size(&*failure.error)?,
                Obtained::NotRun(_) => 0,
            };
            let bytes = bytes.saturating_mul(selectors.uses[index] as u64);
            self.obtained[index] = Some(match self.take(bytes) {
                Ok(()) => obtained,
                Err(failure) => Obtained::Failed(failure),
            });
            Ok(())
        })
    }

    fn answer_all(
        &mut self,
        queries: &[BatchQuery],
        selectors: &Selectors,
        fail_fast: bool,
    ) -> Result<Vec<Item<'run>>, Failure> {
        let mut left = selectors.uses.clone();
        let mut items: Vec<Item<'run>> = Vec::with_capacity(queries.len());
        let mut stopped = false;
        for (index, query) in queries.iter().enumerate() {
            let mut item = BatchItem {
                index: index as u64,
                op: query.operation(),
                outcome: BatchOutcome::NotRun { reason: NotRunReason::EarlierFailure },
                warnings: Vec::new(),
            };
            if !stopped {
                match query {
                    BatchQuery::Inspect => self.give(&mut item, |writer| {
                        let data = inspect::inspection(writer.session, writer.ready)?;
                        Ok(BatchData::Inspection(Box::new(data)))
                    })?,
                    BatchQuery::Functions(page) => self
                        .give(&mut item, |writer| Ok(BatchData::FunctionList(writer.listing.page(*page))))?,
                    BatchQuery::Decompile { requested, .. } => {
                        let place = selectors.of_item[&index];
                        left[place] -= 1;
                        let obtained = self.obtained[place].take();
                        if left[place] > 0 {
                            self.obtained[place].clone_from(&obtained);
                        }
                        let obtained = obtained.ok_or_else(|| Failure::internal("a query got no answer"))?;
                        put(&mut item, obtained, requested);
                    }
                }
            }
            stopped |= fail_fast && matches!(item.outcome, BatchOutcome::Failed { .. });
            items.push(item);
        }
        Ok(items)
    }

    /// Answers from facts, if the answer still fits.
    fn give(
        &mut self,
        item: &mut Item<'run>,
        data: impl FnOnce(&Self) -> Result<BatchData<PageItems<'run>>, Failure>,
    ) -> Result<(), Failure> {
        let data = data(self)?;
        match self.take(self.size(&data)?) {
            Ok(()) => item.outcome = BatchOutcome::Succeeded { data },
            Err(failure) => fail(item, failure),
        }
        Ok(())
    }

    /// The bytes of `part`, counted no further than to see that they are too many.
    fn size(&self, part: &impl Serialize) -> Result<u64, Failure> {
        let left_bytes = self.most_bytes - self.used_bytes;
        budget::size(part, left_bytes).map_err(|error| self.listing.reason(Failure::internal(error)))
    }

    fn take(&mut self, bytes: u64) -> Result<(), Failure> {
        let needed = self.used_bytes.saturating_add(bytes);
        if needed > self.most_bytes {
            return Err(PublicError::ResultTooLarge {
                limit_bytes: self.most_bytes,
                observed_at_least_bytes: needed,
                operation: KIND.to_owned(),
            }
            .into());
        }
        self.used_bytes = needed;
        Ok(())
    }
}

fn put(item: &mut Item<'_>, obtained: Obtained, requested: &RequestedSelector) {
    match obtained {
        Obtained::Text { decompilation, .. } => {
            let (data, warnings) = answer_of(decompilation, requested.clone());
            item.outcome = BatchOutcome::Succeeded { data: BatchData::Decompilation(data) };
            item.warnings = warning::normalize(warnings);
        }
        Obtained::Failed(failure) => fail(item, failure),
        Obtained::NotRun(reason) => item.outcome = BatchOutcome::NotRun { reason },
    }
}

fn fail(item: &mut Item<'_>, failure: Failure) {
    let (error, warning) = body(failure);
    item.outcome = BatchOutcome::Failed { error };
    item.warnings = warning::normalize(warning.into_iter().collect());
}

/// The item as a repeated batch gives it, which finds the Analysis stored.
fn reuse(item: &mut Item<'_>) {
    if let BatchOutcome::Succeeded { data: BatchData::Inspection(inspection) } = &mut item.outcome {
        inspection.analysis.disposition = Disposition::Reused;
    }
}

fn count(items: &[Item<'_>]) -> BatchCounts {
    let mut counts = BatchCounts::default();
    for item in items {
        match item.outcome {
            BatchOutcome::Succeeded { .. } => counts.succeed(),
            BatchOutcome::Failed { .. } => counts.fail(),
            BatchOutcome::NotRun { .. } => counts.skip(),
        }
    }
    counts
}
