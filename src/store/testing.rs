//! A store in a temporary directory, for the unit tests of this module.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::open::Store;
use super::resolve::StoreLocation;
use crate::domain::invocation_id::InvocationId;
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
