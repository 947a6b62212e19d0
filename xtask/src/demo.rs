//! The demonstration: the main job on a real binary, through the real engine, as a user sees it.
//!
//! Each command line is printed before its untouched output. The store is temporary, so nothing of the caller's
//! is read or written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{AtPath, TaskError};
use crate::project::{Profile, Project};
use crate::{command, files, report, setup};

const SAMPLE: &str = "fixtures/bin/elf-x86_64-pie";

/// What a first-time user would try, in that order; the last one shows what programs read.
const COMMANDS: [&[&str]; 5] = [
    &["--format", "human", "doctor"],
    &["--format", "human", "inspect", SAMPLE],
    &["--format", "human", "functions", SAMPLE, "--limit", "8"],
    &["--format", "human", "decompile", SAMPLE, "--name", "fibonacci"],
    &["inspect", SAMPLE],
];

/// Variables that would point the demonstration at something else than this build.
const IGNORED_VARIABLES: [&str; 3] = ["GHIDR_GHIDRA", "GHIDR_JAVA_HOME", "GHIDRA_INSTALL_DIR"];

/// Sets up, builds, and runs every command; a failing one does not hide the others.
pub fn run(project: &Project) -> Result<(), TaskError> {
    report::say(
        "the first run downloads an engine and builds everything, for some minutes; later ones are quick",
    );
    setup::run(project, Profile::Release)?;
    let store = TemporaryStore::create()?;
    report::say("the commands below use a temporary store");
    let mut failed = Vec::new();
    for arguments in COMMANDS {
        report::say(format!("\n$ ghidr {}", arguments.join(" ")));
        let mut ghidr = std::process::Command::new(project.executable("release"));
        ghidr.current_dir(&project.root).args(arguments).env("GHIDR_STORE", store.path());
        for variable in IGNORED_VARIABLES {
            ghidr.env_remove(variable);
        }
        if let Err(error) = command::run(&mut ghidr) {
            report::complain(format!("xtask: {error}"));
            failed.push(format!("ghidr {}", arguments.join(" ")));
        }
    }
    if failed.is_empty() {
        report::say(format!(
            "\ndemonstration complete: every command succeeded\n\
            the program is {}; to use it from anywhere: cargo xtask install [--prefix DIR]",
            project.executable("release").display()
        ));
        Ok(())
    } else {
        Err(TaskError::Steps(failed))
    }
}

/// A private directory that disappears with this value.
#[derive(Debug)]
struct TemporaryStore(PathBuf);

impl TemporaryStore {
    fn create() -> Result<Self, TaskError> {
        let path = std::env::temp_dir().join(format!("ghidr-demo-{}", std::process::id()));
        fs::create_dir(&path).at("create", &path)?;
        let store = Self(path);
        fs::set_permissions(&store.0, fs::Permissions::from_mode(0o700)).at("set the mode of", &store.0)?;
        Ok(store)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryStore {
    fn drop(&mut self) {
        if let Err(error) = files::remove(&self.0) {
            report::complain(format!("xtask: {error}"));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_a_committed_fixture() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(root.join(SAMPLE).is_file());
    }

    #[test]
    fn the_store_is_private_and_removed() {
        let store = TemporaryStore::create().unwrap();
        let path = store.path().to_path_buf();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(store);
        assert!(!path.exists());
    }
}
