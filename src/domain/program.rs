//! What an Analysis says about the Program as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::Address;

/// Version of the facts files.
pub const FACTS_VERSION: u32 = 1;

/// Totals that tell two analyses of the same Program apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramCounts {
    /// Every Function: memory, external and thunk.
    pub function_count: u64,
    /// Functions in the Program's memory.
    pub memory_function_count: u64,
    /// References of every type.
    pub reference_count: u64,
    /// Defined data items.
    pub defined_data_count: u64,
    /// Instructions.
    pub instruction_count: u64,
    /// Symbols.
    pub symbol_count: u64,
}

/// One address space that a Function or a selector can name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressSpaceFact {
    /// Exact, case-sensitive name.
    pub name: String,
    /// Hexadecimal digits that its offsets are padded to.
    pub offset_digits: u8,
}

/// The document `facts/program.json` (decision D5). The field order is the file's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramFacts {
    /// Always [`FACTS_VERSION`].
    pub facts_version: u32,
    /// Image base, when the Program has memory.
    pub image_base: Option<Address>,
    /// Lowest memory Address, when the Program has memory.
    pub minimum_address: Option<Address>,
    /// Highest memory Address, when the Program has memory.
    pub maximum_address: Option<Address>,
    /// Lines of `functions.jsonl`.
    pub function_count: u64,
    /// Every address space an Address can name, bytewise by name.
    pub address_spaces: Vec<AddressSpaceFact>,
}
