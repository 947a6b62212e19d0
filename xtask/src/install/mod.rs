//! Installation below a prefix, needing neither network nor environment variables afterwards.

mod manifest;
mod official;
pub mod place;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ghidr::engine::boot_data::DIRECTORY;
use ghidr::engine::verified::verified_java;

use crate::error::{AtPath, TaskError};
use crate::project::{Profile, Project};
use crate::report;
use crate::setup::boot_data::{self, Maker};
use crate::setup::bundle::{self, Engine, Parts, Share};
use crate::setup::{self, Setup};
use crate::share::SharedFiles;
use official::Installation;
use place::Destination;

/// What to install and where.
#[derive(Debug, clap::Args)]
pub struct InstallOptions {
    /// Directory that receives bin, lib and share [default: ~/.local]
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
    let shared = SharedFiles::generate(project)?;
    destination.check(&shared)?;
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
    destination.place(&executable, &parts, &shared, |tree| match cached {
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
    if let Some(directory) = destination.executable.parent().filter(|directory| !is_searched(directory)) {
        report::say(format!(
            "note: {} is not in PATH, so a shell finds ghidr only with it there",
            directory.display()
        ));
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
    let pinned = Parts { java_home: Some(java_home), ..setup.parts() };
    match official {
        Some(engine) => {
            Parts { engine: Engine::Directory(&engine.directory), facts: &engine.facts, ..pinned }
        }
        None => pinned,
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

/// Whether a shell looks for programs in `directory`.
fn is_searched(directory: &Path) -> bool {
    let searched = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&searched).any(|path| path == directory)
}

/// The first directory on the way to `path` that only its owner or group may enter.
fn closed_to_others(path: &Path) -> Option<&Path> {
    path.ancestors()
        .filter(|ancestor| fs::metadata(ancestor).is_ok_and(|meta| meta.permissions().mode() & 0o001 == 0))
        .last()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::files;

    #[test]
    fn a_directory_closed_to_others_is_found_from_the_top() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        files::set_mode(root.path(), 0o755).unwrap();
        assert_eq!(closed_to_others(&inner), None);
        files::set_mode(&root.path().join("a"), 0o700).unwrap();
        assert_eq!(closed_to_others(&inner), Some(root.path().join("a").as_path()));
    }
}
