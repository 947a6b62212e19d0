//! One Function as `functions` lists it and as the facts file keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::Address;

/// Where a Function lives. The declaration order is the listing order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionLocation {
    /// In the Program's memory.
    Memory,
    /// In another module; Ghidra knows only its name.
    External,
}

/// One Function of a list.
// The field order is the order of the facts file, whose lines this type re-serialises byte for
// byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionItem {
    /// Exact basename, Ghidra's `getName(false)`.
    pub name: String,
    /// Exact fully qualified name, Ghidra's `getName(true)`.
    pub qualified_name: String,
    /// Entry Address; unique within an Analysis.
    pub entry: Address,
    /// Number of addresses in the Function's body.
    pub body_address_count: u64,
    /// Whether the Function is in memory or external.
    pub location: FunctionLocation,
    /// Ghidra's `isExternal()`.
    pub is_external: bool,
    /// Ghidra's `isThunk()`.
    pub is_thunk: bool,
    /// Entry of a thunk's immediate target, Ghidra's `getThunkedFunction(false)`, when there is one.
    pub thunk_target_entry: Option<Address>,
    /// Whether `decompile` accepts this Function.
    pub decompilable: bool,
}

impl FunctionItem {
    /// Key of the contract's total order `location_then_entry_ascending`.
    pub fn order_key(&self) -> (FunctionLocation, &Address) {
        (self.location, &self.entry)
    }

    /// A decompilable Function of one address in memory, for tests.
    #[cfg(test)]
    pub fn in_memory(name: &str, qualified_name: &str, entry: Address) -> Self {
        Self {
            name: name.into(),
            qualified_name: qualified_name.into(),
            entry,
            body_address_count: 1,
            location: FunctionLocation::Memory,
            is_external: false,
            is_thunk: false,
            thunk_target_entry: None,
            decompilable: true,
        }
    }
}
