//! What help and the manual pages say beyond the flags: notes, examples, exit statuses, environment, files.
//!
//! Written once, here: `--help` appends it to what the definitions say, and the manual pages give each part a section.
//! Every example is a command line that parses.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::Cli;

/// A command line worth trying.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// What it is for.
    pub purpose: &'static str,
    /// The line, as typed into a shell.
    pub line: &'static str,
}

/// What is said about one command.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    /// The words after `ghidr`; empty for the program itself.
    pub command: &'static str,
    /// A paragraph about what the command does that its flags do not say.
    pub notes: &'static str,
    /// At least one.
    pub examples: &'static [Example],
}

const fn example(purpose: &'static str, line: &'static str) -> Example {
    Example { purpose, line }
}

/// The program first, then every command in the order of the definitions.
pub const TOPICS: &[Topic] = &[
    Topic {
        command: "",
        notes: "The first question about some bytes analyzes them with Ghidra in a sandboxed process; later \
            questions about the same bytes, wherever they are, are answered from the kept Analysis. Success is one \
            JSON document on stdout, failure one JSON document on stderr; --format human prints text instead. \
            Neither the sample nor a finished Analysis is ever changed.",
        examples: &[
            example("Is everything in place", "ghidr doctor"),
            example("What is this program", "ghidr inspect /bin/ls"),
            example("Which functions has it", "ghidr functions /bin/ls --limit 20"),
            example("What does one of them look like as C", "ghidr decompile ./sample.exe --name main"),
            example("The same for people", "ghidr --format human functions /bin/ls"),
        ],
    },
    Topic {
        command: "doctor",
        notes: "Starts Ghidra in the sandbox as a question would, and reports every component even after one has \
            failed. Creates no Analysis. Exit status 1 when a required component is not ready.",
        examples: &[
            example("Check everything", "ghidr --format human doctor"),
            example(
                "Check another engine",
                "ghidr doctor --ghidra /opt/ghidra_12.1.2_PUBLIC --java-home /opt/jdk-21",
            ),
            example(
                "How much the Analysis Store uses",
                "ghidr doctor | jq .data.components.analysis_store.usage",
            ),
        ],
    },
    Topic {
        command: "inspect",
        notes: "Answered from the kept Analysis without starting Java, when there is one.",
        examples: &[
            example("Describe a program", "ghidr --format human inspect /bin/ls"),
            example("What Ghidra took it for", "ghidr inspect ./sample | jq .provenance.target"),
            example(
                "Give a large program more time and memory",
                "ghidr inspect ./large --analysis-timeout-seconds 3600 --max-heap-mib 8192",
            ),
        ],
    },
    Topic {
        command: "functions",
        notes: "Functions in memory come first, by address, then external ones. The page says whether there is more. \
            Answered from the kept Analysis without starting Java, when there is one.",
        examples: &[
            example("The first hundred", "ghidr functions /bin/ls"),
            example("The next page", "ghidr functions /bin/ls --limit 100 --offset 100"),
            example(
                "Every function; a large answer is stored and described instead of printed",
                "ghidr functions /bin/ls --all",
            ),
            example(
                "The largest on the first page",
                "ghidr functions /bin/ls | jq '.data.items | max_by(.body_address_count)'",
            ),
        ],
    },
    Topic {
        command: "decompile",
        notes: "Exactly one function, named exactly. A name that several functions have is refused with the address of \
            each; nothing is guessed. A stripped program has no function named main: ghidr functions lists the names it has. \
            An address is copied from another answer unchanged.",
        examples: &[
            example("By name", "ghidr decompile ./sample --name main"),
            example("By qualified name", "ghidr decompile ./sample --name Widget::parse"),
            example("By entry address", "ghidr decompile ./sample --address ram:0x0000000000401120"),
            example("Only the text", "ghidr decompile ./sample --name main | jq -r .data.decompilation.text"),
        ],
    },
    Topic {
        command: "batch",
        notes: "Each line of the input is one query: {\"op\":\"inspect\"}, {\"op\":\"functions\"} with limit and offset or all, \
            {\"op\":\"decompile\"} with name or address; at most 10,000 lines and 512 KiB. All of it is checked before anything \
            is run. The answers stand in the order of the input, each succeeded, failed or not_run; a query that fails is \
            part of the report and the exit status is 0, so look at .data.counts. What a worker had decompiled is kept \
            even when it was interrupted: the same batch again asks only for the rest. Answered without starting Java \
            where the store holds the answers.",
        examples: &[
            example("Queries from a file", "ghidr batch ./sample queries.jsonl"),
            example(
                "Queries from standard input, ending at the first failure",
                "ghidr batch ./sample - --fail-fast",
            ),
            example(
                "Every function as C, into one file of JSON Lines",
                "ghidr batch ./sample --decompile-all",
            ),
            example(
                "Where that file is",
                "ghidr batch ./sample --decompile-all | jq -r .data.decompilations.path.value",
            ),
            example(
                "What failed",
                "ghidr batch ./sample queries.jsonl | jq '.data.items[] | select(.status == \"failed\")'",
            ),
        ],
    },
    Topic {
        command: "store list",
        notes: "Reads the Analysis Store and removes nothing; a list larger than --max-inline-bytes is stored in it as an \
            Artifact. Starts no Java. A sample is listed by its SHA-256, because \
            its path is not kept. An analysis that can no longer be read is listed as corrupt.",
        examples: &[
            example("As a table", "ghidr --format human store list"),
            example("The next page", "ghidr store list --limit 100 --offset 100"),
            example(
                "What each sample occupies",
                "ghidr store list --all | jq '.data.items[] | [.sample_sha256, .usage.allocated_bytes]'",
            ),
        ],
    },
    Topic {
        command: "clean",
        notes: "Removes every analysis, kept result, artifact, diagnostic log and quarantined analysis of the target, \
            whatever engine and options made them, and nothing else; the sample itself is never touched. Removing \
            everything asks for confirmation on a terminal; elsewhere, and in JSON format, it needs --yes. What an \
            interruption left half done is finished by the next clean of the same target.",
        examples: &[
            example("What would be removed, and how large it is", "ghidr clean ./sample --dry-run"),
            example("Everything about these bytes", "ghidr clean ./sample"),
            example(
                "The same without the file",
                "ghidr clean --digest 39b2665eb37b890314bb4b946b54c8e93ecaab75e5e268f3f0912212992bd125",
            ),
            example("Everything that is stored", "ghidr --format human clean --all"),
            example("The same in a script", "ghidr clean --all --yes"),
        ],
    },
    Topic {
        command: "completions",
        notes: "Prints text in every format, and touches neither store nor engine. An installation already has the \
            scripts for bash, fish and zsh.",
        examples: &[
            example("bash", "ghidr completions bash > ~/.local/share/bash-completion/completions/ghidr"),
            example("zsh, in a directory of $fpath", "ghidr completions zsh > ~/.zfunc/_ghidr"),
            example("fish", "ghidr completions fish > ~/.config/fish/completions/ghidr.fish"),
        ],
    },
    Topic {
        command: "schema",
        notes: "Prints the published JSON Schema exactly as released, in every format, and touches neither store nor \
            engine.",
        examples: &[
            example("What functions answers", "ghidr schema function_list"),
            example(
                "Every error with its details",
                "ghidr schema error | jq '.\"$defs\".ErrorBody.oneOf[].properties | [.code.const, .details.properties]'",
            ),
        ],
    },
];

