//! `engine.json`: tells `ghidr` which engine and which JDK the tree beside it uses, so that it need not look.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::TaskError;

/// The file's name inside `lib/ghidr`.
pub const FILE_NAME: &str = "engine.json";

const DESCRIPTOR_VERSION: u32 = 1;

/// How the engine is laid out on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// One `ghidra.jar` with everything in it.
    SingleJar,
    /// An installation directory, as released.
    InstallationDirectory,
}

/// The descriptor's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    descriptor_version: u32,
    /// The engine's layout.
    pub layout: Layout,
    /// The jar or directory; relative paths start at `lib/ghidr`.
    pub path: PathBuf,
    /// `application.version`.
    pub ghidra_version: String,
    /// `application.revision.ghidra`, or the build date where there is none.
    pub ghidra_build: String,
    /// `application.release.name`, which with the version names the engine's settings directory.
    pub ghidra_release_name: String,
    /// Smallest accepted Java feature version.
    pub java_minimum: u32,
    /// Largest accepted Java feature version.
    pub java_maximum: Option<u32>,
    /// The JDK to run the engine with, absolute.
    pub java_home: PathBuf,
    /// The prepared cache, if the layout has one; relative paths start at `lib/ghidr`.
    pub cache: Option<PathBuf>,
    /// SHA-256 of the prepared cache's manifest.
    pub cache_sha256: Option<String>,
}

/// What a descriptor says about the engine itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFacts {
    /// See [`Descriptor::ghidra_version`].
    pub ghidra_version: String,
    /// See [`Descriptor::ghidra_build`].
    pub ghidra_build: String,
    /// See [`Descriptor::ghidra_release_name`].
    pub ghidra_release_name: String,
    /// The Java versions it accepts.
    pub java: crate::setup::jdk::JavaRange,
}

impl Descriptor {
    /// Describes an engine run by the JDK at `java_home`; it has no prepared cache yet.
    pub fn new(layout: Layout, path: PathBuf, facts: &EngineFacts, java_home: &Path) -> Self {
        Self {
            descriptor_version: DESCRIPTOR_VERSION,
            layout,
            path,
            ghidra_version: facts.ghidra_version.clone(),
            ghidra_build: facts.ghidra_build.clone(),
            ghidra_release_name: facts.ghidra_release_name.clone(),
            java_minimum: facts.java.minimum,
            java_maximum: facts.java.maximum,
            java_home: java_home.to_path_buf(),
            cache: None,
            cache_sha256: None,
        }
    }

    /// Adds a prepared cache, tied to its manifest.
    pub fn with_cache(mut self, path: PathBuf, manifest_sha256: &str) -> Self {
        self.cache = Some(path);
        self.cache_sha256 = Some(manifest_sha256.to_owned());
        self
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TaskError> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| TaskError::Refused(format!("cannot encode {FILE_NAME}: {error}")))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::setup::jdk::JavaRange;

    fn descriptor() -> Descriptor {
        let facts = EngineFacts {
            ghidra_version: "10.3".to_owned(),
            ghidra_build: "abc".to_owned(),
            ghidra_release_name: "PUBLIC".to_owned(),
            java: JavaRange { minimum: 17, maximum: None },
        };
        Descriptor::new(Layout::SingleJar, "engine/ghidra.jar".into(), &facts, Path::new("/jdk"))
    }

    #[test]
    fn every_field_is_written_null_ones_too() {
        let value: serde_json::Value = serde_json::from_slice(&descriptor().to_bytes().unwrap()).unwrap();
        assert_eq!(
            value,
            serde_json::json!({
                "descriptor_version": 1, "layout": "single_jar", "path": "engine/ghidra.jar",
                "ghidra_version": "10.3", "ghidra_build": "abc", "ghidra_release_name": "PUBLIC", "java_minimum": 17, "java_maximum": null,
                "java_home": "/jdk", "cache": null, "cache_sha256": null
            })
        );
    }

    #[test]
    fn it_is_read_back_and_unknown_fields_are_refused() {
        let text = String::from_utf8(descriptor().to_bytes().unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Descriptor>(&text).unwrap(), descriptor());
        let extended = text.replace("\"path\"", "\"pathx\": 1, \"path\"");
        assert!(serde_json::from_str::<Descriptor>(&extended).is_err());
    }
}
