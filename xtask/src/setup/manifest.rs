//! The manifest of a tree of files that are never modified: path, size and SHA-256 of each.
//!
//! A tree is whole only if exactly the listed files are there with the listed content; one more is damage too,
//! because the engine uses whatever it finds under a name it wants.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Content;
use crate::error::TaskError;
use crate::files;

const MANIFEST_VERSION: u32 = 1;

/// The files of a tree by their relative path, in bytewise order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeManifest {
    manifest_version: u32,
    files: BTreeMap<String, Content>,
}

impl TreeManifest {
    /// A manifest of the given files.
    pub fn new(files: BTreeMap<String, Content>) -> Self {
        Self { manifest_version: MANIFEST_VERSION, files }
    }

    /// Reads the tree at `root`, leaving out the relative path `except`.
    pub fn of_tree(root: &Path, except: &str) -> Result<Self, TaskError> {
        let mut files = BTreeMap::new();
        for relative in files::regular_files(root)? {
            let path = root.join(&relative);
            let Some(name) = relative.to_str() else {
                return Err(TaskError::Refused(format!("{} has no UTF-8 name", path.display())));
            };
            if name != except {
                files.insert(name.to_owned(), Content::of_file(&path)?);
            }
        }
        Ok(Self::new(files))
    }

    /// Parses what [`Self::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8], what: &Path) -> Result<Self, TaskError> {
        let damaged = |reason: String| TaskError::Damaged { what: what.display().to_string(), reason };
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if manifest.manifest_version == MANIFEST_VERSION {
            Ok(manifest)
        } else {
            Err(damaged(format!("manifest version {}", manifest.manifest_version)))
        }
    }

    /// The bytes to publish; the same manifest always gives the same ones.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TaskError> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| TaskError::Refused(format!("cannot encode a manifest: {error}")))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The listed files.
    pub fn files(&self) -> &BTreeMap<String, Content> {
        &self.files
    }

    /// The summed size of the listed files.
    pub fn total_bytes(&self) -> u64 {
        self.files.values().map(|content| content.bytes).sum()
    }

    /// Reads every file below `root` (but `except`) and compares.
    pub fn verify(&self, root: &Path, except: &str) -> Result<(), TaskError> {
        let found = Self::of_tree(root, except)?;
        for (name, expected) in &self.files {
            let path = root.join(name);
            match found.files.get(name) {
                Some(content) => expected.compare(content, &path)?,
                None => return Err(unexpected(&path, "it is missing")),
            }
        }
        match found.files.keys().find(|name| !self.files.contains_key(*name)) {
            Some(name) => Err(unexpected(&root.join(name), "it is not in the manifest")),
            None => Ok(()),
        }
    }
}

fn unexpected(path: &Path, reason: &str) -> TaskError {
    TaskError::Damaged { what: path.display().to_string(), reason: reason.to_owned() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_changed_a_missing_and_an_added_file_are_damage() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a/b");
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(&file, "content").unwrap();
        let manifest = TreeManifest::of_tree(root.path(), "manifest.json").unwrap();
        assert_eq!(manifest.files().keys().collect::<Vec<_>>(), ["a/b"]);
        fs::write(root.path().join("manifest.json"), "excepted").unwrap();
        manifest.verify(root.path(), "manifest.json").unwrap();

        fs::write(&file, "contenT").unwrap();
        assert!(manifest.verify(root.path(), "manifest.json").is_err());
        fs::write(&file, "content").unwrap();
        fs::write(root.path().join("more"), "").unwrap();
        assert!(manifest.verify(root.path(), "manifest.json").is_err());
        fs::remove_file(root.path().join("more")).unwrap();
        fs::remove_file(&file).unwrap();
        assert!(manifest.verify(root.path(), "manifest.json").is_err());
    }

    #[test]
    fn bytes_are_read_back_strictly() {
        let path = Path::new("m");
        let manifest = TreeManifest::new(BTreeMap::from([("x".to_owned(), Content::of_bytes(b"x"))]));
        let bytes = manifest.to_bytes().unwrap();
        assert_eq!(TreeManifest::from_bytes(&bytes, path).unwrap(), manifest);
        let text = String::from_utf8(bytes).unwrap();
        for damaged in [
            text.replace("\"manifest_version\": 1", "\"manifest_version\": 2"),
            text.replace("\"files\"", "\"fils\""),
            text.get(..20).unwrap().to_owned(),
        ] {
            assert!(TreeManifest::from_bytes(damaged.as_bytes(), path).is_err(), "{damaged}");
        }
    }
}