/// Every exit status and its meaning.
pub const EXIT_STATUSES: [(&str, &str); 5] = [
    ("0", "Success."),
    ("1", "Failure; the member error.code of the error document says which."),
    ("2", "Invalid arguments."),
    ("124", "A time limit expired."),
    ("130", "Interrupted."),
];

/// Every environment variable that is read, and what for. No other one changes an answer.
pub const ENVIRONMENT: [(&str, &str); 8] = [
    ("GHIDR_STORE", "The Analysis Store, an absolute path, when --store does not name it."),
    ("GHIDR_GHIDRA", "Ghidra, when --ghidra does not name it."),
    ("GHIDR_JAVA_HOME", "The JDK that runs Ghidra, when --java-home does not name it."),
    ("GHIDRA_INSTALL_DIR", "Ghidra, when nothing above names it and none is installed with ghidr."),
    ("JAVA_HOME", "The JDK, when nothing above names it and none belongs to the installed Ghidra."),
    ("XDG_CACHE_HOME", "The Analysis Store is its subdirectory ghidr, when none is named."),
    ("HOME", "The Analysis Store is its subdirectory ghidr-store, when nothing above applies."),
    ("NO_COLOR", "Honoured trivially: output is never coloured."),
];

/// The files that are read and written, as they are called beside the executable and in the home directory.
pub const FILES: [(&str, &str); 3] = [
    (
        "~/ghidr-store",
        "The Analysis Store, unless another is named: analyses, large answers, logs of failed runs.",
    ),
    (
        "../lib/ghidr",
        "Beside the directory of the executable: Java adapter, and the engine when one is installed.",
    ),
    ("../share/ghidr/schemas/v1", "The published JSON Schemas, as ghidr schema prints them."),
];

