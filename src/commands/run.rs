//! From a command line to one document and an exit status.
//!
//! The framing contract is kept here: in JSON format a success is one document on stdout and
//! nothing on stderr, a failure nothing on stdout and one document on stderr. Discovery (help,
//! version, completion scripts, schemas) is text on stdout in both formats.

use std::ffi::OsString;
use std::io;

use super::answer::Answer;
use super::context::Context;
use super::diagnostics::RetainedLog;
use super::failure::{Failure, interrupted};
use super::host::Host;
use super::{batch, clean, decompile, doctor, functions, inspect, schemas, store_list};
use crate::cli::{self, Cli, Command, Format, Refusal, StoreCommand};
use crate::domain::error::PublicError;
use crate::domain::exit_status::ExitStatus;
use crate::domain::provenance::ReducedProvenance;
use crate::domain::warning;
use crate::output::error_document::ErrorDocument;
use crate::output::sink::Sink;
use crate::output::{human, human_error};

/// Runs the command line `arguments`, program name included.
pub fn run(arguments: &[OsString], host: &Host<'_>, sink: &mut Sink<'_>) -> ExitStatus {
    let cli = match cli::parse(arguments) {
        Ok(cli) => cli,
        Err(Refusal::Discovery(text)) => return discover(sink, text.as_bytes()),
        Err(Refusal::Invalid { error, format }) => {
            let known = super::context::unresolved_provenance();
            return fail(sink, format, (*error).into(), known, arguments);
        }
    };
    let Cli { global, command } = cli;
    let context = Context::new(host, global);
    // An answer that nobody can get is not worked for, and nothing is removed without a report.
    if let Err(error) = sink.check_stdout() {
        let error = PublicError::OutputFailed { reason: error.to_string() };
        return fail(sink, context.format, error.into(), context.known(), arguments);
    }
    let outcome = match &command {
        Command::Doctor => doctor::run(&context),
        Command::Inspect(arguments) => inspect::run(&context, arguments),
        Command::Functions(arguments) => functions::run(&context, arguments),
        Command::Decompile(arguments) => decompile::run(&context, arguments),
        Command::Batch(arguments) => batch::run(&context, arguments),
        Command::Clean(arguments) => clean::run(&context, arguments),
        Command::Store(arguments) => match &arguments.command {
            StoreCommand::List(page) => store_list::run(&context, page),
        },
        // Text like --help, in every format: the only other exceptions from one document (decision D13).
        Command::Completions(arguments) => {
            return discover(sink, &cli::completions::script(arguments.shell));
        }
        Command::Schema(arguments) => match schemas::text(&arguments.kind) {
            Ok(text) => return discover(sink, &text),
            Err(failure) => Err(failure),
        },
    };
    match outcome {
        Ok(answer) => succeed(sink, &context, &answer, arguments),
        Err(failure) => fail(sink, context.format, failure, context.known(), arguments),
    }
}

/// Answers `arguments` where no command can run at all: only what needs none is answered.
pub fn refuse(arguments: &[OsString], reason: impl ToString, sink: &mut Sink<'_>) -> ExitStatus {
    let format = match cli::parse(arguments) {
        Ok(cli) => cli.global.format,
        Err(Refusal::Discovery(text)) => return discover(sink, text.as_bytes()),
        Err(Refusal::Invalid { format, .. }) => format,
    };
    fail(sink, format, Failure::internal(reason), super::context::unresolved_provenance(), arguments)
}

fn succeed(
    sink: &mut Sink<'_>,
    context: &Context<'_>,
    answer: &Answer,
    arguments: &[OsString],
) -> ExitStatus {
    // INVARIANT(no-success-after-interrupt): an interrupted command never reports success.
    if let Some(signal) = context.host.interrupts.first() {
        let error = interrupted(signal, None);
        return fail(sink, context.format, error.into(), context.known(), arguments);
    }
    let written = match context.format {
        Format::Json => sink.write_stdout(&answer.json),
        Format::Human => {
            if context.verbose {
                sink.write_stderr(answer.explanation.as_bytes());
            }
            sink.write_stderr(human::warnings(&answer.warnings).as_bytes());
            sink.write_stdout(answer.human.as_bytes())
        }
    };
    match written {
        Ok(()) => ExitStatus::Success,
        // Whatever part of it was read has no final LF, and this status tells the reader why.
        Err(error) => {
            let error = PublicError::OutputFailed { reason: error.to_string() };
            fail(sink, context.format, error.into(), context.known(), arguments)
        }
    }
}

/// A text that is no document. Whoever stopped reading it needs no word about that; a disk that is full does.
fn discover(sink: &mut Sink<'_>, text: &[u8]) -> ExitStatus {
    let Err(error) = sink.write_stdout(text) else { return ExitStatus::Success };
    if error.kind() != io::ErrorKind::BrokenPipe {
        let error = PublicError::OutputFailed { reason: error.to_string() };
        let document = ErrorDocument::new(error, ReducedProvenance::default(), None);
        sink.write_stderr(human_error::describe(&document, &[]).as_bytes());
    }
    ExitStatus::Failure
}

fn fail(
    sink: &mut Sink<'_>,
    format: Format,
    failure: Failure,
    known: ReducedProvenance,
    arguments: &[OsString],
) -> ExitStatus {
    let Failure { error, diagnostic_log, .. } = failure;
    let status = error.exit_status();
    let warnings = diagnostic_log.as_deref().and_then(RetainedLog::warning).into_iter().collect();
    let log = diagnostic_log.map(|log| log.descriptor);
    let document = ErrorDocument::new(*error, known, log).with_warnings(warning::normalize(warnings));
    match format {
        Format::Json => sink.write_stderr(&document.encode_capped()),
        Format::Human => {
            let text = human_error::describe(&document, &cli::recognised(arguments));
            sink.write_stderr(text.as_bytes());
        }
    }
    status
}
