//! From arguments to a command, to discovery text, or to one invalid-arguments error.

use std::ffi::OsString;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;

use super::{Cli, Format, conflict, help, suggestion};
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
    let parsed = matches.and_then(|matches| {
        let is_heap_given = matches.value_source("max_heap_mib") == Some(ValueSource::CommandLine);
        Ok((Cli::from_arg_matches(&matches)?, is_heap_given))
    });
    let (cli, is_heap_given) = parsed.map_err(|error| refuse(&error, arguments))?;
    match cli.global.max_memory_mib {
        Some(memory) if is_heap_given && memory < cli.global.max_heap_mib => Err(Refusal::Invalid {
            error: Box::new(memory_below_heap(memory, cli.global.max_heap_mib)),
            format: cli.global.format,
        }),
        _ => Ok(cli),
    }
}

fn refuse(error: &clap::Error, arguments: &[OsString]) -> Refusal {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Refusal::Discovery(error.render().to_string());
    }
    if let Some(meant) = instead_of_help(error, arguments)
        && let Err(refusal) = parse(&meant)
    {
        return refusal;
    }
    let format = requested_format(arguments);
    Refusal::Invalid { error: Box::new(invalid(error, arguments)), format }
}

/// A heap that was asked for and can never be used. The default one is no request.
fn memory_below_heap(memory_mib: u64, heap_mib: u64) -> PublicError {
    PublicError::InvalidArguments {
        argument: Some("--max-memory-mib".to_owned()),
        reason: format!("--max-memory-mib {memory_mib} leaves no room for --max-heap-mib {heap_mib}"),
        suggestion: None,
    }
}

/// The words of the command that a command line names as far as it is legible; none when it names none.
pub fn recognised(arguments: &[OsString]) -> Vec<String> {
    let matches = help::definitions().ignore_errors(true).try_get_matches_from(arguments);
    let mut words = Vec::new();
    let mut below = matches.as_ref().ok().and_then(clap::ArgMatches::subcommand);
    while let Some((word, matches)) = below {
        words.push(word.to_owned());
        below = matches.subcommand();
    }
    words
}

fn invalid(error: &clap::Error, arguments: &[OsString]) -> PublicError {
    let suggestion = suggestion::of(error);
    let reason = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let (parent, names) = commands_below(&recognised(arguments));
            format!("a command is required: {}; {parent} --help describes them", names.join(", "))
        }
        ErrorKind::InvalidSubcommand if suggestion.is_none() => {
            let (parent, names) = commands_below(&recognised(arguments));
            let message = one_line(&error.render().to_string());
            format!("{message}; the commands of {parent} are: {}", names.join(", "))
        }
        _ => conflict::describe(error, arguments).unwrap_or_else(|| one_line(&error.render().to_string())),
    };
    let named = |kind| suggestion::texts(error, kind).into_iter().next();
    PublicError::InvalidArguments {
        argument: named(ContextKind::InvalidArg).or_else(|| named(ContextKind::InvalidSubcommand)),
        reason,
        suggestion,
    }
}

/// `help` is no command here, but what many people try first: `ghidr help COMMAND` is `ghidr COMMAND --help`. This is
/// that command line.
fn instead_of_help(error: &clap::Error, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let tried = suggestion::texts(error, ContextKind::InvalidSubcommand);
    if error.kind() != ErrorKind::InvalidSubcommand || tried.first().is_none_or(|word| word != "help") {
        return None;
    }
    let at = arguments.iter().position(|argument| argument == "help")?;
    let (before, after) = (&arguments[..at], &arguments[at + 1..]);
    Some(before.iter().chain(after).cloned().chain(["--help".into()]).collect())
}

/// What the words lead to, as it is typed, and the commands below it in the order of their definition, a subcommand's
/// name after its parent's.
fn commands_below(words: &[String]) -> (String, Vec<String>) {
    let definitions = help::definitions();
    let (mut command, mut parent) = (&definitions, String::new());
    for word in words {
        let Some(below) = command.find_subcommand(word) else { break };
        command = below;
        parent.push_str(word);
        parent.push(' ');
    }
    (format!("ghidr {parent}").trim_end().to_owned(), leaves(command, &parent))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&arguments) {
            Err(Refusal::Invalid { error, .. }) => match *error {
                PublicError::InvalidArguments { reason, .. } => reason,
                other => unreachable!("{other:?}"),
            },
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn a_missing_or_unknown_command_lists_those_that_can_stand_there() {
        let expected = "a command is required: store list; ghidr store --help describes them";
        assert_eq!(reason("ghidr store"), expected);
        let expected = "unrecognized subcommand 'ls'; the commands of ghidr store are: store list";
        assert_eq!(reason("ghidr store ls"), expected);
        assert_eq!(reason("ghidr --format human store ls"), expected);
        let (none, unknown) = (reason("ghidr"), reason("ghidr list"));
        assert!(none.starts_with("a command is required: doctor, inspect, "), "{none}");
        let expected = "unrecognized subcommand 'list'; the commands of ghidr are: doctor, inspect, ";
        assert!(unknown.starts_with(expected) && unknown.contains(", store list, "), "{unknown}");
    }

    #[test]
    fn what_is_given_twice_or_empty_is_said_to_be_so() {
        assert_eq!(reason("ghidr --format human --format json doctor"), "--format is given twice");
        assert_eq!(reason("ghidr functions a --limit 1 --limit 1"), "--limit is given twice");
        assert_eq!(reason("ghidr inspect "), "the value of SAMPLE is empty");
        assert_eq!(reason("ghidr inspect a --ghidra "), "the value of --ghidra is empty");
        assert_eq!(reason("ghidr inspect a --ghidra="), "the value of --ghidra is empty");
        let without = reason("ghidr inspect a --ghidra");
        assert!(without.contains("a value is required"), "{without}");
    }

    #[test]
    fn help_as_a_word_is_help_as_a_flag() {
        let text = |line: &str| match parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>()) {
            Err(Refusal::Discovery(text)) => text,
            other => unreachable!("{line}: {other:?}"),
        };
        for (word, flag) in [
            ("ghidr help", "ghidr --help"),
            ("ghidr help help", "ghidr --help"),
            ("ghidr help inspect", "ghidr inspect --help"),
            ("ghidr --format human help store list", "ghidr store list --help"),
            ("ghidr store help", "ghidr store --help"),
            ("ghidr help --help", "ghidr --help"),
        ] {
            assert_eq!(text(word), text(flag), "{word}");
        }
        assert!(reason("ghidr help bogus").starts_with("unrecognized subcommand 'bogus'"));
        assert_eq!(reason("ghidr help --format human --format json"), "--format is given twice");
        let arguments: Vec<OsString> = ["ghidr", "help", "inspect", "--"].map(OsString::from).to_vec();
        assert!(matches!(parse(&arguments), Err(Refusal::Invalid { .. })), "never a command that runs");
    }
}
