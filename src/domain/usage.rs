//! Storage usage, always as both numbers the PRD asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes that stored data occupies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageUsage {
    /// Sum of file lengths in bytes.
    pub logical_bytes: u64,
    /// Sum of `st_blocks * 512`, directories included.
    pub allocated_bytes: u64,
}

impl std::ops::AddAssign for StorageUsage {
    fn add_assign(&mut self, other: Self) {
        self.logical_bytes = self.logical_bytes.saturating_add(other.logical_bytes);
        self.allocated_bytes = self.allocated_bytes.saturating_add(other.allocated_bytes);
    }
}
