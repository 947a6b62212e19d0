//! Installation: `PREFIX/bin/ghidr` and `PREFIX/lib/ghidr`, readable for any user, needing neither network nor
//! environment variables afterwards.
//!
//! An older installation is replaced in one step per path. What is not ours is never replaced: a `lib/ghidr` that
//! is not empty, or a `bin/ghidr`, without our install record is an error.

mod manifest;
mod official;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ghidr::engine::boot_data::DIRECTORY;
use ghidr::engine::verified::verified_java;

use crate::error::{AtPath, TaskError};
use crate::project::{Profile, Project};
use crate::setup::boot_data::{self, Maker};
use crate::setup::bundle::{self, Engine, Parts, Share};
use crate::setup::{self, Setup};
use crate::{command, files, report};
use manifest::InstallManifest;
use official::Installation;

/// What to install and where.
#[derive(Debug, clap::Args)]
pub struct InstallOptions {
    /// Directory that receives bin/ghidr and lib/ghidr [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// Use this Ghidra installation directory as the engine instead of the pinned jar
    #[arg(long, value_name = "DIR")]
    ghidra: Option<PathBuf>,
    /// Run the engine with this JDK
    #[arg(long, value_name = "DIR")]
    java_home: Option<PathBuf>,
}

/// Installs; everything that can be refused is refused before anything is built.
pub fn run(project: &Project, options: &InstallOptions) -> Result<(), TaskError> {
    let prefix = prefix(options.prefix.as_deref())?;
    let destination = Destination::new(&prefix);
    destination.check()?;
    let given_java = options.java_home.as_deref();
    let official = options.ghidra.as_deref().map(Installation::inspect).transpose()?;
    let official_java = official.as_ref().map(|engine| engine.java(given_java)).transpose()?;

    let setup = setup::run(project, Profile::Release)?;
    let jdk = match official_java {
        Some(jdk) => jdk,
        None if given_java.is_some() => official::java_for(&setup.facts, given_java, &[])?,
        None => setup.jdk.clone(),
    };
    let parts = parts(&setup, official.as_ref(), &jdk.home);
    let executable = project.executable("release");
    let cached = setup.boot_data.as_deref().filter(|_| official.is_none() && jdk.home == setup.jdk.home);
    destination.place(&executable, &parts, |tree| match cached {
        Some(boot_data) => bundle::add_boot_data(tree, boot_data, Share::Copy),
        None => {
            let scratch = std::env::temp_dir();
            let maker = Maker { project_root: &project.root, executable: &executable, scratch: &scratch };
            boot_data::make(tree, &tree.join(DIRECTORY), maker).map(|_made| ())
        }
    })?;

    let facts = parts.facts;
    report::say(format!(
        "installed {} with Ghidra {} on Java {}",
        destination.executable.display(),
        facts.version,
        jdk.feature
    ));
    if verified_java(&facts.version) != Some(jdk.feature) {
        report::say("note: results are not verified for this combination of Ghidra and Java");
    }
    let mut used = vec![prefix.as_path(), &jdk.home];
    used.extend(official.as_ref().map(|engine| engine.directory.as_path()));
    for closed in used.into_iter().filter_map(closed_to_others) {
        report::say(format!(
            "note: other users cannot enter {}, so only its owner can use this",
            closed.display()
        ));
    }
    destination.diagnose()
}

fn parts<'a>(setup: &'a Setup, official: Option<&'a Installation>, java_home: &'a Path) -> Parts<'a> {
    let pinned = Parts { java_home, ..setup.parts() };
    match official {
        Some(engine) => {
            Parts { engine: Engine::Directory(&engine.directory), facts: &engine.facts, ..pinned }
        }
        None => pinned,
    }
}

/// The two paths an installation consists of.
#[derive(Debug)]
struct Destination {
    executable: PathBuf,
    tree: PathBuf,
}

impl Destination {
    fn new(prefix: &Path) -> Self {
        Self { executable: prefix.join("bin/ghidr"), tree: prefix.join("lib/ghidr") }
    }

    /// Refuses to replace what another program put there.
    fn check(&self) -> Result<(), TaskError> {
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
        match fs::symlink_metadata(&self.executable) {
            Ok(_present) => foreign(&self.executable),
            Err(_absent) => Ok(()),
        }
    }

    /// Puts executable and tree into place, the tree first: an executable never lacks what it needs.
    ///
    /// `finish` adds what is made from the assembled tree.
    fn place(
        &self,
        built: &Path,
        parts: &Parts<'_>,
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
        files::publish_path(&staged, &self.executable)
    }

    /// Runs the installed program's own diagnosis as a user without any settings would.
    fn diagnose(&self) -> Result<(), TaskError> {
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

fn prefix(given: Option<&Path>) -> Result<PathBuf, TaskError> {
    match given {
        Some(path) => std::path::absolute(path).at("resolve", path),
        None => match std::env::var_os("HOME").map(PathBuf::from) {
            Some(home) if home.is_absolute() => Ok(home.join(".local")),
            _ => Err(TaskError::Refused("no HOME: name a place with --prefix DIR".to_owned())),
        },
    }
}

/// The first directory on the way to `path` that only its owner or group may enter.
fn closed_to_others(path: &Path) -> Option<&Path> {
    path.ancestors()
        .filter(|ancestor| fs::metadata(ancestor).is_ok_and(|meta| meta.permissions().mode() & 0o001 == 0))
        .last()
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
