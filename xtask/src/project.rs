//! Where the working copy and its build outputs are.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::command;
use crate::error::TaskError;

/// The working copy this task was built from.
#[derive(Clone, Debug)]
pub struct Project {
    /// The directory of the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// Cargo's build directory, whatever it is configured to be.
    pub target: PathBuf,
}

/// How `ghidr` is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As tests need it anyway.
    Debug,
    /// As it is used.
    Release,
}

#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

impl Project {
    /// Asks Cargo, which knows every way its directories can be configured.
    pub fn locate() -> Result<Self, TaskError> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let text = command::output(
            cargo()
                .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
                .arg(&manifest),
        )?;
        let metadata: Metadata = serde_json::from_str(&text)
            .map_err(|error| TaskError::Refused(format!("cannot understand `cargo metadata`: {error}")))?;
        Ok(Self { root: metadata.workspace_root, target: metadata.target_directory })
    }

    /// The bundled tree of a development build: `../lib/ghidr` as seen from `target/debug/ghidr`.
    pub fn bundled_tree(&self) -> PathBuf {
        self.target.join("lib/ghidr")
    }

    /// The `ghidr` executable of a build profile directory (`debug` or `release`).
    pub fn executable(&self, profile_directory: &str) -> PathBuf {
        self.target.join(profile_directory).join("ghidr")
    }

    /// Builds `ghidr` and returns the executable.
    pub fn build(&self, profile: Profile) -> Result<PathBuf, TaskError> {
        let mut command = self.cargo();
        command.args(["build", "--locked", "--package", "ghidr"]);
        let directory = match profile {
            Profile::Debug => "debug",
            Profile::Release => {
                command.arg("--release");
                "release"
            }
        };
        command::run(&mut command)?;
        Ok(self.executable(directory))
    }

    /// A Cargo command in the workspace.
    pub fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root);
        command
    }
}

/// The Cargo that runs this task, else the one on the search path.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
