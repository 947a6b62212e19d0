//! The layout below a prefix, the same for an installation and for an archive: `bin/ghidr`, `lib/ghidr` and `share`, all
//! readable for any user.
//!
//! An older installation is replaced in one step per path. What is not ours is never replaced: without our install
//! record, a `lib/ghidr` that is not empty, a `bin/ghidr`, or a file of ours in `share` is an error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::manifest::{self, InstallManifest};
use crate::error::{AtPath, TaskError};
use crate::setup::bundle::{self, Parts, Share};
use crate::share::SharedFiles;
use crate::{command, files};

/// Where an installation's parts go.
#[derive(Debug)]
pub struct Destination {
    prefix: PathBuf,
    /// `bin/ghidr`.
    pub executable: PathBuf,
    /// `lib/ghidr`.
    pub tree: PathBuf,
}

impl Destination {
    /// The places below `prefix`.
    pub fn new(prefix: &Path) -> Self {
        Self {
            prefix: prefix.to_owned(),
            executable: prefix.join("bin/ghidr"),
            tree: prefix.join("lib/ghidr"),
        }
    }

    /// Refuses to replace what another program put there.
    pub fn check(&self, shared: &SharedFiles) -> Result<(), TaskError> {
        if manifest::is_ours(&self.tree) {
            return Ok(());
        }
        let foreign = |path: &Path| {
            Err(TaskError::Refused(format!(
                "{} exists and was not installed by this project; choose another --prefix",
                path.display()
            )))
        };
        match fs::read_dir(&self.tree).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => return foreign(&self.tree),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).at("list", &self.tree),
        }
        let single_files = shared.paths().map(|path| self.prefix.join(path));
        match single_files.chain([self.executable.clone()]).find(|path| fs::symlink_metadata(path).is_ok()) {
            Some(present) => foreign(&present),
            None => Ok(()),
        }
    }

    /// Puts everything into place, the executable last: it never lacks what it needs.
    ///
    /// `finish` adds what is made from the assembled tree.
    pub fn place(
        &self,
        built: &Path,
        parts: &Parts<'_>,
        shared: &SharedFiles,
        finish: impl FnOnce(&Path) -> Result<(), TaskError>,
    ) -> Result<(), TaskError> {
        for path in [&self.tree, &self.executable] {
            files::create_public_directory(path.parent().unwrap_or(Path::new("/")))?;
        }
        let staged = files::sibling(&self.executable, "new");
        files::copy(built, &staged)?;
        files::set_mode(&staged, files::MODE_PUBLIC_EXECUTABLE)?;
        files::sync_file(&staged)?;
        let staging = files::sibling(&self.tree, "new");
        bundle::assemble(&staging, parts, Share::Copy)?;
        finish(&staging)?;
        let record = InstallManifest::record(&staged, &staging)?;
        files::publish(&staging.join(manifest::FILE_NAME), &record.to_bytes()?)?;
        bundle::replace(&staging, &self.tree)?;
        shared.write(&self.prefix)?;
        files::publish_path(&staged, &self.executable)
    }

    /// Runs the installed program's own diagnosis as a user without any settings would.
    pub fn diagnose(&self) -> Result<(), TaskError> {
        let store = std::env::temp_dir().join(format!("ghidr-install-check-{}", std::process::id()));
        let outcome = command::run(
            Command::new(&self.executable)
                .env_clear()
                .current_dir("/")
                .args(["--format", "human", "doctor", "--store"])
                .arg(&store),
        );
        files::remove(&store)?;
        outcome
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
