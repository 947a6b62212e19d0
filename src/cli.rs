//! The command line: what can be typed, and nothing else. No I/O.
//!
//! Raw arguments stay raw here; [`crate::commands::context`] resolves them.

mod batch;
mod clean;
pub mod completions;
mod conflict;
pub mod help;
mod parse;
mod store;
mod suggestion;
mod whole;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, ValueHint};

pub use batch::BatchArguments;
pub use clean::CleanArguments;
pub use completions::Shell;
pub use parse::{Refusal, parse, recognised};
pub use store::{StoreArguments, StoreCommand};
use whole::Whole;

use crate::domain::documents::DOCUMENT_KINDS;
use crate::domain::limits::{
    DEFAULT_ANALYSIS_TIMEOUT_SECONDS, DEFAULT_DECOMPILE_TIMEOUT_SECONDS, DEFAULT_MAX_CPU,
    DEFAULT_MAX_HEAP_MIB, DEFAULT_MAX_INLINE_BYTES, DEFAULT_MAX_SAMPLE_BYTES, DEFAULT_PAGE_LIMIT,
    LEAST_HEAP_MIB, MAX_TIMEOUT_SECONDS, MOST_CPU, MOST_HEAP_MIB,
};
use crate::domain::page::PageRequest;
use crate::domain::sandbox_mode::SandboxMode;

/// Presentation of results; never chosen by terminal detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON document on stdout, or one JSON error document on stderr.
    Json,
    /// Plain text for people.
    Human,
}

/// Ask Ghidra about a binary, given nothing but its path.
#[derive(Debug, Parser)]
#[command(
    name = "ghidr",
    version,
    about = "Ask Ghidra about a binary, given nothing but its path",
    disable_help_subcommand = true
)]
pub struct Cli {
    /// Flags every command takes.
    #[command(flatten)]
    pub global: GlobalArguments,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArguments {
    /// Presentation of results
    #[arg(long, global = true, value_enum, default_value = "json")]
    pub format: Format,
    /// Directory of the Analysis Store (absolute)
    #[arg(long, global = true, value_name = "ABSOLUTE_PATH", value_hint = ValueHint::DirPath)]
    pub store: Option<OsString>,
    /// Isolation of the worker that runs Ghidra
    #[arg(long, global = true, value_enum, default_value = "bubblewrap", value_name = "MODE")]
    pub sandbox: SandboxMode,
    /// Ghidra: an installation directory or a single ghidra.jar
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub ghidra: Option<PathBuf>,
    /// JDK that runs Ghidra
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::DirPath)]
    pub java_home: Option<PathBuf>,
    /// Ghidra's own limit on analysis, in seconds
    #[arg(long, global = true, value_name = "SECONDS", value_parser = Whole::within(1, MAX_TIMEOUT_SECONDS),
        default_value_t = DEFAULT_ANALYSIS_TIMEOUT_SECONDS, allow_hyphen_values = true)]
    pub analysis_timeout_seconds: u64,
    /// Ghidra's own limit on decompiling one function, in seconds
    #[arg(long, global = true, value_name = "SECONDS", value_parser = Whole::within(1, MAX_TIMEOUT_SECONDS),
        default_value_t = DEFAULT_DECOMPILE_TIMEOUT_SECONDS, allow_hyphen_values = true)]
    pub decompile_timeout_seconds: u64,
    /// Java heap limit in MiB (not a limit on total or resident memory)
    #[arg(long, global = true, value_name = "MIB", value_parser = Whole::within(LEAST_HEAP_MIB, MOST_HEAP_MIB),
        default_value_t = DEFAULT_MAX_HEAP_MIB, allow_hyphen_values = true)]
    pub max_heap_mib: u64,
    /// Limit on the memory of the whole worker tree in MiB [default: Java heap limit + 2048]
    #[arg(long, global = true, value_name = "MIB", value_parser = Whole::POSITIVE, allow_hyphen_values = true)]
    pub max_memory_mib: Option<u64>,
    /// Cores Ghidra may use
    #[arg(long, global = true, value_name = "COUNT", value_parser = Whole::within(1, MOST_CPU.into()).try_map(u32::try_from),
        default_value_t = DEFAULT_MAX_CPU, allow_hyphen_values = true)]
    pub max_cpu: u32,
    /// Largest sample accepted, in bytes
    #[arg(long, global = true, value_name = "BYTES", value_parser = Whole::POSITIVE,
        default_value_t = DEFAULT_MAX_SAMPLE_BYTES, allow_hyphen_values = true)]
    pub max_sample_bytes: u64,
    /// Largest document printed, in bytes; a larger one is stored and described
    #[arg(long, global = true, value_name = "BYTES", value_parser = Whole::POSITIVE,
        default_value_t = DEFAULT_MAX_INLINE_BYTES, allow_hyphen_values = true)]
    pub max_inline_bytes: u64,
    /// Explain on stderr what was reused or created (human format only)
    #[arg(long, global = true)]
    pub verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check that Ghidra, Java, the Analysis Store and the sandbox are usable
    Doctor,
    /// Describe a sample's program and the analysis behind it
    Inspect(InspectArguments),
    /// List a sample's functions
    Functions(FunctionsArguments),
    /// Decompile one function
    Decompile(DecompileArguments),
    /// Ask many questions about a sample with one start of Ghidra
    Batch(BatchArguments),
    /// Look at what is kept
    Store(StoreArguments),
    /// Remove stored data of one sample, or everything
    Clean(CleanArguments),
    /// Print a shell's completion script
    Completions(CompletionsArguments),
    /// Print the JSON Schema of one kind of document
    Schema(SchemaArguments),
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// The binary to ask about
    #[arg(value_hint = ValueHint::FilePath)]
    pub sample: PathBuf,
}

