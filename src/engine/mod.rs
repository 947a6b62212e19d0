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
