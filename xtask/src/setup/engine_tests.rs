//! Damage and interruption of the engine download, with fetchers that cause them.
#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::fs;

use super::*;
use crate::pins::ENGINE;

/// `abc` in place of the real jar.
const PIN: EnginePin = EnginePin {
    bytes: 3,
    sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ..ENGINE
};

/// Delivers the given contents one after the other; `None` is a failing download.
struct Script {
    deliveries: RefCell<Vec<Option<&'static [u8]>>>,
    forgotten: Cell<u32>,
}

impl Script {
    fn new(deliveries: &[Option<&'static [u8]>]) -> Self {
        let mut deliveries = deliveries.to_vec();
        deliveries.reverse();
        Self { deliveries: RefCell::new(deliveries), forgotten: Cell::new(0) }
    }
}

impl Fetch for Script {
    fn fetch(&self, _pin: &EnginePin, destination: &Path) -> Result<(), TaskError> {
        match self.deliveries.borrow_mut().pop() {
            Some(Some(bytes)) => {
                fs::write(destination, bytes).unwrap();
                Ok(())
            }
            Some(None) => {
                fs::write(destination, b"a").unwrap();
                Err(TaskError::Refused("connection lost".to_owned()))
            }
            None => Err(TaskError::Refused("fetched too often".to_owned())),
        }
    }

    fn forget(&self, _pin: &EnginePin) -> Result<(), TaskError> {
        self.forgotten.set(self.forgotten.get() + 1);
        Ok(())
    }
}

#[test]
fn a_good_download_is_fetched_once() {
    let root = tempfile::tempdir().unwrap();
    let jar = ensure(root.path(), &PIN, &Script::new(&[Some(b"abc")])).unwrap();
    assert_eq!(fs::read(&jar).unwrap(), b"abc");
    assert_eq!(ensure(root.path(), &PIN, &Script::new(&[])).unwrap(), jar);
}

#[test]
fn a_damaged_download_is_forgotten_and_fetched_again() {
    let root = tempfile::tempdir().unwrap();
    let script = Script::new(&[Some(b"abd"), Some(b"abc")]);
    let jar = ensure(root.path(), &PIN, &script).unwrap();
    assert_eq!(fs::read(jar).unwrap(), b"abc");
    assert_eq!(script.forgotten.get(), 1);
}

#[test]
fn two_damaged_downloads_are_an_error_that_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let error = ensure(root.path(), &PIN, &Script::new(&[Some(b"ab"), Some(b"xyz")])).unwrap_err();
    assert!(error.to_string().contains("SHA-256"), "{error}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_cached_jar_that_rotted_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("ghidra.jar"), b"ab").unwrap();
    let script = Script::new(&[Some(b"abc")]);
    let jar = ensure(root.path(), &PIN, &script).unwrap();
    assert_eq!(fs::read(jar).unwrap(), b"abc");
    assert_eq!(script.forgotten.get(), 1, "the fetcher's copy must go too");
}

#[test]
fn an_interrupted_download_is_never_taken_for_complete() {
    let root = tempfile::tempdir().unwrap();
    assert!(ensure(root.path(), &PIN, &Script::new(&[None])).is_err());
    assert!(!root.path().join("ghidra.jar").exists());
    let script = Script::new(&[Some(b"abc")]);
    ensure(root.path(), &PIN, &script).unwrap();
    assert!(script.deliveries.borrow().is_empty(), "the second run must fetch");
}
