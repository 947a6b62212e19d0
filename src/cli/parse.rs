//! From arguments to a command, to discovery text, or to one invalid-arguments error.

use std::ffi::OsString;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Cli, Format, help};
use crate::domain::error::PublicError;

/// What parsing a command line leads to besides a command.
#[derive(Debug)]
pub enum Refusal {
    /// `--help` or `--version`: text for stdout, exit status 0.
    Discovery(String),
    /// Invalid arguments.
    Invalid {
        /// The error, boxed for its size.
        error: Box<PublicError>,
        /// Format in which to report it.
        format: Format,
    },
}

/// Parses the command line, program name included.
pub fn parse(arguments: &[OsString]) -> Result<Cli, Refusal> {
    let matches = help::definitions().try_get_matches_from(arguments);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refusal::Discovery(error.render().to_string()),
        _ => Refusal::Invalid { error: Box::new(invalid(&error)), format: requested_format(arguments) },
    })
}

fn invalid(error: &clap::Error) -> PublicError {
    let rendered = error.render().to_string();
    let reason = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            format!("a command is required: {}", command_names().join(", "))
        }
        _ => one_line(&rendered),
    };
    PublicError::InvalidArguments {
        argument: context(error, ContextKind::InvalidArg),
        reason,
        suggestion: context(error, ContextKind::SuggestedArg)
            .or_else(|| context(error, ContextKind::SuggestedSubcommand))
            .or_else(|| context(error, ContextKind::SuggestedValue))
            .or_else(|| instead_of_help(error)),
    }
}

/// `help` is no command here, but what many people try first.
fn instead_of_help(error: &clap::Error) -> Option<String> {
    let tried = context(error, ContextKind::InvalidSubcommand)?;
    (tried == "help").then(|| "--help".to_owned())
}

/// The commands in the order of their definition, a subcommand's name after its parent's.
fn command_names() -> Vec<String> {
    leaves(&help::definitions(), "")
}

fn leaves(command: &clap::Command, parent: &str) -> Vec<String> {
    let below = |subcommand: &clap::Command| {
        let name = format!("{parent}{}", subcommand.get_name());
        let below = leaves(subcommand, &format!("{name} "));
        if below.is_empty() { vec![name] } else { below }
    };
    command.get_subcommands().flat_map(below).collect()
}

/// The first paragraph of clap's message, without its prefix and line breaks.
fn one_line(rendered: &str) -> String {
    let paragraph = rendered.split("\n\n").next().unwrap_or(rendered);
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) if !text.is_empty() => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// The format to report an invalid command line in: the one it asks for, if that much is
/// legible, else JSON.
fn requested_format(arguments: &[OsString]) -> Format {
    let mut format = Format::Json;
    let mut arguments = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        let value = match argument.to_str() {
            Some("--format") => arguments.next().and_then(|value| value.to_str()),
            Some(text) => text.strip_prefix("--format="),
            None => None,
        };
        match value {
            Some("human") => format = Format::Human,
            Some(_) => return Format::Json,
            None => {}
        }
    }
    format
}
