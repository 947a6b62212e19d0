//! Developer tasks: `cargo xtask setup|demo|install|test`.
//!
//! This file only reads the command line and reports how the task ended.

mod command;
mod descriptor;
mod digest;
mod error;
mod files;
mod install;
mod pins;
mod progress;
mod project;
mod report;
mod setup;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::TaskError;
use install::InstallOptions;
use project::Project;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of ghidr")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch, verify and prepare everything a build, a test or a run needs
    Setup,
    /// Install ghidr with its engine and adapter
    Install(InstallOptions),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::complain(format!("xtask: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<(), TaskError> {
    let project = Project::locate()?;
    match task {
        Task::Setup => setup::run(&project).map(|_setup| ()),
        Task::Install(options) => install::run(&project, &options),
    }
}
