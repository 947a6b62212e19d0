//! The fixtures are rebuilt where their bytes are reproducible: with the compilers of Debian 12.

use crate::error::TaskError;
use crate::project::Project;
use crate::setup::packages;
use crate::{fixtures, report};

/// Installs the compilers if needed, rebuilds every fixture and compares it with the committed one.
pub fn check_fixtures(project: &Project) -> Result<(), TaskError> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    if !is_debian_12(&release) {
        report::say(
            "skipped: the committed fixtures are rebuilt on Debian 12 only, whose compilers made them",
        );
        return Ok(());
    }
    packages::ensure_debian(fixtures::PACKAGES)?;
    let outcome = fixtures::run(&project.root, true)?;
    report::say(format!(
        "{} binaries rebuilt and identical, {} truth files agree with them",
        outcome.binaries, outcome.truths
    ));
    Ok(())
}

fn is_debian_12(os_release: &str) -> bool {
    let has = |line: &str| os_release.lines().any(|found| found.replace('"', "") == line);
    has("ID=debian") && has("VERSION_ID=12")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_12_is_told_from_its_relatives() {
        assert!(is_debian_12("ID=debian\nVERSION_ID=\"12\"\n"));
        assert!(!is_debian_12("ID=debian\nVERSION_ID=\"13\"\n"));
        assert!(!is_debian_12("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"12\"\n"));
        assert!(!is_debian_12(""));
    }
}
