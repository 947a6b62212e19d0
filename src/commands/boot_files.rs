//! The files that a worker's JVM is made of, for each engine layout.

use std::path::{Path, PathBuf};

use super::context::{Context, Engine};
use crate::domain::engine_layout::EngineLayout;
use crate::engine::bundle::ADAPTER_JAR;
use crate::engine::modules;

/// What boot data is made from, in paths of this side: the jars, the scripts beside them, and the Java virtual machine.
///
/// A single jar has its scripts inside.
pub fn inputs(context: &Context<'_>, engine: &Engine) -> std::io::Result<Vec<PathBuf>> {
    let adapter = context.host.bundle.adapter_directory();
    let mut inputs = jars(engine, &adapter, &engine.ghidra.path)?;
    if engine.ghidra.layout == EngineLayout::InstallationDirectory {
        inputs.extend(modules::scripts(&engine.ghidra.path)?);
    }
    inputs.push(libjvm(&engine.java.home));
    Ok(inputs)
}

/// The virtual machine of a JDK.
pub fn libjvm(java_home: &Path) -> PathBuf {
    java_home.join("lib/server/libjvm.so")
}

/// The jars of the class path in order, with the engine seen at `engine_path`.
pub fn jars(engine: &Engine, adapter_directory: &Path, engine_path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut jars = vec![adapter_directory.join(ADAPTER_JAR)];
    match engine.ghidra.layout {
        EngineLayout::SingleJar => jars.push(engine_path.to_owned()),
        EngineLayout::InstallationDirectory => {
            jars.extend(modules::jars(&engine.ghidra.path)?.iter().map(|jar| engine_path.join(jar)));
        }
    }
    Ok(jars)
}