/// Arguments of `functions`.
#[derive(Debug, Args)]
pub struct FunctionsArguments {
    /// The binary to ask about
    #[arg(value_hint = ValueHint::FilePath)]
    pub sample: PathBuf,
    /// Which functions to return.
    #[command(flatten)]
    pub page: PageArguments,
}

/// Which part of a collection to return.
#[derive(Debug, Clone, Copy, Args)]
pub struct PageArguments {
    /// Most items to return [default: 100]
    #[arg(long, value_name = "COUNT", value_parser = Whole::POSITIVE, allow_hyphen_values = true)]
    pub limit: Option<u64>,
    /// Items to skip, in the documented order [default: 0]
    #[arg(long, value_name = "COUNT", value_parser = Whole::ANY, allow_hyphen_values = true)]
    pub offset: Option<u64>,
    /// Return every item
    #[arg(long, conflicts_with_all = ["limit", "offset"])]
    pub all: bool,
}

impl PageArguments {
    /// The page asked for.
    pub fn request(&self) -> PageRequest {
        if self.all {
            return PageRequest::All;
        }
        PageRequest::Window {
            offset: self.offset.unwrap_or(0),
            limit: self.limit.unwrap_or(DEFAULT_PAGE_LIMIT),
        }
    }
}

/// Arguments of `decompile`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("selector").required(true).args(["name", "address"]))]
pub struct DecompileArguments {
    /// The binary to ask about
    #[arg(value_hint = ValueHint::FilePath)]
    pub sample: PathBuf,
    /// Exact, case-sensitive name or qualified name of the function
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub name: Option<String>,
    /// Entry address of the function, such as ram:0x0000000000401120
    #[arg(long, value_name = "SPACE:0xOFFSET", allow_hyphen_values = true)]
    pub address: Option<String>,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell to complete in
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Kind of document
    #[arg(value_name = "KIND", value_parser = PossibleValuesParser::new(DOCUMENT_KINDS))]
    pub kind: String,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::error::PublicError;
    use clap::CommandFactory as _;

    fn parse_words(words: &[&str]) -> Result<Cli, Refusal> {
        let arguments: Vec<OsString> =
            std::iter::once("ghidr").chain(words.iter().copied()).map(Into::into).collect();
        parse(&arguments)
    }

