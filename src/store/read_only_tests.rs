//! A store on a read-only file system still answers from what it has (decision D6).
//!
//! The read-only file system is made with bubblewrap: the outer test runs the inner one in it.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use super::hashing::to_the_end;
use super::testing::{TestStore, id, profile};
use super::{Store, StoreError, StoreLocation};
use crate::domain::digest::{BasisDigest, SampleDigest};
use crate::domain::store_source::StoreSource;

const STORE_VARIABLE: &str = "GHIDR_TEST_READ_ONLY_STORE";
const INNER: &str = "store::read_only_tests::inner";

fn run_inner(test: &TestStore) {
    let output = Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", INNER, "--ignored"])
        .env(STORE_VARIABLE, test.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}

#[test]
fn facts_are_served_from_a_read_only_store_with_and_without_lock_files() {
    let test = TestStore::new();
    test.promote(2, 1);
    run_inner(&test);
    std::fs::remove_dir_all(test.path().join("locks")).unwrap();
    run_inner(&test);
}

#[test]
#[ignore = "run inside a read-only file system by the test above"]
fn inner() {
    let path = std::env::var_os(STORE_VARIABLE).unwrap().into();
    let location = StoreLocation { path, source: StoreSource::Cli };
    let store = Store::open_existing(&location).unwrap().unwrap();
    let sample = SampleDigest::of(super::testing::SAMPLE_BYTES);
    let guard = store.read_lock(sample, profile(2).basis().digest().unwrap()).unwrap();
    let analysis = store.find_analysis(&guard).unwrap().unwrap();
    assert_eq!(analysis.functions().unwrap().read_page(0..9, &to_the_end).unwrap().len(), 3);
    analysis.verify().unwrap();

    let unwritable = |outcome: Result<(), StoreError>| {
        assert!(matches!(outcome, Err(StoreError::Unwritable { .. })), "{outcome:?}");
    };
    unwritable(store.begin_staging(id(1), &guard).map(drop));
    unwritable(store.probe_writable(&guard));
    unwritable(store.build_lock(sample, BasisDigest::from_bytes([9; 32])).map(drop));
    let missing = StoreLocation { path: location.path.join("sub"), source: StoreSource::Cli };
    unwritable(Store::open_or_create(&missing).map(drop));
}
