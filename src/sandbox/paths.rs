//! The worker's view of its grants.

use std::path::{Path, PathBuf};

use super::error::SandboxError;
use super::grants::{EngineGrant, WorkerGrants};
use crate::domain::invocation_files::{ANSWERS, PROGRESS, REQUEST, RESPONSE};

/// Names inside the private mount namespace.
pub(super) mod inside {
    pub const EXECUTABLE: &str = "/ghidr/bin/ghidr";
    pub const INVOCATION: &str = "/ghidr/invocation";
    pub const SAMPLE: &str = "/ghidr/sample/sample";
    pub const PROJECT: &str = "/ghidr/analysis/project";
    pub const FACTS: &str = "/ghidr/analysis/facts";
    pub const ENGINE_DIRECTORY: &str = "/ghidr/engine";
    pub const ENGINE_JAR: &str = "/ghidr/engine/ghidra.jar";
    pub const CLASS_DATA: &str = "/ghidr/cds";
    pub const ADAPTER: &str = "/ghidr/adapter";
    pub const HOME: &str = "/ghidr/home";
    pub const TEMPORARY: &str = "/tmp";
    pub const SHARED_MEMORY: &str = "/dev/shm";
}

/// Absolute paths as the worker sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPaths {
    /// The invocation directory.
    pub invocation_directory: PathBuf,
    /// The staged Sample.
    pub sample: Option<PathBuf>,
    /// The Ghidra project's directory.
    pub project_directory: Option<PathBuf>,
    /// The facts directory.
    pub facts_directory: Option<PathBuf>,
    /// The engine: its jar or its installation directory.
    pub engine: PathBuf,
    /// The prepared class data archives.
    pub class_data_directory: Option<PathBuf>,
    /// The adapter.
    pub adapter_directory: PathBuf,
    /// The JDK, with symbolic links resolved.
    pub java_home: PathBuf,
    /// The worker's home.
    pub home_directory: PathBuf,
    /// The worker's temporary directory.
    pub temporary_directory: PathBuf,
}

impl WorkerPaths {
    /// The view inside a private mount namespace: fixed names, the same on every machine.
    pub(super) fn inside(grants: &WorkerGrants) -> Result<Self, SandboxError> {
        let granted = |grant: &Option<PathBuf>, name: &str| grant.is_some().then(|| PathBuf::from(name));
        Ok(Self {
            invocation_directory: inside::INVOCATION.into(),
            sample: granted(&grants.sample, inside::SAMPLE),
            project_directory: granted(&grants.project_directory, inside::PROJECT),
            facts_directory: granted(&grants.facts_directory, inside::FACTS),
            engine: match grants.engine {
                EngineGrant::SingleJar(_) => inside::ENGINE_JAR.into(),
                EngineGrant::InstallationDirectory(_) => inside::ENGINE_DIRECTORY.into(),
            },
            class_data_directory: granted(&grants.class_data_directory, inside::CLASS_DATA),
            adapter_directory: inside::ADAPTER.into(),
            java_home: resolve(&grants.java_home)?,
            home_directory: inside::HOME.into(),
            temporary_directory: inside::TEMPORARY.into(),
        })
    }

    /// The view without one: the paths of this side.
    pub(super) fn outside(grants: &WorkerGrants) -> Result<Self, SandboxError> {
        let paths = Self {
            invocation_directory: grants.invocation_directory.clone(),
            sample: grants.sample.clone(),
            project_directory: grants.project_directory.clone(),
            facts_directory: grants.facts_directory.clone(),
            engine: match &grants.engine {
                EngineGrant::SingleJar(path) | EngineGrant::InstallationDirectory(path) => path.clone(),
            },
            class_data_directory: grants.class_data_directory.clone(),
            adapter_directory: grants.adapter_directory.clone(),
            java_home: resolve(&grants.java_home)?,
            home_directory: grants.home_directory.clone(),
            temporary_directory: grants.temporary_directory.clone(),
        };
        for path in paths.all() {
            absolute(path)?;
        }
        Ok(paths)
    }

    /// The request file.
    #[must_use]
    pub fn request(&self) -> PathBuf {
        self.invocation_directory.join(REQUEST)
    }

    /// The response file.
    #[must_use]
    pub fn response(&self) -> PathBuf {
        self.invocation_directory.join(RESPONSE)
    }

    /// The progress file.
    #[must_use]
    pub fn progress(&self) -> PathBuf {
        self.invocation_directory.join(PROGRESS)
    }

    /// The file of answers.
    #[must_use]
    pub fn answers(&self) -> PathBuf {
        self.invocation_directory.join(ANSWERS)
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        let optional =
            [&self.sample, &self.project_directory, &self.facts_directory, &self.class_data_directory];
        let always = [
            &self.invocation_directory,
            &self.engine,
            &self.adapter_directory,
            &self.java_home,
            &self.home_directory,
            &self.temporary_directory,
        ];
        optional.into_iter().flatten().chain(always).map(PathBuf::as_path)
    }
}

pub(super) fn resolve(path: &Path) -> Result<PathBuf, SandboxError> {
    path.canonicalize().map_err(|source| SandboxError::Grant { path: path.to_owned(), source })
}

pub(super) fn absolute(path: &Path) -> Result<&Path, SandboxError> {
    if path.is_absolute() { Ok(path) } else { Err(SandboxError::RelativeGrant { path: path.to_owned() }) }
}
