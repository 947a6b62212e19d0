//! Java development kits: what one is, and which of those installed to use.
//!
//! A bare runtime is refused: Ghidra's Windows resource analyzer compiles a script at run time, and without
//! `jdk.compiler` that step silently does nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ghidr::engine::application_properties::JavaRange;
use ghidr::engine::java::JavaRuntime;

use crate::command;
use crate::error::TaskError;

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
        let runtime =
            JavaRuntime::examine(home, "set-up").map_err(|error| TaskError::Refused(error.to_string()))?;
        Ok(Self { home: runtime.home, feature: runtime.feature_version })
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
        .or_else(|| found.iter().find(|jdk| range.accepts(jdk.feature)))
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

#[cfg(test)]
#[path = "jdk_tests.rs"]
mod tests;
