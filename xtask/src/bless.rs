//! `cargo xtask bless`: rewrites the goldens from what the real engine answers now.
//!
//! The only way to write them. A person reviews the difference before it is committed, so an automated run, which
//! says so by setting `CI`, is refused.

use crate::error::TaskError;
use crate::project::{Profile, Project};
use crate::{report, setup};

/// Tests whose names begin like this compare with goldens.
const GOLDEN_TESTS: &str = "ghidra::golden::golden_of_";

/// Runs the golden tests in writing mode.
pub fn run(project: &Project) -> Result<(), TaskError> {
    if std::env::var_os("CI").is_some() {
        return Err(TaskError::Refused("goldens are never accepted where CI is set".to_owned()));
    }
    setup::run(project, Profile::Debug)?;
    crate::command::run(
        project
            .cargo()
            .args(["test", "--locked", "--test", "main", "--", GOLDEN_TESTS])
            .env("GHIDR_BLESS", "1"),
    )?;
    report::say("goldens are written; review them: git diff tests/golden");
    Ok(())
}
