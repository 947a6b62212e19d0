//! Rules about the tree itself: documentation, sizes, layers, tags, forbidden words, dependencies.

mod dependencies;
mod files;
mod invariants;
mod layers;
mod words;

use std::path::PathBuf;

use crate::support::committed;

/// Every Rust file of the project with its text.
fn rust_files() -> Vec<(PathBuf, String)> {
    ["src", "tests", "xtask/src", "jvm-bridge/src", "jvm-bridge/tests"]
        .iter()
        .flat_map(|root| texts(root, ".rs"))
        .collect()
}

/// Every file below a directory whose name ends so, with its text.
fn texts(directory: &str, suffix: &str) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        let bytes = std::fs::read(committed::project().join(&path)).unwrap();
        String::from_utf8(bytes).ok().map(|text| (path, text))
    };
    committed::files_below(directory, suffix).into_iter().filter_map(read).collect()
}

/// The part of a Rust file that ships.
fn production(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}
