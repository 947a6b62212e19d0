//! A store in a temporary directory, for the unit tests of this module.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::document;
use super::facts::{FactsClaim, FileClaim};
use super::open::Store;
use super::resolve::StoreLocation;
use crate::domain::address::{Address, Offset};
use crate::domain::digest::ContentDigest;
use crate::domain::function::{FunctionItem, FunctionLocation};
use crate::domain::invocation_id::InvocationId;
use crate::domain::program::{AddressSpaceFact, FACTS_VERSION, ProgramCounts, ProgramFacts};
use crate::domain::store_source::StoreSource;

/// A fresh store; its directory's parent is private to the test as well.
pub(super) struct TestStore {
    pub store: Store,
    _temp: tempfile::TempDir,
}

impl TestStore {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let location = StoreLocation { path: temp.path().join("store"), source: StoreSource::Cli };
        Self { store: Store::open_or_create(&location).unwrap(), _temp: temp }
    }

    pub fn path(&self) -> &Path {
        &self.store.location().path
    }

    /// The same store through descriptors of its own, as another process would have it.
    pub fn reopen(&self) -> Store {
        Store::open_or_create(self.store.location()).unwrap()
    }
}

pub(super) fn id(byte: u8) -> InvocationId {
    InvocationId::from_bytes([byte; 16])
}

pub(super) fn function(name: &str, offset: u64) -> FunctionItem {
    FunctionItem {
        name: name.into(),
        qualified_name: name.into(),
        entry: Address { space: "ram".into(), offset: Offset::new(offset, 16) },
        body_address_count: 1,
        location: FunctionLocation::Memory,
        is_external: false,
        is_thunk: false,
        thunk_target_entry: None,
        decompilable: true,
    }
}

pub(super) fn program_facts(function_count: u64) -> ProgramFacts {
    let space = |name: &str, offset_digits| AddressSpaceFact { name: name.into(), offset_digits };
    ProgramFacts {
        facts_version: FACTS_VERSION,
        image_base: Some(Address { space: "ram".into(), offset: Offset::new(0x10_0000, 16) }),
        minimum_address: None,
        maximum_address: None,
        function_count,
        address_spaces: vec![space("EXTERNAL", 8), space("ram", 16)],
    }
}

pub(super) fn facts_claim(bytes: &[u8]) -> FileClaim {
    FileClaim { bytes: bytes.len() as u64, sha256: ContentDigest::of(bytes) }
}

/// Writes both facts files and gives a true claim about them.
pub(super) fn write_facts(
    directory: &Path,
    program: &ProgramFacts,
    functions: &[u8],
) -> (FactsClaim, ProgramCounts) {
    let program_bytes = document::encode(program).unwrap();
    std::fs::write(directory.join("program.json"), &program_bytes).unwrap();
    std::fs::write(directory.join("functions.jsonl"), functions).unwrap();
    let text = String::from_utf8_lossy(functions);
    let function_count = text.matches('\n').count() as u64;
    let claim = FactsClaim {
        program: facts_claim(&program_bytes),
        functions: facts_claim(functions),
        function_count,
    };
    let counts = ProgramCounts {
        function_count,
        memory_function_count: text.matches("\"location\":\"memory\"").count() as u64,
        reference_count: 0,
        defined_data_count: 0,
        instruction_count: 0,
        symbol_count: 0,
    };
    (claim, counts)
}
