//! `install.json`: what an installation consists of. It marks `lib/ghidr` as ours to replace.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Content;
use crate::error::TaskError;
use crate::setup::manifest::TreeManifest;

/// The file's name inside `lib/ghidr`.
pub const FILE_NAME: &str = "install.json";

const INSTALL_VERSION: u32 = 1;

/// The record of one installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstallManifest {
    install_version: u32,
    ghidr_version: String,
    /// `bin/ghidr`.
    executable: Content,
    /// Everything else in `lib/ghidr`.
    tree: TreeManifest,
}

impl InstallManifest {
    /// Records an executable and the finished tree at `tree`.
    pub fn record(executable: &Path, tree: &Path) -> Result<Self, TaskError> {
        Ok(Self {
            install_version: INSTALL_VERSION,
            ghidr_version: env!("CARGO_PKG_VERSION").to_owned(),
            executable: Content::of_file(executable)?,
            tree: TreeManifest::of_tree(tree, FILE_NAME)?,
        })
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TaskError> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| TaskError::Refused(format!("cannot encode {FILE_NAME}: {error}")))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Whether the directory `tree` was made by an installation of this project.
pub fn is_ours(tree: &Path) -> bool {
    std::fs::read(tree.join(FILE_NAME)).is_ok_and(|bytes| serde_json::from_slice::<Mark>(&bytes).is_ok())
}

/// The part of the record that every version has.
#[derive(Deserialize)]
struct Mark {
    #[serde(rename = "install_version")]
    _install_version: u32,
    #[serde(rename = "ghidr_version")]
    _ghidr_version: String,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_recorded_tree_is_ours_and_any_other_is_not() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("ghidr");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("x"), "x").unwrap();
        assert!(!is_ours(&tree));
        fs::write(tree.join(FILE_NAME), "{\"name\": \"another program\"}").unwrap();
        assert!(!is_ours(&tree));
        let manifest = InstallManifest::record(&tree.join("x"), &tree).unwrap();
        assert_eq!(manifest.tree.files().len(), 1);
        fs::write(tree.join(FILE_NAME), manifest.to_bytes().unwrap()).unwrap();
        assert!(is_ours(&tree));
    }
}
