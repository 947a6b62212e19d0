//! Where decompilations come from: the worker that made the Analysis, kept results, or workers of
//! their own, in this order; one Function or many, always in the order in which they were asked.
//!
//! Selectors are resolved from validated facts first, so a wrong name costs no JVM, and a worker's
//! answer counts only for the Function that the facts name. What is kept is kept as soon as its
//! worker is gone, however it ended: an interrupted command has lost nothing that was completed.
//! Memory is bounded by the selectors and one decompilation.

use std::time::{Duration, Instant};

use super::analysis::{Answered, Ready, Session};
use super::failure::Failure;
use super::kept::{keep, kept};
use super::retained_log::RetainedLog;
use super::wanted::Wanted;
use super::worker::{self, Policy, QueryList, WorkerTask};
use super::worker_times::WorkerTimes;
use super::workplace::Workplace;
use crate::domain::batch::NotRunReason;
use crate::domain::error::PublicError;
use crate::domain::selector::{FunctionSelector, Resolution};
use crate::protocol::answers::Answers;
use crate::protocol::limits::{MAX_QUERIES, MAX_REQUEST_BYTES};
use crate::protocol::request::WorkerQuery;
use crate::protocol::response::{Decompilation, Outcome, QueryOutcome, Stopped};
use crate::store::{Operation, Store, StoreError};

/// Kind of the success document about one of them.
pub const KIND: &str = "decompilation";
/// Bytes of one request that Queries may take: the rest of it needs far less than what remains.
const QUERIES_BYTES: usize = MAX_REQUEST_BYTES / 8 * 7;
/// Phases of a worker in which it answers.
const QUERY_PHASES: [&str; 2] = ["query", "decompiler"];

/// What became of one of them.
#[derive(Debug, Clone)]
pub enum Obtained {
    /// It was decompiled.
    Text {
        /// The text and whose it is.
        decompilation: Decompilation,
        /// It stands in the store and answers the same Query next time.
        kept: bool,
    },
    /// It cannot be, or could not be.
    Failed(Failure),
    /// It was not tried.
    NotRun(NotRunReason),
}

/// What is to be done about one [`Wanted`].
enum Plan {
    Fail(Failure),
    Serve,
    Ask(FunctionSelector),
    Skip,
}

/// Receives what became of each, by its index, in order.
pub type Emit<'sink> = dyn FnMut(usize, Obtained) -> Result<(), Failure> + 'sink;

/// Decompiles for one command.
pub struct Inquiry<'run> {
    session: &'run Session<'run>,
    ready: &'run Ready<'run>,
    policy: Policy,
    spent: Duration,
    stopped: Option<NotRunReason>,
    /// Watchdog of the last worker that was asked, in seconds; `None` when none was.
    pub watchdog_seconds: Option<u64>,
    /// What that worker spent its time on, when it did not make the Analysis as well.
    pub times: Option<WorkerTimes>,
}

impl<'run> Inquiry<'run> {
    /// Has asked nothing yet.
    pub fn new(session: &'run Session<'run>, ready: &'run Ready<'run>, policy: Policy) -> Self {
        let spent = match (&ready.times, &ready.answered) {
            // It did not say how long it was at its Queries.
            (Some(times), Some(Answered { end: Err(_), .. })) => times.unaccounted(),
            (Some(times), _) => QUERY_PHASES.iter().map(|name| times.phase(name)).sum(),
            (None, _) => Duration::ZERO,
        };
        let watchdog_seconds = ready.answered.as_ref().and(ready.watchdog_seconds);
        Self { session, ready, policy, spent, stopped: None, watchdog_seconds, times: None }
    }

    /// Obtains what is `wanted`. Where the worker that made the Analysis was asked already, it was
    /// asked for exactly these.
    pub fn obtain(&mut self, wanted: &[Wanted], emit: &mut Emit<'_>) -> Result<(), Failure> {
        let plans = self.plan(wanted)?;
        let asked: Vec<usize> =
            (0..plans.len()).filter(|index| matches!(plans[*index], Plan::Ask(_))).collect();
        let ready = self.ready;
        let mut course = Course { inquiry: self, wanted, plans, next: 0 };
        let mut done = 0;
        if let Some(answered) = &ready.answered {
            done = course.hear(&asked, answered, emit)?;
        }
        while done < asked.len() && course.inquiry.stopped.is_none() {
            let Some(list) = course.inquiry.list(asked[done..].iter().map(|index| &course.plans[*index]))
            else {
                break;
            };
            let answered = course.inquiry.ask_worker(&list)?;
            done += course.hear(&asked[done..][..list.items.len()], &answered, emit)?;
        }
        course.pass(wanted.len(), emit)
    }

