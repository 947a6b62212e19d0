//! Developer tasks: `cargo xtask setup|demo|install|dist|share|test|bless|bench|profile|soak|fixtures`.
//!
//! This file only reads the command line and reports how the task ended.

mod bench;
mod bless;
mod command;
mod demo;
mod digest;
mod dist;
mod error;
mod files;
mod fixtures;
mod install;
mod man;
mod pins;
mod profile;
mod progress;
mod project;
mod report;
mod setup;
mod share;
mod soak;
mod test;
mod third_party;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use bench::BenchOptions;
use dist::DistOptions;
use error::TaskError;
use install::InstallOptions;
use project::{Profile, Project};
use share::SharedFiles;
use soak::SoakOptions;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of ghidr")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch, verify and prepare everything that a build, a test or a run needs
    Setup,
    /// Set up, build, and show the main job on a real binary
    Demo,
    /// Install ghidr with its engine and adapter
    Install(InstallOptions),
    /// Build the archive that installs on a machine without Rust
    Dist(DistOptions),
    /// Write manual pages, completion scripts, schemas and licences below a prefix
    Share {
        /// Directory that receives share
        #[arg(long, value_name = "DIR")]
        prefix: PathBuf,
    },
    /// Set up and run every check and test
    Test {
        /// Only what boots no Ghidra
        #[arg(long)]
        fast: bool,
    },
    /// Accept what the real engine answers now as the goldens to review and commit
    Bless,
    /// Compare with the engine's own tool and write docs/performance.md
    Bench(BenchOptions),
    /// Sample what a worker spends its time on and write docs/performance/phases.md
    Profile,
    /// Run the long forms of the reliability sweeps and write docs/reliability.md
    Soak(SoakOptions),
    /// Rebuild the committed fixture binaries
    Fixtures {
        /// Compare with the committed files instead of replacing them
        #[arg(long)]
        check: bool,
    },
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
        Task::Setup => setup::run(&project, Profile::Debug).map(|_setup| ()),
        Task::Demo => demo::run(&project),
        Task::Install(options) => install::run(&project, &options),
        Task::Dist(options) => dist::run(&project, &options),
        Task::Share { prefix } => SharedFiles::generate(&project)?.write(&prefix),
        Task::Test { fast } => test::run(&project, fast),
        Task::Bless => bless::run(&project),
        Task::Bench(options) => bench::run(&project, &options),
        Task::Profile => profile::run(&project),
        Task::Soak(options) => soak::run(&project, &options),
        Task::Fixtures { check } => {
            let outcome = fixtures::run(&project.root, check)?;
            report::say(format!("{} binaries, {} truth files", outcome.binaries, outcome.truths));
            Ok(())
        }
    }
}
