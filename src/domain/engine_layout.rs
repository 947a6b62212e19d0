//! The two shapes in which Ghidra is distributed (decision D2).

use serde::{Deserialize, Serialize};

/// Shape of a Ghidra distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineLayout {
    /// One `ghidra.jar`.
    SingleJar,
    /// An official installation directory.
    InstallationDirectory,
}