    fn plan(&self, wanted: &[Wanted]) -> Result<Vec<Plan>, Failure> {
        if self.ready.answered.is_some() {
            return Ok(wanted.iter().map(|wanted| Plan::Ask(wanted.selector.clone())).collect());
        }
        let mut plans = Vec::with_capacity(wanted.len());
        let mut failed = self.stopped == Some(NotRunReason::EarlierFailure);
        for wanted in wanted {
            let plan = match self.settle(wanted) {
                _ if failed => Plan::Skip,
                Err(failure) => {
                    failed = self.policy.stop_at_failure;
                    Plan::Fail(failure)
                }
                Ok(plan) => plan,
            };
            plans.push(plan);
        }
        Ok(plans)
    }

    fn settle(&self, wanted: &Wanted) -> Result<Plan, Failure> {
        let resolution = match &wanted.resolution {
            Ok(resolution) => resolution,
            Err(failure) => return Err(failure.clone()),
        };
        match resolution {
            Resolution::Unique(item) if kept(self.ready, item).is_some() => Ok(Plan::Serve),
            resolution => to_ask(resolution, &wanted.selector).map(Plan::Ask),
        }
    }

    /// The next Queries that fit one request, within the time that is left.
    fn list<'plan>(&mut self, plans: impl Iterator<Item = &'plan Plan>) -> Option<QueryList> {
        let timeout_seconds = match self.policy.timeout_seconds {
            None => None,
            Some(seconds) => {
                let left = Duration::from_secs(seconds).saturating_sub(self.spent).as_secs();
                if left == 0 {
                    self.stopped = Some(NotRunReason::TimeExpired);
                    return None;
                }
                Some(left)
            }
        };
        let mut items = Vec::new();
        let mut bytes = 0;
        for plan in plans.take(MAX_QUERIES) {
            let Plan::Ask(selector) = plan else { continue };
            let query = WorkerQuery::Decompile { selector: selector.clone() };
            bytes += serde_json::to_vec(&query).map_or(0, |text| text.len() + 1);
            if bytes > QUERIES_BYTES && !items.is_empty() {
                break;
            }
            items.push(query);
        }
        Some(QueryList { items, policy: Policy { timeout_seconds, ..self.policy } })
    }

    fn note_stop(&mut self, stopped: Option<Stopped>) {
        self.stopped = match stopped {
            Some(Stopped::Failure) => Some(NotRunReason::EarlierFailure),
            Some(Stopped::Time) => Some(NotRunReason::TimeExpired),
            // The file was full, and the next worker has another.
            Some(Stopped::Size) | None => self.stopped,
        };
    }

    /// Lets a worker decompile on a private copy of the project.
    fn ask_worker(&mut self, list: &QueryList) -> Result<Answered, Failure> {
        let context = self.session.context;
        let began = Instant::now();
        let id = (context.host.new_invocation_id)().map_err(Failure::internal)?;
        let store = Store::open_or_create(self.ready.store.location())?;
        store.sweep_orphans(&self.ready.lock)?;
        let staging = store.begin_staging(id, &self.ready.lock)?;
        let stop = || context.host.interrupts.first();
        self.ready.analysis.copy_project_into(&staging, context.host.store_reserve_bytes, &stop)?;
        let place =
            Workplace { store: &store, staging: &staging, sample: Some(self.session.identity.digest) };
        let task = WorkerTask::Query { queries: list.clone() };
        self.watchdog_seconds = Some(context.limits.watchdog_seconds(task.native_phases()));
        let ended = worker::run(context, &self.session.engine, &place, &task);
        self.spent += began.elapsed();
        let reply = match ended {
            Ok(reply) => reply,
            Err(failure) if failure.cut_worker_short() => {
                let answers = match worker::salvage(context, &place, list.items.len()) {
                    // An interruption is what the user hears of, whatever cannot be kept of it.
                    Err(unreadable) if failure.ended_worker => return Err(unreadable),
                    salvaged => salvaged.ok().flatten(),
                };
                return Ok(Answered::cut_short(answers, failure));
            }
            Err(failure) => return Err(failure),
        };
        self.times = Some(WorkerTimes::of(&reply));
        match (reply.response.outcome, reply.answers) {
            (Outcome::Queried { .. }, Some(answers)) => {
                Answered::in_order(context, &place, &reply.run, answers)
            }
            (Outcome::Failed { error }, _) => {
                let failure = Failure::worker(error, None, KIND);
                Err(super::diagnostics::attach(context, &place, &reply.run, failure))
            }
            _ => Err(Failure::internal("a response passed validation with a foreign outcome")),
        }
    }
}

/// One pass over what is wanted.
struct Course<'pass, 'run> {
    inquiry: &'pass mut Inquiry<'run>,
    wanted: &'pass [Wanted],
    plans: Vec<Plan>,
    /// The first that was not emitted yet.
    next: usize,
}

