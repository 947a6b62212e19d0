//! How the worker's JVM is started: class path and options for each engine layout.
//!
//! Ghidra's own launcher is bypassed, so everything its `support/launch.properties` would
//! set is set here, together with what decision D7 fixes for determinism.

use std::path::Path;

use super::context::Engine;
use super::failure::Failure;
use crate::domain::limits::ExecutionLimits;
use crate::engine::bundle::{ADAPTER_JAR, ADAPTER_SCRIPTS};
use crate::engine::modules;
use crate::protocol::request::{Boot, EngineLayout};
use crate::sandbox::WorkerPaths;

/// Stack of the thread that runs import and analysis: DWARF is parsed recursively.
const MAIN_STACK_MIB: u32 = 64;
/// Stack of every other Java thread.
const THREAD_STACK_MIB: u32 = 16;
/// From this Java on, native code that is not announced is warned of, and later refused.
const JAVA_THAT_RESTRICTS_NATIVE_CODE: u32 = 22;

/// Builds the boot section of a request.
pub fn boot(engine: &Engine, limits: &ExecutionLimits, paths: &WorkerPaths) -> Result<Boot, Failure> {
    let libjvm = paths.java_home.join("lib/server/libjvm.so");
    let mut class_path = vec![paths.adapter_directory.join(ADAPTER_JAR)];
    match engine.ghidra.layout {
        EngineLayout::SingleJar => class_path.push(paths.engine.clone()),
        EngineLayout::InstallationDirectory => {
            let jars = modules::jars(&engine.ghidra.path)
                .map_err(|error| Failure::internal(format!("cannot list the engine's jars: {error}")))?;
            class_path.extend(jars.iter().map(|jar| paths.engine.join(jar)));
        }
    }
    // Last, because a class-data archive covers only a prefix without directories.
    class_path.push(paths.adapter_directory.join(ADAPTER_SCRIPTS));
    Ok(Boot {
        libjvm: text(&libjvm)?,
        class_path: class_path.iter().map(|path| text(path)).collect::<Result<_, _>>()?,
        jvm_options: options(engine.java.feature_version, limits, paths)?,
        main_stack_mib: MAIN_STACK_MIB,
    })
}

fn options(java: u32, limits: &ExecutionLimits, paths: &WorkerPaths) -> Result<Vec<String>, Failure> {
    let home = text(&paths.home_directory)?;
    let temporary = text(&paths.temporary_directory)?;
    let error_file = text(&paths.invocation_directory.join("hs_err.log"))?;
    let mut options = vec![
        format!("-Xmx{}m", limits.max_heap_mib),
        format!("-Xss{THREAD_STACK_MIB}m"),
        // A short process: parallel collectors cost more than they save, and a fixed one
        // keeps behaviour independent of the machine.
        "-XX:+UseSerialGC".to_owned(),
        // Exit status 3 is how the harness tells heap exhaustion from everything else.
        "-XX:+ExitOnOutOfMemoryError".to_owned(),
        "-XX:+DisableAttachMechanism".to_owned(),
        "-XX:-UsePerfData".to_owned(),
        format!("-XX:ErrorFile={error_file}"),
    ];
    if java >= JAVA_THAT_RESTRICTS_NATIVE_CODE {
        options.push("--enable-native-access=ALL-UNNAMED".to_owned());
    }
    let properties = [
        ("user.name", "ghidr"),
        ("user.home", &home),
        ("user.language", "en"),
        ("user.country", "US"),
        ("user.variant", ""),
        ("user.timezone", "UTC"),
        ("file.encoding", "UTF-8"),
        ("sun.jnu.encoding", "UTF-8"),
        ("java.io.tmpdir", &temporary),
        ("java.awt.headless", "true"),
        ("java.protocol.handler.pkgs", "ghidra.framework.protocol"),
        ("jdk.tls.client.protocols", "TLSv1.2,TLSv1.3"),
        ("javax.xml.accessExternalDTD", ""),
        ("javax.xml.accessExternalSchema", ""),
        ("javax.xml.accessExternalStylesheet", ""),
        ("application.settingsdir", &home),
        ("application.cachedir", &temporary),
        ("application.tempdir", &temporary),
        ("cpu.core.override", &limits.max_cpu.to_string()),
    ];
    options.extend(properties.map(|(name, value)| format!("-D{name}={value}")));
    Ok(options)
}

/// A path for the request, which is text.
pub fn text(path: &Path) -> Result<String, Failure> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::internal(format!("a worker path is not UTF-8: {}", path.display())))
}
