//! Arguments of `batch`: given Queries, or every decompilable function.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};

use super::whole::Whole;
use crate::domain::limits::{DEFAULT_BATCH_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS};

/// Arguments of `batch`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("questions").required(true).args(["queries", "decompile_all"]),
    override_usage = "ghidr batch [OPTIONS] <SAMPLE> <QUERIES|--decompile-all>"
)]
pub struct BatchArguments {
    /// The binary to ask about
    #[arg(value_hint = ValueHint::FilePath)]
    pub sample: PathBuf,
    /// File of queries, one JSON object per line; - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub queries: Option<PathBuf>,
    /// Decompile every function that can be, into one stored file of JSON Lines
    #[arg(long)]
    pub decompile_all: bool,
    /// End at the first query that fails
    #[arg(long)]
    pub fail_fast: bool,
    /// Time for all decompilations together, in seconds; none is begun after it
    #[arg(long, value_name = "SECONDS", value_parser = Whole::within(1, MAX_TIMEOUT_SECONDS),
        default_value_t = DEFAULT_BATCH_TIMEOUT_SECONDS, allow_hyphen_values = true)]
    pub batch_timeout_seconds: u64,
}
