//! What a worker is given: exactly what its task needs.

use std::path::PathBuf;

use super::WorkerTask;
use crate::commands::boot_mode::BootMode;
use crate::commands::context::{Context, Engine};
use crate::commands::failure::Failure;
use crate::domain::engine_layout::EngineLayout;
use crate::engine::ghidra::Ghidra;
use crate::engine::sandbox_parts::SandboxParts;
use crate::sandbox::{EngineCacheGrant, EngineGrant, ScriptBundlesGrant, Sizes, WorkerGrants};
use crate::store::{Operation, Staging, StoreError};

/// Bounds on each writable file system and file of a worker.
const SIZES: Sizes =
    Sizes { temporary_mib: 1_024, home_mib: 256, shared_memory_mib: 64, file_size_bytes: 4 << 30 };
/// Where Ghidra looks for what a single jar has unpacked, below its settings directory.
const UNPACKED_DIRECTORY: &str = "jar.resource.copied.files";
/// Where it looks for the scripts it has compiled.
const SCRIPT_BUNDLES: &str = "osgi/compiled-bundles";

/// Everything `task` needs, as paths of this side.
pub(super) fn collect(
    context: &Context<'_>,
    engine: &Engine,
    staging: &Staging,
    task: &WorkerTask,
    mode: &BootMode,
    provided: Option<&SandboxParts>,
) -> Result<WorkerGrants, Failure> {
    let host = context.host;
    let analyzes = matches!(task, WorkerTask::Analyze { .. });
    let has_project = !matches!(task, WorkerTask::Probe);
    Ok(WorkerGrants {
        worker_executable: host.executable.clone(),
        invocation_directory: staging.invocation_directory(),
        sample: analyzes.then(|| staging.sample_path()),
        project_directory: has_project.then(|| staging.project_directory()),
        facts_directory: analyzes.then(|| staging.facts_directory()),
        engine: match engine.ghidra.layout {
            EngineLayout::SingleJar => EngineGrant::SingleJar(engine.ghidra.path.clone()),
            EngineLayout::InstallationDirectory => {
                EngineGrant::InstallationDirectory(engine.ghidra.path.clone())
            }
        },
        engine_cache: engine_cache(&engine.ghidra),
        script_bundles: script_bundles(&engine.ghidra, mode),
        class_data_directory: match mode {
            BootMode::Prepared(data) | BootMode::Proving(data) => Some(data.class_data.clone()),
            _ => None,
        },
        adapter_directory: host.bundle.adapter_directory(),
        java_home: engine.java.home.clone(),
        closure: provided.map(|parts| parts.closure.clone()).unwrap_or_default(),
        fonts: provided.map(|parts| parts.fonts.clone()),
        home_directory: staging.home_directory(),
        temporary_directory: staging.temporary_directory(),
        sizes: SIZES,
    })
}

fn engine_cache(ghidra: &Ghidra) -> Option<EngineCacheGrant> {
    let cache = ghidra.cache.as_ref()?;
    let settings = PathBuf::from(".ghidra").join(ghidra.settings_directory_name());
    Some(EngineCacheGrant {
        directory: cache.join(UNPACKED_DIRECTORY),
        home_path: settings.join(UNPACKED_DIRECTORY),
    })
}

fn script_bundles(ghidra: &Ghidra, mode: &BootMode) -> Option<ScriptBundlesGrant> {
    let (directory, writable) = match mode {
        BootMode::Prepared(data) | BootMode::Proving(data) => (data.script_bundles.clone()?, false),
        BootMode::Observed { script_bundles } => (script_bundles.clone(), true),
        BootMode::Plain | BootMode::Archiving => return None,
    };
    let home_path = PathBuf::from(".ghidra").join(ghidra.settings_directory_name()).join(SCRIPT_BUNDLES);
    Some(ScriptBundlesGrant { directory, home_path, writable })
}

/// Without a mount namespace the prepared files are reached through links, one each: a link
/// to their directory would let the engine write into the shared cache. Ghidra only asks
/// whether an unpacked file exists.
pub(super) fn link_engine_cache(grants: &WorkerGrants) -> Result<(), Failure> {
    let Some(cache) = &grants.engine_cache else { return Ok(()) };
    let target = grants.home_directory.join(&cache.home_path);
    let link_all = || -> std::io::Result<()> {
        std::fs::create_dir_all(&target)?;
        for entry in std::fs::read_dir(&cache.directory)? {
            let entry = entry?;
            std::os::unix::fs::symlink(entry.path(), target.join(entry.file_name()))?;
        }
        Ok(())
    };
    link_all().map_err(|source| StoreError::io(source, Operation::Create, &target).into())
}
