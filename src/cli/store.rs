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
    #[command(
        after_help = "Reads the store and changes nothing; starts no Java. A sample is listed by its SHA-256, \
        because its path is not kept.\n\n\
        Examples:\n  ghidr --format human store list\n  ghidr store list --limit 20 --offset 40\n  \
        ghidr clean --digest SHA256      removes what is kept of one sample"
    )]
    List(PageArguments),
}
