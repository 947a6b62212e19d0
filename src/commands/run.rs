//! From a command line to one document and an exit status.
//!
//! The framing contract is kept here: in JSON format a success is one document on stdout and
//! nothing on stderr, a failure nothing on stdout and one document on stderr. Discovery (help,
//! version, completion scripts, schemas) is text on stdout in both formats.

use std::ffi::OsString;

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
use crate::output::human;
use crate::output::sink::Sink;

/// Runs the command line `arguments`, program name included.
pub fn run(arguments: &[OsString], host: &Host<'_>, sink: &mut Sink<'_>) -> ExitStatus {
    let cli = match cli::parse(arguments) {
        Ok(cli) => cli,
        Err(Refusal::Discovery(text)) => return discover(sink, text.as_bytes()),
        Err(Refusal::Invalid { error, format }) => {
            return fail(sink, format, (*error).into(), super::context::unresolved_provenance());
        }
    };
    let Cli { global, command } = cli;
    let context = Context::new(host, global);
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
        Ok(answer) => succeed(sink, &context, &answer),
        Err(failure) => fail(sink, context.format, failure, context.known()),
    }
}

/// Answers `arguments` where no command can run at all: only what needs none is answered.
pub fn refuse(arguments: &[OsString], reason: impl ToString, sink: &mut Sink<'_>) -> ExitStatus {
    let format = match cli::parse(arguments) {
        Ok(cli) => cli.global.format,
        Err(Refusal::Discovery(text)) => return discover(sink, text.as_bytes()),
        Err(Refusal::Invalid { format, .. }) => format,
    };
    fail(sink, format, Failure::internal(reason), super::context::unresolved_provenance())
}

fn succeed(sink: &mut Sink<'_>, context: &Context<'_>, answer: &Answer) -> ExitStatus {
    // INVARIANT(no-success-after-interrupt): an interrupted command never reports success.
    if let Some(signal) = context.host.interrupts.first() {
        return fail(sink, context.format, interrupted(signal, None).into(), context.known());
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
            fail(sink, context.format, error.into(), context.known())
        }
    }
}

/// A text that is no document, whose reader sees that its end is missing.
fn discover(sink: &mut Sink<'_>, text: &[u8]) -> ExitStatus {
    match sink.write_stdout(text) {
        Ok(()) => ExitStatus::Success,
        Err(_) => ExitStatus::Failure,
    }
}

fn fail(sink: &mut Sink<'_>, format: Format, failure: Failure, known: ReducedProvenance) -> ExitStatus {
    let Failure { error, diagnostic_log, .. } = failure;
    let status = error.exit_status();
    let warnings = diagnostic_log.as_deref().and_then(RetainedLog::warning).into_iter().collect();
    let log = diagnostic_log.map(|log| log.descriptor);
    let document = ErrorDocument::new(*error, known, log).with_warnings(warning::normalize(warnings));
    match format {
        Format::Json => sink.write_stderr(&document.encode_capped()),
        Format::Human => sink.write_stderr(describe(&document).as_bytes()),
    }
    status
}

fn describe(document: &ErrorDocument) -> String {
    let body = &document.error;
    let mut text = human::error(&body.error, &body.message, body.diagnostic_log.as_ref());
    text.push_str(&human::warnings(&document.warnings));
    if matches!(body.error, PublicError::InvalidArguments { .. }) {
        text.push_str("  see: ghidr --help\n");
    }
    text
}
