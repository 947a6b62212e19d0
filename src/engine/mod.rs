//! Finds the engine (Ghidra) and the Java runtime, and says what they are, without a JVM.

pub mod application_properties;
pub mod boot_data;
pub mod bundle;
pub mod compiled_scripts;
pub mod descriptor;
pub mod ghidra;
pub mod java;
pub mod modules;
pub mod sandbox_parts;
pub mod verified;

/// Whether a path leads nowhere, as opposed to somewhere that cannot be reached.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
