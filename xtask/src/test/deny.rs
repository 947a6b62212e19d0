//! The dependency policy of `deny.toml`, checked by `cargo-deny`, which is built once if it is missing.

use std::path::Path;
use std::process::Command;

use crate::error::TaskError;
use crate::pins::CARGO_DENY;
use crate::project::Project;
use crate::{command, report};

/// Checks bans, licenses and sources. With `fast`, a missing `cargo-deny` is not built.
pub fn check(project: &Project, tools: &Path, fast: bool) -> Result<(), TaskError> {
    report::say("advisories are not checked here: their database cannot be pinned or fetched offline");
    if fast && CARGO_DENY.find(tools).is_none() {
        report::say("skipped by --fast: cargo-deny is not built yet, and `cargo xtask test` builds it");
        return Ok(());
    }
    let program = CARGO_DENY.ensure(project, tools)?;
    command::run(
        Command::new(program)
            .current_dir(&project.root)
            .args(["--locked", "check", "bans", "licenses", "sources"]),
    )
}
