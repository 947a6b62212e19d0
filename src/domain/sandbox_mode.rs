//! The three explicit sandbox modes and what each lets us claim (PRD "Security and safety").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which isolation the caller selected; never detected, never changed silently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Isolate the worker with bubblewrap.
    Bubblewrap,
    /// The surrounding harness isolates; ghidr cannot verify it.
    External,
    /// No isolation: for debugging only.
    Off,
}

/// How much of the selected policy ghidr itself enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxVerification {
    /// ghidr built the sandbox itself.
    Verified,
    /// Somebody else's sandbox; unknown.
    Unverified,
    /// There is none.
    Disabled,
}

impl SandboxMode {
    /// What provenance reports for this mode.
    pub const fn verification(self) -> SandboxVerification {
        match self {
            Self::Bubblewrap => SandboxVerification::Verified,
            Self::External => SandboxVerification::Unverified,
            Self::Off => SandboxVerification::Disabled,
        }
    }
}
