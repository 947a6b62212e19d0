//! An existing Ghidra installation directory (an official release, or nixpkgs'): checked before it is referred to.
//!
//! Nothing is copied from it and nothing is written to it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command;
use crate::descriptor::EngineFacts;
use crate::error::TaskError;
use crate::setup::jdk::{self, JavaRange, Jdk};

/// Engine versions whose results are checked, with the Java feature version they are checked with.
const VERIFIED: [(&str, u32); 2] = [("10.3", 17), ("12.1.2", 21)];

/// A usable installation directory.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Absolute, without symbolic links.
    pub directory: PathBuf,
    /// From its `application.properties`.
    pub facts: EngineFacts,
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
        let facts =
            facts(&properties).map_err(|reason| refuse(format!("application.properties {reason}")))?;
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
pub fn java_for(facts: &EngineFacts, given: Option<&Path>, found: &[Jdk]) -> Result<Jdk, TaskError> {
    let version = &facts.ghidra_version;
    match given {
        Some(home) => {
            let jdk = Jdk::inspect(home)?;
            if facts.java.contains(jdk.feature) {
                return Ok(jdk);
            }
            Err(TaskError::Refused(format!(
                "{} is Java {}, and Ghidra {version} needs Java {}",
                jdk.home.display(),
                jdk.feature,
                facts.java
            )))
        }
        None => {
            let verified = verified_java(version).unwrap_or(facts.java.minimum);
            jdk::choose(found, facts.java, verified).cloned().ok_or_else(|| {
                TaskError::Refused(format!(
                    "Ghidra {version} needs a full JDK, Java {}, and none was found: name one with --java-home DIR",
                    facts.java
                ))
            })
        }
    }
}

/// The Java feature version that an engine version is verified with, if it is verified at all.
pub fn verified_java(ghidra_version: &str) -> Option<u32> {
    VERIFIED.iter().find(|(version, _java)| *version == ghidra_version).map(|(_version, java)| *java)
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

fn facts(properties: &str) -> Result<EngineFacts, String> {
    let value = |name: &str| {
        properties
            .lines()
            .find_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix('='))
            .map(str::trim)
            .filter(|value| !value.is_empty())
    };
    let required = |name: &str| value(name).ok_or_else(|| format!("has no {name}"));
    let number =
        |name: &str, text: &str| text.parse::<u32>().map_err(|_not_a_number| format!("has {name}={text}"));
    if required("application.name")? != "Ghidra" {
        return Err("does not belong to Ghidra".to_owned());
    }
    let minimum = number("application.java.min", required("application.java.min")?)?;
    let maximum =
        value("application.java.max").map(|text| number("application.java.max", text)).transpose()?;
    let build = value("application.revision.ghidra").or_else(|| value("application.build.date"));
    Ok(EngineFacts {
        ghidra_version: required("application.version")?.to_owned(),
        ghidra_build: build.ok_or("names neither revision nor build date")?.to_owned(),
        ghidra_release_name: required("application.release.name")?.to_owned(),
        java: JavaRange { minimum, maximum },
    })
}

#[cfg(test)]
#[path = "official_tests.rs"]
mod tests;
