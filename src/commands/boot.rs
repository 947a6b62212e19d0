//! How the worker's JVM is started: its class path and its options.
//!
//! Ghidra's own launcher is bypassed, so everything its `support/launch.properties` would
//! set is set here, together with what decision D7 fixes for determinism.

use super::boot_files::{jars, libjvm};
use super::boot_mode::BootMode;
use super::context::Engine;
use super::failure::Failure;
use super::path_text::{class_path_entry, text};
use crate::domain::invocation_files::CRASH_REPORT;
use crate::domain::limits::ExecutionLimits;
use crate::engine::bundle::ADAPTER_SCRIPTS;
use crate::protocol::request::Boot;
use crate::sandbox::WorkerPaths;

/// Stack of the thread that runs import and analysis: DWARF is parsed recursively.
const MAIN_STACK_MIB: u32 = 64;
/// Stack of every other Java thread.
const THREAD_STACK_MIB: u32 = 16;
/// From this Java on, native code that is not announced is warned of, and later refused.
const JAVA_THAT_RESTRICTS_NATIVE_CODE: u32 = 22;

/// Builds the boot section of a request.
pub fn boot(
    engine: &Engine,
    limits: &ExecutionLimits,
    paths: &WorkerPaths,
    mode: &BootMode,
    operation: &str,
) -> Result<Boot, Failure> {
    let mut class_path = jars(engine, &paths.adapter_directory, &paths.engine).map_err(|error| {
        Failure::engine_unusable("class path", format!("the engine's jars cannot be listed: {error}"))
    })?;
    if *mode != BootMode::Archiving {
        // Last, because a class data archive covers only a prefix without directories.
        class_path.push(paths.adapter_directory.join(ADAPTER_SCRIPTS));
    }
    let mut jvm_options = options(engine.java.feature_version, limits, paths)?;
    jvm_options.extend(mode.options(operation, paths)?);
    Ok(Boot {
        libjvm: text(&libjvm(&paths.java_home))?,
        class_path: class_path.iter().map(|path| class_path_entry(path)).collect::<Result<_, _>>()?,
        jvm_options,
        main_stack_mib: MAIN_STACK_MIB,
    })
}

fn options(java: u32, limits: &ExecutionLimits, paths: &WorkerPaths) -> Result<Vec<String>, Failure> {
    let home = text(&paths.home_directory)?;
    let temporary = text(&paths.temporary_directory)?;
    let error_file = text(&paths.invocation_directory.join(CRASH_REPORT))?;
    let mut options = vec![
        format!("-Xmx{}m", limits.max_heap_mib),
        format!("-Xss{THREAD_STACK_MIB}m"),
        // Exit status 3 is how the harness tells heap exhaustion from everything else.
        "-XX:+ExitOnOutOfMemoryError".to_owned(),
        "-XX:+DisableAttachMechanism".to_owned(),
        "-XX:-UsePerfData".to_owned(),
        // Java's own pools, and what asks Java instead of Ghidra's property below.
        format!("-XX:ActiveProcessorCount={}", limits.max_cpu),
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
        // Nobody can attach, and registering its loggers is a tenth of a second of every boot.
        ("log4j2.disable.jmx", "true"),
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
