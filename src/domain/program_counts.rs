//! Counts over an analyzed Program: cheap evidence that two analyses found the same things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of everything a Program holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramCounts {
    /// Functions: memory, external and thunks.
    pub function_count: u64,
    /// Functions in memory.
    pub memory_function_count: u64,
    /// References.
    pub reference_count: u64,
    /// Defined data items.
    pub defined_data_count: u64,
    /// Instructions.
    pub instruction_count: u64,
    /// Symbols.
    pub symbol_count: u64,
}
