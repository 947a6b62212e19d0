//! Which rule selected the Analysis Store's location.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Source of the Analysis Store location, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoreSource {
    /// `--store`.
    Cli,
    /// `$GHIDR_STORE`.
    Environment,
    /// `$XDG_CACHE_HOME/ghidr`.
    Xdg,
    /// `~/ghidr-store`.
    HomeFallback,
}

impl StoreSource {
    /// What a person changes to change it.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Cli => "--store",
            Self::Environment => "$GHIDR_STORE",
            Self::Xdg => "$XDG_CACHE_HOME",
            Self::HomeFallback => "$HOME",
        }
    }
}
