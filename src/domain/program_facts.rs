//! The Program facts file: what `inspect` and selector errors need without a JVM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::Address;

/// Version of the facts files.
pub const FACTS_VERSION: u32 = 1;

/// One address space a selector can name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressSpaceFact {
    /// Ghidra's exact name.
    pub name: String,
    /// Hexadecimal digits an offset in it is padded to.
    pub offset_digits: u8,
}

/// Contents of `facts/program.json`; the field order is the file's.
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
    /// Functions: memory, external and thunks.
    pub function_count: u64,
    /// Address spaces, bytewise by name.
    pub address_spaces: Vec<AddressSpaceFact>,
}
