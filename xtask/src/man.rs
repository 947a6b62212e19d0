//! Manual pages, from the definitions that parse the command line and from what `--help` adds to them.
//!
//! One page for the program and one for each command. The same definitions always give the same bytes: no date.

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};
use ghidr::cli::Cli;
use ghidr::cli::help::{ENVIRONMENT, EXIT_STATUSES, FILES, TOPICS, Topic};

use crate::error::TaskError;

/// One page of section 1.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its file name, such as `ghidr-inspect.1`.
    pub file_name: String,
    /// Its source for `man`.
    pub text: Vec<u8>,
}

/// Every page, the program's own first.
pub fn pages() -> Result<Vec<Page>, TaskError> {
    let mut program = Cli::command();
    program.build();
    let mut pages = Vec::new();
    add(&program, "", &mut pages)?;
    let pages_names: Vec<String> = pages.iter().map(|(name, _)| name.clone()).collect();
    pages.into_iter().map(|(name, page)| page.finish(&name, &pages_names)).collect()
}

/// The page of `command`, and those of its subcommands.
fn add(command: &clap::Command, words: &str, pages: &mut Vec<(String, Draft)>) -> Result<(), TaskError> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    pages.push((name, Draft::new(command, words)?));
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        add(subcommand, format!("{words} {}", subcommand.get_name()).trim(), pages)?;
    }
    Ok(())
}

/// A page without its list of related pages.
struct Draft(Vec<u8>);

impl Draft {
    fn new(command: &clap::Command, words: &str) -> Result<Self, TaskError> {
        let topic = TOPICS.iter().find(|topic| topic.command == words);
        let mut command = command.clone();
        let usage = command.render_usage().to_string();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let notes = topic.map(|topic| format!("\n\n{}", topic.notes)).unwrap_or_default();
        let command = command
            .override_usage(usage.trim_start_matches("Usage: ").to_owned())
            .long_about(format!("{about}.{notes}"));
        let has_subcommands = command.has_subcommands();
        // A place for the date must be there, or everything after it is taken for it.
        let man = Man::new(command)
            .date(" ")
            .source(format!("ghidr {}", env!("CARGO_PKG_VERSION")))
            .manual("ghidr manual");
        let mut text = Vec::new();
        let mut render = || {
            man.render_title(&mut text)?;
            man.render_name_section(&mut text)?;
            man.render_synopsis_section(&mut text)?;
            man.render_description_section(&mut text)?;
            if has_subcommands {
                man.render_subcommands_section(&mut text)?;
            }
            man.render_options_section(&mut text)?;
            sections(topic).to_writer(&mut text)
        };
        render().map_err(|error| TaskError::Refused(format!("cannot write a manual page: {error}")))?;
        Ok(Self(text))
    }

    fn finish(self, name: &str, names: &[String]) -> Result<Page, TaskError> {
        let mut roff = Roff::new();
        roff.control("SH", ["SEE ALSO"]);
        let others = names.iter().filter(|other| *other != name);
        let listed: Vec<_> = others.flat_map(|other| [bold(other.as_str()), roman("(1) ")]).collect();
        roff.text(listed);
        let mut text = self.0;
        roff.to_writer(&mut text)
            .map_err(|error| TaskError::Refused(format!("cannot write a manual page: {error}")))?;
        Ok(Page { file_name: format!("{name}.1"), text })
    }
}

/// The sections that the definitions know nothing of.
fn sections(topic: Option<&Topic>) -> Roff {
    let mut roff = Roff::new();
    for (heading, entries) in
        [("EXIT STATUS", &EXIT_STATUSES[..]), ("ENVIRONMENT", &ENVIRONMENT), ("FILES", &FILES)]
    {
        roff.control("SH", [heading]);
        for (term, meaning) in entries {
            roff.control("TP", []);
            roff.text([bold(*term)]);
            roff.text([roman(*meaning)]);
        }
    }
    roff.control("SH", ["EXAMPLES"]);
    for example in topic.into_iter().flat_map(|topic| topic.examples) {
        roff.control("PP", []);
        roff.text([italic(format!("{}:", example.purpose))]);
        roff.control("PP", []);
        roff.control("RS", ["4"]);
        roff.control("nf", []);
        roff.text([roman(example.line)]);
        roff.control("fi", []);
        roff.control("RE", []);
    }
    roff
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn texts() -> Vec<(String, String)> {
        let text = |page: Page| (page.file_name, String::from_utf8(page.text).unwrap());
        pages().unwrap().into_iter().map(text).collect()
    }

    #[test]
    fn every_command_has_a_page_and_the_program_its_own() {
        let names: Vec<String> = texts().into_iter().map(|(name, _)| name).collect();
        let expected = TOPICS.iter().map(|topic| format!("ghidr {}", topic.command));
        let expected: Vec<String> =
            expected.map(|words| format!("{}.1", words.trim().replace(' ', "-"))).collect();
        assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
    }

    #[test]
    fn every_page_has_the_customary_sections_and_names_no_internal_part() {
        for (name, text) in texts() {
            for section in [
                "NAME",
                "SYNOPSIS",
                "DESCRIPTION",
                "OPTIONS",
                "EXIT STATUS",
                "ENVIRONMENT",
                "FILES",
                "EXAMPLES",
                "SEE ALSO",
            ] {
                let heading = if section.contains(' ') {
                    format!(".SH \"{section}\"")
                } else {
                    format!(".SH {section}")
                };
                assert_eq!(text.lines().filter(|line| **line == heading).count(), 1, "{name}: {section}");
            }
            assert!(
                !text.contains("worker\\-")
                    && !text.contains("\\-\\-worker")
                    && !text.contains("\\-\\-guard"),
                "{name}"
            );
            assert!(text.contains("\\-\\-max\\-heap\\-mib"), "{name}: global options");
            assert!(text.contains("GHIDR_STORE"), "{name}");
        }
    }

    #[test]
    fn the_title_line_has_the_source_and_the_manual_in_their_places() {
        let version = env!("CARGO_PKG_VERSION");
        for (name, text) in texts() {
            let page = name.trim_end_matches(".1");
            let expected = format!(".TH {page} 1 \" \" \"ghidr {version}\" \"ghidr manual\"");
            assert!(
                text.lines().any(|line| line == expected),
                "{name}: {:?}",
                text.lines().find(|line| line.contains(".TH"))
            );
        }
    }

    #[test]
    fn pages_are_the_same_every_time() {
        assert_eq!(texts(), texts());
    }
}
