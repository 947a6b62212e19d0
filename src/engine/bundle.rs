//! The bundle: what set-up installed beside the executable, `../lib/ghidr/`.

use std::path::{Path, PathBuf};

/// Locations inside the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    root: PathBuf,
}

impl Bundle {
    /// The bundle that belongs to `executable` (an absolute path without symbolic links).
    pub fn beside(executable: &Path) -> Self {
        let prefix = executable.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        Self { root: prefix.join("lib/ghidr") }
    }

    /// A bundle at an explicit place, for tests.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The bundle's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The Java adapter's directory.
    pub fn adapter_directory(&self) -> PathBuf {
        self.root.join("adapter")
    }

    /// The JDK that an installation put or linked here, when its descriptor names none. A link that leads nowhere counts:
    /// using another JDK instead would be a silent fall-through.
    pub fn java_home(&self) -> Option<PathBuf> {
        let home = self.root.join(JAVA_HOME);
        std::fs::symlink_metadata(&home).is_ok().then_some(home)
    }

    /// Resolves a path of the engine descriptor.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.root.join(path)
    }
}

/// Directory of the JDK inside the bundle, or a link to one.
pub const JAVA_HOME: &str = "jdk";
/// File name of the adapter's jar inside the adapter directory.
pub const ADAPTER_JAR: &str = "ghidr-adapter.jar";
/// Directory of the script shims inside the adapter directory.
pub const ADAPTER_SCRIPTS: &str = "scripts";
