//! The exact state of a file tree: names, kinds, modes, times and contents.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// What one entry is: mode, modification time in nanoseconds, and the digest of its bytes.
pub type State = (u32, i128, Option<String>);

/// Everything at and below `root`; empty when there is nothing.
pub fn state(root: &Path) -> BTreeMap<PathBuf, State> {
    let mut states = BTreeMap::new();
    collect(root, &mut states);
    states
}

fn collect(path: &Path, states: &mut BTreeMap<PathBuf, State>) {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return };
    let modified = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    let digest = metadata.is_file().then(|| sha256(path));
    states.insert(path.to_owned(), (metadata.mode(), modified, digest));
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), states);
        }
    }
}

/// SHA-256 of a file, in lowercase hexadecimal.
pub fn sha256(path: &Path) -> String {
    hex::encode(Sha256::digest(std::fs::read(path).unwrap()))
}

/// Names of the entries of a directory; empty when there is none.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Changes one byte in the middle of a file, leaving its size.
pub fn flip_byte(path: &Path) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let middle = file.metadata().unwrap().len() / 2;
    let mut byte = [0];
    file.read_exact_at(&mut byte, middle).unwrap();
    file.write_all_at(&[byte[0] ^ 1], middle).unwrap();
}