/// The definitions with help's additions: what command lines are parsed with.
pub fn definitions() -> clap::Command {
    TOPICS.iter().fold(Cli::command(), |command, topic| {
        let words: Vec<&str> = topic.command.split_whitespace().collect();
        add(command, &words, appendix(topic))
    })
}

/// Appends `text` to the help of the subcommand that `words` lead to.
fn add(command: clap::Command, words: &[&str], text: String) -> clap::Command {
    match words.split_first() {
        None => command.after_help(text),
        Some((name, rest)) => command.mut_subcommand(name, |subcommand| add(subcommand, rest, text)),
    }
}

fn appendix(topic: &Topic) -> String {
    let mut text = format!("{}\n\nExamples:\n", topic.notes);
    for Example { purpose, line } in topic.examples {
        let _ = writeln!(text, "  {purpose}:\n    {line}");
    }
    if topic.command.is_empty() {
        text.push_str("\nExit status:\n");
        for (status, meaning) in EXIT_STATUSES {
            let _ = writeln!(text, "  {status:>3}  {meaning}");
        }
        text.push_str("\nEnvironment:\n");
        for (name, meaning) in ENVIRONMENT {
            let _ = writeln!(text, "  {name:<18}  {meaning}");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    /// The words of every command that can be run, and the empty one of the program itself.
    fn commands(command: &clap::Command, prefix: &str, found: &mut Vec<String>) {
        for subcommand in command.get_subcommands() {
            let words = format!("{prefix} {}", subcommand.get_name()).trim().to_owned();
            if subcommand.has_subcommands() {
                commands(subcommand, &words, found);
            } else {
                found.push(words);
            }
        }
    }

    #[test]
    fn every_command_has_notes_and_examples() {
        let mut expected = vec![String::new()];
        commands(&Cli::command(), "", &mut expected);
        let found: Vec<&str> = TOPICS.iter().map(|topic| topic.command).collect();
        assert_eq!(found, expected);
        for topic in TOPICS {
            assert!(topic.notes.ends_with('.') && !topic.examples.is_empty(), "{}", topic.command);
        }
    }

    /// What a shell would pass on: the words before a pipe or a redirection.
    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().take_while(|word| !["|", ">"].contains(word)).map(OsString::from).collect()
    }

    #[test]
    fn every_example_parses_as_its_own_command() {
        for topic in TOPICS {
            for example in topic.examples {
                let words = words(example.line);
                crate::cli::parse(&words).unwrap_or_else(|refusal| panic!("{}: {refusal:?}", example.line));
                let shown = topic.command.split_whitespace().all(|word| words.contains(&word.into()));
                assert!(shown, "{} is no example of {}", example.line, topic.command);
            }
        }
    }
}
