//! An existing Ghidra installation directory (an official release, or nixpkgs'): checked before it is referred to.
//!
//! Nothing is copied from it and nothing is written to it.

use std::fs;
use std::path::{Path, PathBuf};

use ghidr::engine::application_properties::ApplicationProperties;
use ghidr::engine::verified::verified_java;

use crate::command;
use crate::error::TaskError;
use crate::setup::jdk::{self, Jdk};

/// A usable installation directory.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Absolute, without symbolic links.
    pub directory: PathBuf,
    /// From its `application.properties`.
    pub facts: ApplicationProperties,
}

impl Installation {
    /// Examines `directory`, or says what is wrong with it.
    pub fn inspect(directory: &Path) -> Result<Self, TaskError> {
        let refuse = |reason: String| {
            TaskError::Refused(format!(
                "{} is not a usable Ghidra installation directory: {reason}",
                directory.display()
            ))
        };
        let resolved = fs::canonicalize(directory).map_err(|error| refuse(error.to_string()))?;
        if resolved.is_file() {
            return Err(refuse("it is a file; name the directory of an unpacked release".to_owned()));
        }
        let properties_path = resolved.join("Ghidra/application.properties");
        let properties = fs::read_to_string(&properties_path)
            .map_err(|error| refuse(format!("{}: {error}", properties_path.display())))?;
        let facts = ApplicationProperties::parse(&properties).map_err(|error| refuse(error.to_string()))?;
        if !resolved.join("support").is_dir() {
            return Err(refuse("it has no support directory".to_owned()));
        }
        if !resolved.join("Ghidra/Framework/Utility/lib/Utility.jar").is_file() {
            return Err(refuse("it has no compiled jars (a source tree?)".to_owned()));
        }
        let decompiler = native_decompiler(&resolved)
            .ok_or_else(|| refuse(format!("it has no native decompiler for {}", platform())))?;
        if !command::is_executable_file(&decompiler) {
            return Err(refuse(format!("{} may not be executed", decompiler.display())));
        }
        Ok(Self { directory: resolved, facts })
    }

    /// The given JDK if the engine accepts it, else the best one of this machine.
    pub fn java(&self, given: Option<&Path>) -> Result<Jdk, TaskError> {
        java_for(&self.facts, given, &jdk::installed())
    }
}

/// The given JDK if the engine accepts it, else the best of `found`.
pub fn java_for(
    facts: &ApplicationProperties,
    given: Option<&Path>,
    found: &[Jdk],
) -> Result<Jdk, TaskError> {
    let version = &facts.version;
    match given {
        Some(home) => {
            let jdk = Jdk::inspect(home)?;
            if facts.java.accepts(jdk.feature) {
                return Ok(jdk);
            }
            Err(TaskError::Refused(format!(
                "{} is Java {}, and Ghidra {version} needs {}",
                jdk.home.display(),
                jdk.feature,
                facts.java
            )))
        }
        None => {
            let verified = verified_java(version).unwrap_or(facts.java.minimum);
            jdk::choose(found, facts.java, verified).cloned().ok_or_else(|| {
                TaskError::Refused(format!(
                    "Ghidra {version} needs a full JDK, {}, and none was found: name one with --java-home DIR",
                    facts.java
                ))
            })
        }
    }
}

fn native_decompiler(root: &Path) -> Option<PathBuf> {
    let module = root.join("Ghidra/Features/Decompiler");
    // Releases use the first place; natives built on the machine itself are in the second.
    ["os", "build/os"]
        .iter()
        .map(|place| module.join(place).join(platform()).join("decompile"))
        .find(|path| path.is_file())
}

fn platform() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "linux_arm_64",
        _ => "linux_x86_64",
    }
}

#[cfg(test)]
#[path = "official_tests.rs"]
mod tests;
