//! `cargo xtask test`: set-up, then every check of the project, each with its duration.
//!
//! A failing step does not stop the others, so one run says everything that is wrong; the outcome is still a
//! failure. `--fast` leaves out what boots Ghidra, and says what else it leaves out.

mod deny;
mod nix;
mod platform;
mod steps;
mod tool;

use crate::error::TaskError;
use crate::project::{Profile, Project};
use crate::setup;
use crate::setup::{adapter, packages};
use steps::Steps;

/// Tests that boot Ghidra live in this module of the integration binary.
const GHIDRA_TESTS: &str = "ghidra::";

/// Runs everything, or with `fast` everything that boots no Ghidra.
pub fn run(project: &Project, fast: bool) -> Result<(), TaskError> {
    let mut steps = Steps::default();
    let Some(setup) = steps.run("set-up", || setup::run(project, Profile::Debug)) else {
        return steps.finish();
    };
    steps.run("format", || cargo(project, &["fmt", "--all", "--check"], &[]));
    steps.run("lints", || {
        let scope = ["clippy", "--locked", "--workspace", "--all-targets", "--all-features"];
        cargo(project, &scope, &["-D", "warnings"])
    });
    steps.run("adapter: format, lints and tests", || {
        adapter::verify(&project.root.join("java"), &setup.maven)
    });
    steps.run("dependency policy", || deny::check(project, &setup.tools, fast));
    steps.run("format of the Nix files", || nix::check_format(project, &setup.tools, fast));
    steps.run("fixtures", || platform::check_fixtures(project));
    steps.run("tools of the tests", || {
        packages::ensure_tool("nix-instantiate", "nix-bin")?;
        if fast { Ok(()) } else { packages::ensure_tool("strace", "strace") }
    });
    let tests = if fast { "tests that boot no Ghidra" } else { "tests" };
    steps.run(tests, || {
        let scope = ["test", "--locked", "--workspace", "--all-targets", "--all-features", "--no-fail-fast"];
        let selection: &[&str] = if fast { &["--skip", GHIDRA_TESTS] } else { &[] };
        cargo(project, &scope, selection)
    });
    steps.finish()
}

/// Runs Cargo with arguments for it and, after `--`, for what it runs.
fn cargo(project: &Project, arguments: &[&str], inner: &[&str]) -> Result<(), TaskError> {
    let mut command = project.cargo();
    command.args(arguments);
    if !inner.is_empty() {
        command.arg("--").args(inner);
    }
    crate::command::run(&mut command)
}