    fn refused(words: &[&str]) -> (PublicError, Format) {
        match parse_words(words) {
            Err(Refusal::Invalid { error, format }) => (*error, format),
            other => unreachable!("{words:?}: {other:?}"),
        }
    }

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_limit_flag_refuses_zero_negatives_suffixes_unlimited_and_overflow() {
        let limits = [
            "--analysis-timeout-seconds",
            "--decompile-timeout-seconds",
            "--max-heap-mib",
            "--max-memory-mib",
            "--max-cpu",
            "--max-sample-bytes",
            "--max-inline-bytes",
            "--limit",
        ];
        let values = [
            "0",
            "-1",
            "+1",
            "01",
            "1k",
            "1.5",
            "unlimited",
            "none",
            "",
            " 1",
            "18446744073709551616",
            "0x10",
        ];
        for flag in limits {
            for value in values {
                let (error, _) = refused(&["functions", "s", flag, value]);
                let PublicError::InvalidArguments { argument, reason, .. } = error else { unreachable!() };
                assert!(
                    argument.is_some_and(|argument| argument.starts_with(flag)),
                    "{flag} {value}: {reason}"
                );
            }
        }
        for flag in ["--analysis-timeout-seconds", "--decompile-timeout-seconds"] {
            refused(&["functions", "s", flag, "2147484"]);
            assert!(parse_words(&["functions", "s", flag, "2147483"]).is_ok(), "{flag}");
        }
        for (flag, value) in [
            ("--max-heap-mib", "1"),
            ("--max-heap-mib", "33554433"),
            ("--max-cpu", "65537"),
            ("--max-cpu", "4294967296"),
        ] {
            refused(&["functions", "s", flag, value]);
        }
        refused(&["functions", "s", "--offset", "-1"]);
    }

    #[test]
    fn memory_has_room_for_a_heap_that_is_asked_for() {
        let (error, _) = refused(&["--max-heap-mib", "200", "inspect", "s", "--max-memory-mib", "199"]);
        assert!(
            matches!(error, PublicError::InvalidArguments { argument: Some(flag), .. } if flag == "--max-memory-mib")
        );
        assert!(parse_words(&["inspect", "s", "--max-heap-mib", "200", "--max-memory-mib", "200"]).is_ok());
        assert!(
            parse_words(&["inspect", "s", "--max-memory-mib", "100"]).is_ok(),
            "the default is no request"
        );
    }

    #[test]
    fn all_excludes_limit_and_offset() {
        for extra in [["--limit", "1"], ["--offset", "1"]] {
            refused(&["functions", "s", "--all", extra[0], extra[1]]);
        }
        assert!(parse_words(&["functions", "s", "--offset", "0", "--limit", "1"]).is_ok());
    }

    #[test]
    fn exactly_one_selector_is_required() {
        refused(&["decompile", "s"]);
        refused(&["decompile", "s", "--name", "a", "--address", "ram:0x1"]);
        refused(&["decompile", "s", "main"]);
        assert!(parse_words(&["decompile", "s", "--name", "-[Foo bar]"]).is_ok());
    }

    #[test]
    fn an_invalid_line_is_reported_in_the_format_it_asks_for() {
        assert_eq!(refused(&["--format", "human", "bogus"]).1, Format::Human);
        assert_eq!(refused(&["bogus", "--format=human"]).1, Format::Human);
        assert_eq!(refused(&["--format", "yaml", "inspect", "s"]).1, Format::Json);
        assert_eq!(refused(&[]).1, Format::Json);
    }

    #[test]
    fn a_mistyped_flag_or_command_gets_a_suggestion() {
        let (error, _) = refused(&["inspect", "s", "--sandbx", "off"]);
        assert!(
            matches!(error, PublicError::InvalidArguments { suggestion: Some(text), .. } if text == "--sandbox")
        );
        let (error, _) = refused(&["inspct", "s"]);
        assert!(
            matches!(error, PublicError::InvalidArguments { suggestion: Some(text), .. } if text == "inspect")
        );
    }

    #[test]
    fn help_and_version_are_discovery() {
        for words in [&["--help"][..], &["--version"], &["functions", "--help"]] {
            assert!(matches!(parse_words(words), Err(Refusal::Discovery(_))), "{words:?}");
        }
    }
}
