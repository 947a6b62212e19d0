//! The format of the Nix files, checked by a build of `nixfmt` that Cargo can make.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TaskError;
use crate::pins::NIXFMT;
use crate::project::Project;
use crate::{command, files, report};

/// Where Nix files are, besides the flake itself.
const DIRECTORIES: [&str; 2] = ["nix", "tests/nix"];

/// Checks every Nix file. With `fast`, a missing formatter is not built.
pub fn check_format(project: &Project, tools: &Path, fast: bool) -> Result<(), TaskError> {
    if fast && NIXFMT.find(tools).is_none() {
        report::say("skipped by --fast: nixfmt is not built yet, and `cargo xtask test` builds it");
        return Ok(());
    }
    let program = NIXFMT.ensure(project, tools)?;
    command::run(Command::new(program).current_dir(&project.root).arg("--check").args(files(project)?))
}

fn files(project: &Project) -> Result<Vec<PathBuf>, TaskError> {
    let mut found = vec![PathBuf::from("flake.nix")];
    for directory in DIRECTORIES {
        let names = files::regular_files(&project.root.join(directory))?.into_iter();
        let names = names.filter(|name| name.extension().is_some_and(|extension| extension == "nix"));
        found.extend(names.map(|name| Path::new(directory).join(name)));
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_flake_and_everything_it_imports_is_checked() {
        let found = files(&Project::locate().unwrap()).unwrap();
        for name in ["flake.nix", "nix/package.nix", "nix/checks.nix", "tests/nix/stub.nix"] {
            assert!(found.contains(&PathBuf::from(name)), "{name}");
        }
    }
}
