//! System packages: finds what is missing and installs it, or stops with the exact command.
//!
//! What is missing is decided by what works (a program on the search path, a font that fontconfig lists, a full
//! JDK), not by package names, so a system that got them in another way is left alone.

use std::process::Command;

use super::apt::{self, Installer};
use super::jdk::{self, Jdk};
use crate::error::TaskError;
use crate::pins::{EnginePin, JDK_PACKAGES};
use crate::{command, report};
use ghidr::engine::application_properties::JavaRange;

/// A program that a task runs, and the Debian package that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tool {
    /// Name on the search path.
    program: &'static str,
    /// Debian package.
    package: &'static str,
}

const TOOLS: [Tool; 2] =
    [Tool { program: "bwrap", package: "bubblewrap" }, Tool { program: "fc-list", package: "fontconfig" }];
const FONT_PACKAGE: &str = "fonts-dejavu-core";

/// Makes sure of sandbox, fonts and JDK, and returns the JDK to use.
pub fn ensure(pin: &EnginePin) -> Result<Jdk, TaskError> {
    let installer = apt::installer();
    let range = JavaRange { minimum: pin.java_minimum, maximum: None };
    let mut missing = missing_tools(&TOOLS, on_path);
    if !has_font() {
        missing.push(FONT_PACKAGE);
    }
    let chosen = jdk::choose(&jdk::installed(), range, pin.java_verified).cloned();
    missing.extend(jdk_package(chosen.as_ref(), pin.java_verified, installer, || {
        apt::first_available(&JDK_PACKAGES)
    }));
    install(installer, &missing)?;
    let jdk = jdk::choose(&jdk::installed(), range, pin.java_verified).cloned().ok_or_else(|| {
        TaskError::Refused(format!("no full JDK, Java {range}, was found after installation"))
    })?;
    report::say(format!("JDK: Java {} at {}", jdk.feature, jdk.home.display()));
    if jdk.feature != pin.java_verified {
        report::say(format!(
            "JDK: note that Ghidra {} is verified with Java {} only",
            pin.ghidra_version, pin.java_verified
        ));
    }
    Ok(jdk)
}

/// Makes sure that one more program is on the search path, by installing its Debian package if need be.
pub fn ensure_tool(program: &'static str, package: &'static str) -> Result<(), TaskError> {
    install(apt::installer(), &missing_tools(&[Tool { program, package }], on_path))
}

/// Makes sure that Debian packages are installed, for programs that must come from Debian.
pub fn ensure_debian(packages: &[&'static str]) -> Result<(), TaskError> {
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !apt::is_installed(package)).collect();
    install(apt::installer(), &missing)
}

fn install(installer: Installer, missing: &[&str]) -> Result<(), TaskError> {
    if missing.is_empty() {
        report::say("system packages: nothing is missing");
        return Ok(());
    }
    match installer {
        Installer::Apt => apt::install(missing),
        Installer::AptNeedsRoot | Installer::None => Err(TaskError::Refused(format!(
            "system packages are missing ({}); {}",
            missing.join(", "),
            apt::advice(installer, missing)
        ))),
    }
}

fn missing_tools(tools: &[Tool], present: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let mut packages: Vec<&str> = Vec::new();
    for tool in tools {
        if !present(tool.program) && !packages.contains(&tool.package) {
            packages.push(tool.package);
        }
    }
    packages
}

/// The JDK package to install, if any: the verified version wherever it can be had, else any in range will do.
fn jdk_package(
    chosen: Option<&Jdk>,
    verified: u32,
    installer: Installer,
    first_available: impl FnOnce() -> Option<&'static str>,
) -> Option<&'static str> {
    let [verified_package, ..] = JDK_PACKAGES;
    if chosen.is_some_and(|jdk| jdk.feature == verified) {
        return None;
    }
    let available = match installer {
        Installer::Apt => first_available(),
        Installer::AptNeedsRoot | Installer::None => None,
    };
    match (chosen, available) {
        (Some(_), Some(package)) if package == verified_package => Some(package),
        (Some(_), _) => None,
        (None, Some(package)) => Some(package),
        (None, None) => Some(verified_package),
    }
}

fn on_path(program: &str) -> bool {
    command::find_on_path(program, std::env::var_os("PATH").as_deref()).is_some()
}

fn has_font() -> bool {
    command::output(Command::new("fc-list").args([":", "file"])).is_ok_and(|fonts| !fonts.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_program_asks_for_its_package_once() {
        let tools = [TOOLS[0], Tool { program: "a", package: "ab" }, Tool { program: "b", package: "ab" }];
        assert_eq!(missing_tools(&tools, |program| program == "bwrap"), ["ab"]);
        assert_eq!(missing_tools(&tools, |_| false), ["bubblewrap", "ab"]);
        assert!(missing_tools(&tools, |_| true).is_empty());
    }

    #[test]
    fn a_jdk_is_installed_only_where_that_improves_things() {
        let jdk = |feature| Jdk { home: "/jdk".into(), feature };
        let package = |chosen: Option<u32>, installer, available| {
            jdk_package(chosen.map(jdk).as_ref(), 17, installer, || available)
        };
        let [seventeen, twenty_one] = JDK_PACKAGES;
        assert_eq!(package(Some(17), Installer::Apt, Some(seventeen)), None);
        assert_eq!(package(Some(21), Installer::Apt, Some(seventeen)), Some(seventeen));
        assert_eq!(package(Some(21), Installer::Apt, Some(twenty_one)), None);
        assert_eq!(package(Some(21), Installer::AptNeedsRoot, Some(seventeen)), None);
        assert_eq!(package(None, Installer::Apt, Some(twenty_one)), Some(twenty_one));
        assert_eq!(package(None, Installer::None, None), Some(seventeen));
    }

    #[test]
    fn without_root_the_exact_command_is_given() {
        let error = install(Installer::AptNeedsRoot, &["bubblewrap", "fontconfig"]);
        let text = error.map_err(|error| error.to_string());
        let command = "apt-get install --yes --no-install-recommends bubblewrap fontconfig";
        assert!(text.is_err_and(|text| text.contains(command)));
    }
}
