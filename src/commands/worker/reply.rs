//! What a worker left behind.
//!
//! Of one that ended in order: its response, and the answers that the response describes. Of one that died, or broke a
//! bound, among the Queries about its own Analysis: that Analysis, which it had saved, opened again and published before
//! the first of them, and the answers that it had completed. Of one that was asked to end nothing is taken that could be
//! promoted: it may have gone on meanwhile.

use std::path::PathBuf;

use super::{Attempt, space_ran_out};
use crate::commands::context::Context;
use crate::commands::diagnostics;
use crate::commands::failure::Failure;
use crate::commands::workplace::{Run, Workplace};
use crate::domain::invocation_files::{ANSWERS, RESPONSE};
use crate::process::EndedBy;
use crate::protocol::answers::Answers;
use crate::protocol::receive::{self, Ending};
use crate::protocol::request::{Arguments, Request};
use crate::protocol::response::{AnswersSummary, Outcome, Response};
use crate::protocol::violation::ReceiveError;

/// A valid response and the run that gave it.
pub struct Reply {
    /// The response.
    pub response: Response,
    /// The answers to its Queries: all that the response describes, or those that a worker which was cut short had
    /// completed. `None` when it had no Queries, or did not come to them.
    pub answers: Option<Answers>,
    /// The run.
    pub run: Run,
    /// Why the run did not end in order, if it did not: only an Analysis is true nevertheless.
    pub end: Result<(), Failure>,
}

/// The reply of an ended worker, or why there is none.
pub(super) fn of(context: &Context<'_>, place: &Workplace<'_>, attempt: Attempt) -> Result<Reply, Failure> {
    let Attempt { request, run, end } = attempt;
    let Err(failure) = end else {
        return match finished(context, place, &request, &run) {
            Ok((response, answers)) => Ok(Reply { response, answers, run, end: Ok(()) }),
            Err(failure) => Err(diagnostics::attach(context, place, &run, failure)),
        };
    };
    match saved(context, place, &request, &run)? {
        Some((response, answers)) => Ok(Reply { response, answers, run, end: Err(failure) }),
        None => Err(failure),
    }
}

/// What a worker that did not end in order had completed of the answers to so many Queries; `None` when it did not come
/// as far as the first of them.
pub fn salvage(
    context: &Context<'_>,
    place: &Workplace<'_>,
    asked: usize,
) -> Result<Option<Answers>, Failure> {
    Ok(Answers::salvage(&answers_path(place), asked, context.host.max_response_bytes)?)
}

/// The response and, where it describes them, the answers beside it.
fn finished(
    context: &Context<'_>,
    place: &Workplace<'_>,
    request: &Request,
    run: &Run,
) -> Result<(Response, Option<Answers>), Failure> {
    match receive(context, place, request) {
        Ok((response, _)) if run.space_ran_out && needs_space(&response) => Err(space_ran_out(place).into()),
        Err(ReceiveError::Violation(_)) if run.space_ran_out => Err(space_ran_out(place).into()),
        received => Ok(received?),
    }
}

fn receive(
    context: &Context<'_>,
    place: &Workplace<'_>,
    request: &Request,
) -> Result<(Response, Option<Answers>), ReceiveError> {
    let most_bytes = context.host.max_response_bytes;
    let response = receive::receive(&response_path(place), request, Ending::InOrder, most_bytes)?;
    let (Some(queries), Some(summary)) = (request.arguments.queries(), summary(&response)) else {
        return Ok((response, None));
    };
    let answers = Answers::receive(&answers_path(place), queries, summary, most_bytes)?;
    Ok((response, Some(answers)))
}

/// The Analysis that a worker had published before it came to a bad end among its Queries, and their answers so far.
fn saved(
    context: &Context<'_>,
    place: &Workplace<'_>,
    request: &Request,
    run: &Run,
) -> Result<Option<(Response, Option<Answers>)>, Failure> {
    let Arguments::Analyze { queries: Some(queries), .. } = &request.arguments else { return Ok(None) };
    // INVARIANT(no-promotion-after-cancel): what was published after the request to end cannot be told from the rest.
    let was_asked_to_end = matches!(run.outcome.ended_by, EndedBy::Watchdog | EndedBy::Interrupted { .. });
    if was_asked_to_end || run.space_ran_out {
        return Ok(None);
    }
    let most_bytes = context.host.max_response_bytes;
    match receive::receive(&response_path(place), request, Ending::CutShort, most_bytes) {
        Ok(response) if matches!(response.outcome, Outcome::Analyzed { .. }) => {
            Ok(Some((response, salvage(context, place, queries.items.len())?)))
        }
        // None, or none that counts: then its end is all there is to say.
        _ => Ok(None),
    }
}

fn response_path(place: &Workplace<'_>) -> PathBuf {
    place.staging.invocation_directory().join(RESPONSE)
}

fn answers_path(place: &Workplace<'_>) -> PathBuf {
    place.staging.invocation_directory().join(ANSWERS)
}

fn summary(response: &Response) -> Option<&AnswersSummary> {
    match &response.outcome {
        Outcome::Analyzed { answers, .. } => answers.as_ref(),
        Outcome::Queried { answers } => Some(answers),
        Outcome::Probed { .. } | Outcome::Failed { .. } => None,
    }
}

/// Whether a full disk makes this answer worthless: an Analysis may lack what could not be written,
/// and a failure may have no other cause.
fn needs_space(response: &Response) -> bool {
    match &response.outcome {
        Outcome::Analyzed { .. } | Outcome::Failed { .. } => true,
        Outcome::Queried { answers } => answers.failed > 0,
        Outcome::Probed { .. } => false,
    }
}
