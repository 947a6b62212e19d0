//! From a command line to one document and an exit status.
//!
//! The framing contract is kept here: in JSON format a success is one document on stdout and
//! nothing on stderr, a failure nothing on stdout and one document on stderr. Discovery (help,
//! version, completion scripts, schemas) is text on stdout in both formats.

use std::ffi::OsString;
use std::io;

use super::answer::Answer;
use super::context::{Context, unresolved_provenance};
use super::failure::{Failure, interrupted};
use super::host::Host;
use super::retained_log::RetainedLog;
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
    let cli = cli::parse(arguments);
    let mut reply = Reply { arguments, sink };
    let cli = match cli {
        Ok(cli) => cli,
        Err(Refusal::Discovery(text)) => return reply.discover(text.as_bytes()),
        Err(Refusal::Invalid { error, format }) => {
            return reply.fail(format, (*error).into(), unresolved_provenance());
        }
    };
    let Cli { global, command } = cli;
    let context = Context::new(host, global);
    // An answer that nobody can get is not worked for, and nothing is removed without a report.
    if let Err(error) = reply.sink.check_stdout() {
        let error = PublicError::OutputFailed { reason: error.to_string() };
        return reply.fail(context.format, error.into(), context.known());
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
            return reply.discover(&cli::completions::script(arguments.shell));
        }
        Command::Schema(arguments) => match schemas::text(&arguments.kind) {
            Ok(text) => return reply.discover(&text),
            Err(failure) => Err(failure),
        },
    };
    match outcome {
        Ok(answer) => reply.succeed(&context, &answer),
        Err(failure) => reply.fail(context.format, failure, context.known()),
    }
}

/// Answers `arguments` where no command can run at all: only what needs none is answered.
pub fn refuse(arguments: &[OsString], reason: impl ToString, sink: &mut Sink<'_>) -> ExitStatus {
    let mut reply = Reply { arguments, sink };
    let format = match cli::parse(arguments) {
        Ok(cli) => cli.global.format,
        Err(Refusal::Discovery(text)) => return reply.discover(text.as_bytes()),
        Err(Refusal::Invalid { format, .. }) => format,
    };
    reply.fail(format, Failure::internal(reason), unresolved_provenance())
}

/// The one thing a run says.
struct Reply<'run, 'process> {
    /// What was asked, for a hint that repeats some of it.
    arguments: &'run [OsString],
    sink: &'run mut Sink<'process>,
}

impl Reply<'_, '_> {
    fn succeed(&mut self, context: &Context<'_>, answer: &Answer) -> ExitStatus {
        // INVARIANT(no-success-after-interrupt): an interrupted command never reports success.
        if let Some(signal) = context.host.interrupts.first() {
            return self.fail(context.format, interrupted(signal, None).into(), context.known());
        }
        let written = match context.format {
            Format::Json => self.sink.write_stdout(&answer.json),
            Format::Human => {
                if context.verbose {
                    self.sink.write_stderr(answer.explanation.as_bytes());
                }
                self.sink.write_stderr(human::warnings(&answer.warnings).as_bytes());
                self.sink.write_stdout(answer.human.as_bytes())
            }
        };
        match written {
            Ok(()) => ExitStatus::Success,
            // Whatever part of it was read has no final LF, and this status tells the reader why.
            Err(error) => {
                let error = PublicError::OutputFailed { reason: error.to_string() };
                self.fail(context.format, error.into(), context.known())
            }
        }
    }

    /// A text that is no document. Whoever stopped reading it needs no word about that; a disk that is full does.
    fn discover(&mut self, text: &[u8]) -> ExitStatus {
        let Err(error) = self.sink.write_stdout(text) else { return ExitStatus::Success };
        if error.kind() != io::ErrorKind::BrokenPipe {
            let error = PublicError::OutputFailed { reason: error.to_string() };
            let document = ErrorDocument::new(error, ReducedProvenance::default(), None);
            self.sink.write_stderr(human_error::describe(&document, &[]).as_bytes());
        }
        ExitStatus::Failure
    }

    fn fail(&mut self, format: Format, failure: Failure, known: ReducedProvenance) -> ExitStatus {
        let Failure { error, diagnostic_log, .. } = failure;
        let status = error.exit_status();
        let warnings = diagnostic_log.as_deref().and_then(RetainedLog::warning).into_iter().collect();
        let log = diagnostic_log.map(|log| log.descriptor);
        let document = ErrorDocument::new(*error, known, log).with_warnings(warning::normalize(warnings));
        match format {
            Format::Json => self.sink.write_stderr(&document.encode_capped()),
            Format::Human => {
                let text = human_error::describe(&document, &cli::recognised(self.arguments));
                self.sink.write_stderr(text.as_bytes());
            }
        }
        status
    }
}
