//! What may be left of a store after everything was removed (decision D4).

use std::path::Path;

use super::tree;

const RECORD: &str = "store.json";
const FOLDERS: [&str; 8] =
    ["analyses", "artifacts", "cleanup", "diagnostics", "locks", "quarantine", "results", "staging"];

/// Fails unless the store holds its record and empty layout folders, and nothing else.
pub fn check(store: &Path, what: &str) {
    let names = tree::names(store);
    assert!(names.iter().any(|name| name == RECORD), "{what}: the record is gone: {names:?}");
    let foreign: Vec<_> =
        names.iter().filter(|name| *name != RECORD && !FOLDERS.contains(&name.as_str())).collect();
    assert!(foreign.is_empty(), "{what}: {foreign:?}");
    let left: Vec<_> =
        tree::state(store).into_keys().filter(|path| path != store && path.parent() != Some(store)).collect();
    assert!(left.is_empty(), "{what}: left after everything was removed: {left:#?}");
}
