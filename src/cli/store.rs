//! Arguments of `store` and its subcommands.

use clap::{Args, Subcommand};

use super::PageArguments;

/// Arguments of `store`.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct StoreArguments {
    /// What to do with it.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// What can be done with the store.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// List what is kept, sample by sample
    List(PageArguments),
}