impl Course<'_, '_> {
    /// Hands on what one worker made of `asked`; how many of them are done then.
    fn hear(&mut self, asked: &[usize], answered: &Answered, emit: &mut Emit<'_>) -> Result<usize, Failure> {
        let Answered { answers, log, end } = answered;
        let done = match answers {
            Some(answers) => self.follow(asked, answers, log.as_ref(), emit)?,
            None => 0,
        };
        let Err(failure) = end else {
            self.inquiry.note_stop(answers.as_ref().and_then(|answers| answers.stopped));
            return Ok(done);
        };
        let only_one = self.inquiry.policy.timeout_seconds.is_none();
        if only_one || !failure.ended_worker {
            return Err(failure.clone());
        }
        if answers.is_none() {
            // It did not come as far as its Queries, and another one would not either.
            self.inquiry.stopped = Some(NotRunReason::WorkerEnded);
        }
        let Some(index) = asked.get(done) else { return Ok(done) };
        // Whatever the worker died of, it was at work on this one, or on its way there. The next worker begins
        // behind it: each end takes one Query away, so this comes to an end, and nothing is tried twice.
        self.pass(*index, emit)?;
        self.emit(*index, Obtained::Failed(failure.clone()), emit)?;
        Ok(done + 1)
    }

    /// Hands on a worker's answers about the first of `asked`, and keeps them.
    fn follow(
        &mut self,
        asked: &[usize],
        answers: &Answers,
        log: Option<&RetainedLog>,
        emit: &mut Emit<'_>,
    ) -> Result<usize, Failure> {
        let mut indices = asked.iter();
        answers.each(|answer| {
            let Some(index) = indices.next() else {
                return Err(Failure::internal("more answers than queries passed validation"));
            };
            self.pass(*index, emit)?;
            let obtained = self.judge(*index, answer.outcome, log)?;
            self.emit(*index, obtained, emit)
        })?;
        Ok(asked.len() - indices.len())
    }

    /// Emits what stands before `index` and needs no worker.
    fn pass(&mut self, index: usize, emit: &mut Emit<'_>) -> Result<(), Failure> {
        while self.next < index {
            let obtained = match std::mem::replace(&mut self.plans[self.next], Plan::Skip) {
                Plan::Fail(failure) => Obtained::Failed(failure),
                Plan::Serve => self.serve(self.next),
                Plan::Ask(_) => {
                    Obtained::NotRun(self.inquiry.stopped.unwrap_or(NotRunReason::EarlierFailure))
                }
                Plan::Skip => Obtained::NotRun(NotRunReason::EarlierFailure),
            };
            self.emit(self.next, obtained, emit)?;
        }
        Ok(())
    }

    fn emit(&mut self, index: usize, obtained: Obtained, emit: &mut Emit<'_>) -> Result<(), Failure> {
        self.next = index + 1;
        if self.inquiry.policy.stop_at_failure && matches!(obtained, Obtained::Failed(_)) {
            self.inquiry.stopped = Some(NotRunReason::EarlierFailure);
        }
        emit(index, obtained)
    }

    /// Reads again what was found to be there: held until its turn comes, the texts of a whole Program would be too much.
    fn serve(&self, index: usize) -> Obtained {
        let found = match &self.wanted[index].resolution {
            Ok(Resolution::Unique(item)) => kept(self.inquiry.ready, item),
            _ => None,
        };
        match found {
            Some(decompilation) => Obtained::Text { decompilation, kept: true },
            None => {
                let path = self.inquiry.ready.store.location().path.clone();
                let again = std::io::Error::other("a kept decompilation cannot be read again");
                Obtained::Failed(StoreError::io(again, Operation::Read, &path).into())
            }
        }
    }

    fn judge(
        &self,
        index: usize,
        outcome: QueryOutcome,
        log: Option<&RetainedLog>,
    ) -> Result<Obtained, Failure> {
        let Wanted { selector, resolution } = &self.wanted[index];
        match (outcome, resolution) {
            (_, Err(failure)) => Ok(Obtained::Failed(failure.clone())),
            (QueryOutcome::Failed { error }, _) => {
                let log = log.filter(|_| super::diagnostics::explains(&error)).cloned();
                Ok(Obtained::Failed(Failure::worker(error, Some(selector), KIND).with_log(log)))
            }
            (QueryOutcome::Decompiled { decompilation }, Ok(resolution)) => {
                let kept = keep(self.inquiry.ready, resolution, &decompilation)?;
                Ok(Obtained::Text { decompilation, kept })
            }
        }
    }
}

/// What a worker is asked about, when facts alone do not settle the matter.
fn to_ask(resolution: &Resolution, selector: &FunctionSelector) -> Result<FunctionSelector, Failure> {
    match (resolution, selector) {
        (Resolution::Unique(item), _) if item.decompilable => {
            Ok(FunctionSelector::Address { space: item.entry.space.clone(), offset: item.entry.offset })
        }
        (Resolution::Unique(item), _) => {
            let reason = if item.is_external { "external" } else { "no_instructions" };
            let entry = item.entry.clone();
            Err(PublicError::FunctionNotDecompilable { entry, reason: reason.to_owned() }.into())
        }
        // Whether an Address lies inside a Function only Ghidra knows.
        (Resolution::NotFound, FunctionSelector::Address { .. }) => Ok(selector.clone()),
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
