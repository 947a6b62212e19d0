//! The dependency policy of `deny.toml`, checked by `cargo-deny`, which is built once if it is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TaskError;
use crate::pins::CARGO_DENY_VERSION;
use crate::project::Project;
use crate::{command, report};

/// Checks bans, licenses and sources. With `fast`, a missing `cargo-deny` is not built.
pub fn check(project: &Project, tools: &Path, fast: bool) -> Result<(), TaskError> {
    report::say("advisories are not checked here: their database cannot be pinned or fetched offline");
    let program = match find(tools) {
        Some(program) => program,
        None if fast => {
            report::say("skipped by --fast: cargo-deny is not built yet, and `cargo xtask test` builds it");
            return Ok(());
        }
        None => build(project, tools)?,
    };
    command::run(
        Command::new(program)
            .current_dir(&project.root)
            .args(["--locked", "check", "bans", "licenses", "sources"]),
    )
}

/// The pinned version on the search path or among the project's own tools.
fn find(tools: &Path) -> Option<PathBuf> {
    [PathBuf::from("cargo-deny"), built_program(tools)].into_iter().find(|program| {
        command::output(Command::new(program).arg("--version")).is_ok_and(|answer| is_pinned(&answer))
    })
}

fn build(project: &Project, tools: &Path) -> Result<PathBuf, TaskError> {
    report::say(format!(
        "building cargo-deny {CARGO_DENY_VERSION} from its published source (some minutes, once per user)"
    ));
    command::run(
        project
            .cargo()
            .args(["install", "cargo-deny", "--locked", "--version"])
            .arg(format!("={CARGO_DENY_VERSION}"))
            .arg("--root")
            .arg(tools),
    )?;
    Ok(built_program(tools))
}

fn built_program(tools: &Path) -> PathBuf {
    tools.join("bin/cargo-deny")
}

fn is_pinned(answer: &str) -> bool {
    answer.trim() == format!("cargo-deny {CARGO_DENY_VERSION}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_counts() {
        assert!(is_pinned(&format!("cargo-deny {CARGO_DENY_VERSION}\n")));
        assert!(!is_pinned("cargo-deny 0.1.0\n"));
        assert!(!is_pinned(""));
    }
}
