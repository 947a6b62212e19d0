//! What one worker is given, in paths of this side.

use std::path::PathBuf;

/// Everything one worker may see; a policy that isolates shows nothing else.
#[derive(Clone, Debug)]
pub struct WorkerGrants {
    /// The executable that is started as the worker, and outside of the sandbox as its guard.
    pub worker_executable: PathBuf,
    /// This invocation's private directory, in which request, response and all else is exchanged; writable.
    pub invocation_directory: PathBuf,
    /// The staged Sample, read-only.
    pub sample: Option<PathBuf>,
    /// The directory of the Ghidra project, writable.
    pub project_directory: Option<PathBuf>,
    /// The directory that receives the facts, writable.
    pub facts_directory: Option<PathBuf>,
    /// Ghidra, read-only.
    pub engine: EngineGrant,
    /// What the engine would otherwise unpack at every boot, read-only.
    pub engine_cache: Option<EngineCacheGrant>,
    /// Script bundles that the engine has compiled, in a sandbox of its own only.
    pub script_bundles: Option<ScriptBundlesGrant>,
    /// Prepared class data archives, read-only.
    pub class_data_directory: Option<PathBuf>,
    /// The adapter's jar and scripts, read-only.
    pub adapter_directory: PathBuf,
    /// The JDK, read-only, visible at its own resolved path.
    pub java_home: PathBuf,
    /// Further read-only paths, visible at their own path: a Nix closure.
    pub closure: Vec<PathBuf>,
    /// A fontconfig configuration that is shown instead of the system's.
    pub fonts: Option<PathBuf>,
    /// An empty private directory that is the worker's home where no file system of its own can be made.
    pub home_directory: PathBuf,
    /// An empty private directory for temporary files, likewise.
    pub temporary_directory: PathBuf,
    /// Sizes of what the worker can fill.
    pub sizes: Sizes,
}

/// Ghidra in one of its two layouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineGrant {
    /// A single `ghidra.jar`.
    SingleJar(PathBuf),
    /// An installation directory.
    InstallationDirectory(PathBuf),
}

/// A prepared directory that the engine looks for below the worker's home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineCacheGrant {
    /// The prepared directory.
    pub directory: PathBuf,
    /// Where the engine looks for it, relative to the worker's home.
    pub home_path: PathBuf,
}

/// The directory in which the engine keeps the scripts it has compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptBundlesGrant {
    /// The directory.
    pub directory: PathBuf,
    /// Where the engine looks for it, relative to the worker's home.
    pub home_path: PathBuf,
    /// Whether the engine may add to it; only set-up lets it.
    pub writable: bool,
}

/// Bounds of everything writable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The worker's temporary directory.
    pub temporary_mib: u64,
    /// The worker's home.
    pub home_mib: u64,
    /// Shared memory.
    pub shared_memory_mib: u64,
    /// Each single file the worker writes, wherever it is.
    pub file_size_bytes: u64,
}
