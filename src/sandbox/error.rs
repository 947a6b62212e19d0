//! Why a sandbox could not be set up.

use std::io;
use std::path::PathBuf;

use super::diagnosis::SetupFailure;

/// A sandbox policy that cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// No bubblewrap where one may be.
    #[error("bubblewrap was not found in any of: {}", list(searched))]
    BubblewrapMissing {
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// Bubblewrap ran and could not set the sandbox up.
    #[error("bubblewrap could not set up the sandbox: {failure} ({message})")]
    SetupFailed {
        /// Which of the known reasons it is.
        failure: SetupFailure,
        /// What bubblewrap said, shortened.
        message: String,
    },
    /// The system call filter could not be made; a fault of ghidr itself.
    #[error("the system call filter cannot be made: {reason}")]
    Filter {
        /// What is wrong with it.
        reason: String,
    },
    /// A granted path cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Grant {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// What the worker shall write lies inside of what every worker can read: all the store would be readable.
    #[error("{} lies below {}, which every worker can read", directory.display(), shown.display())]
    StoreExposed {
        /// What the worker shall write.
        directory: PathBuf,
        /// What is shown to every worker.
        shown: PathBuf,
    },
    /// The engine would have to make files executable, which the sandbox cannot allow the owner of the machine's devices.
    #[error("{} is not prepared, and unpacking it would need more than root's sandbox allows", jar.display())]
    EngineNotPrepared {
        /// The engine.
        jar: PathBuf,
    },
    /// A granted path is not absolute.
    #[error("a path given to the worker is not absolute: {}", path.display())]
    RelativeGrant {
        /// The path.
        path: PathBuf,
    },
    /// A symbolic link of the Java installation leads to a directory too general to be shown to the worker.
    #[error("the Java installation's link {} leads to {}, which is too much to expose", link.display(), target.display())]
    JavaLinkTooBroad {
        /// The link.
        link: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The Java installation has more files or links than any known one.
    #[error("the Java installation {} is too large to examine", java_home.display())]
    JavaTooLarge {
        /// The installation.
        java_home: PathBuf,
    },
}

impl SandboxError {
    /// Which of the known reasons it is, as a stable identifier.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::BubblewrapMissing { .. } => "bubblewrap_missing",
            Self::SetupFailed { failure, .. } => failure.identifier(),
            Self::Filter { .. } => "unknown",
            Self::StoreExposed { .. } => "store_exposed",
            Self::EngineNotPrepared { .. } => "engine_not_prepared",
            Self::Grant { .. } | Self::RelativeGrant { .. } => "path_unusable",
            Self::JavaLinkTooBroad { .. } | Self::JavaTooLarge { .. } => "java_installation_unusable",
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::BubblewrapMissing { .. } => {
                "install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap)"
            }
            Self::SetupFailed { failure, .. } => failure.remedy(),
            Self::Filter { .. } => "report this as a fault of ghidr",
            Self::StoreExposed { .. } => "use a store elsewhere (--store)",
            Self::EngineNotPrepared { .. } => {
                "use the bundled engine, an installation directory of Ghidra, or another user than root"
            }
            Self::Grant { .. } | Self::RelativeGrant { .. } => "check that the path exists and can be read",
            Self::JavaLinkTooBroad { .. } | Self::JavaTooLarge { .. } => "use another JDK (--java-home)",
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
