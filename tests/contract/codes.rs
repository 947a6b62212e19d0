//! For every code the test that provokes it through a built executable, and what its reader can do about it.
//!
//! A code without a row, a row without a code, and a test that is not there or does not speak of its code all fail. A
//! code that nothing can provoke does not belong in the contract.

use crate::support::committed;

/// One code.
pub struct Row {
    /// The code.
    pub code: &'static str,
    /// `module::test` that provokes it, below `tests/`.
    pub provoked_by: &'static str,
    /// What its reader can do.
    pub advice: &'static str,
}

const fn row(code: &'static str, provoked_by: &'static str, advice: &'static str) -> Row {
    Row { code, provoked_by, advice }
}

/// Where tests run a built executable as a process.
const EXECUTABLE_TESTS: [&str; 5] = ["attacks", "cli", "ghidra", "clean", "store"];

/// Every error.
pub const ERRORS: &[Row] = &[
    row(
        "address_space_not_found",
        "ghidra::selectors::each_selector_that_names_no_function_has_its_own_error",
        "Use one of the listed spaces.",
    ),
];
