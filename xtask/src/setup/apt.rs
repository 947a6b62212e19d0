//! `apt-get`, where it may be used: as root on a Debian-like system.

use std::process::Command;

use crate::error::TaskError;
use crate::{command, report};

/// The options every installation uses: no questions, nothing that was not asked for, patience with the lock.
const INSTALL: [&str; 6] =
    ["-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--no-install-recommends", "--"];

/// What this process may do about missing packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installer {
    /// `apt-get` exists and this process is root.
    Apt,
    /// `apt-get` exists, but only root may run it.
    AptNeedsRoot,
    /// Another kind of system.
    None,
}

/// Finds out what may be done here.
pub fn installer() -> Installer {
    let apt = command::find_on_path("apt-get", std::env::var_os("PATH").as_deref()).is_some();
    match (apt, rustix::process::geteuid().is_root()) {
        (true, true) => Installer::Apt,
        (true, false) => Installer::AptNeedsRoot,
        (false, _) => Installer::None,
    }
}

/// Installs packages, refreshing the package lists only when the first try fails.
pub fn install(packages: &[&str]) -> Result<(), TaskError> {
    report::say(format!("system packages: apt-get installs {}", packages.join(", ")));
    let attempt = || {
        command::run(
            Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(INSTALL).args(packages),
        )
    };
    if attempt().is_ok() {
        return Ok(());
    }
    report::say("system packages: refreshing the package lists and trying again");
    update()?;
    attempt()
}

/// The first of `candidates` that can be installed, refreshing the package lists if none is known.
pub fn first_available<'a>(candidates: &[&'a str]) -> Option<&'a str> {
    let known = || {
        candidates
            .iter()
            .copied()
            .find(|package| command::succeeds(Command::new("apt-cache").args(["show", "--", package])))
    };
    known().or_else(|| {
        update().ok()?;
        known()
    })
}

/// Whether a package is completely installed.
pub fn is_installed(package: &str) -> bool {
    command::output(Command::new("dpkg-query").args([
        "--show",
        "--showformat=${db:Status-Status}",
        "--",
        package,
    ]))
    .is_ok_and(|status| status == "installed")
}

fn update() -> Result<(), TaskError> {
    command::run(Command::new("apt-get").args(["-o", "DPkg::Lock::Timeout=300", "update", "--quiet"]))
}

/// What a person has to run to install `packages`.
pub fn advice(installer: Installer, packages: &[&str]) -> String {
    let list = packages.join(" ");
    match installer {
        Installer::Apt | Installer::AptNeedsRoot => {
            format!("run as root: apt-get install --yes --no-install-recommends {list}")
        }
        Installer::None => {
            format!("install with this system's package manager what Debian calls: {list}")
        }
    }
}
