//! Java development kits: what one is, and which of those installed to use.
//!
//! A bare runtime is refused: Ghidra's Windows resource analyzer compiles a script at run time, and without
//! `jdk.compiler` that step silently does nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command;
use crate::error::TaskError;

/// The Java feature versions an engine accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JavaRange {
    /// Smallest feature version.
    pub minimum: u32,
    /// Largest feature version, if the engine names one.
    pub maximum: Option<u32>,
}

impl JavaRange {
    /// Whether a feature version is accepted.
    pub fn contains(self, feature: u32) -> bool {
        feature >= self.minimum && self.maximum.is_none_or(|maximum| feature <= maximum)
    }
}

impl std::fmt::Display for JavaRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.maximum {
            Some(maximum) => write!(formatter, "{} to {maximum}", self.minimum),
            None => write!(formatter, "{} or later", self.minimum),
        }
    }
}

/// A full JDK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// Its home directory, absolute and without symbolic links.
    pub home: PathBuf,
    /// Its Java feature version.
    pub feature: u32,
}

impl Jdk {
    /// Examines `home`, or says why it is not a full JDK.
    pub fn inspect(home: &Path) -> Result<Self, TaskError> {
        let refuse =
            |reason: &str| TaskError::Refused(format!("{} is not a usable JDK: {reason}", home.display()));
        let home = fs::canonicalize(home).map_err(|error| refuse(&error.to_string()))?;
        let release = fs::read_to_string(home.join("release"))
            .map_err(|error| refuse(&format!("its release file: {error}")))?;
        let feature = value(&release, "JAVA_VERSION")
            .and_then(feature_version)
            .ok_or_else(|| refuse("its release file names no JAVA_VERSION"))?;
        let modules = value(&release, "MODULES").unwrap_or_default();
        if !modules.split(' ').any(|module| module == "jdk.compiler") {
            return Err(refuse("it has no jdk.compiler module, which Ghidra needs at run time"));
        }
        if !command::is_executable_file(&home.join("bin/javac")) {
            return Err(refuse("it is a runtime only (no bin/javac), and Ghidra needs the compiler"));
        }
        if !home.join("lib/server/libjvm.so").is_file() {
            return Err(refuse("it has no lib/server/libjvm.so"));
        }
        Ok(Self { home, feature })
    }
}

/// The full JDKs of this machine in a fixed order: `$JAVA_HOME`, the one of `javac`, then `/usr/lib/jvm`.
pub fn installed() -> Vec<Jdk> {
    let mut homes: Vec<PathBuf> = Vec::new();
    homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
    let javac = command::find_on_path("javac", std::env::var_os("PATH").as_deref());
    homes.extend(javac.and_then(|javac| home_of_compiler(&javac)));
    homes.extend(children(Path::new("/usr/lib/jvm")));
    let mut found: Vec<Jdk> = Vec::new();
    for jdk in homes.iter().filter_map(|home| Jdk::inspect(home).ok()) {
        if !found.contains(&jdk) {
            found.push(jdk);
        }
    }
    found
}

/// The first JDK of the verified feature version, else the first inside the range.
pub fn choose(found: &[Jdk], range: JavaRange, verified: u32) -> Option<&Jdk> {
    found
        .iter()
        .find(|jdk| jdk.feature == verified)
        .or_else(|| found.iter().find(|jdk| range.contains(jdk.feature)))
}

fn home_of_compiler(javac: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(javac).ok()?.parent()?.parent()?.to_path_buf())
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.retain(|path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| !name.starts_with('.')));
    paths.sort();
    paths
}

/// A value of a `release` file: `NAME="value"`.
fn value<'a>(release: &'a str, name: &str) -> Option<&'a str> {
    release.lines().find_map(|line| {
        let quoted = line.strip_prefix(name)?.strip_prefix('=')?.trim();
        Some(quoted.trim_matches('"'))
    })
}

fn feature_version(version: &str) -> Option<u32> {
    version.split(['.', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
#[path = "jdk_tests.rs"]
mod tests;
