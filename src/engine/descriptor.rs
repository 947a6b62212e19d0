//! `engine.json` in the bundle: which engine and which JDK set-up prepared, so that finding
//! them costs one small read.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::application_properties::ApplicationProperties;
use crate::domain::digest::ContentDigest;
use crate::domain::engine_layout::EngineLayout;

/// The file's name inside the bundle.
pub const FILE_NAME: &str = "engine.json";
/// Version of the descriptor.
pub const DESCRIPTOR_VERSION: u32 = 1;

/// The bundled engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineDescriptor {
    /// Always [`DESCRIPTOR_VERSION`].
    pub descriptor_version: u32,
    /// Its layout.
    pub layout: EngineLayout,
    /// The jar or directory; a relative path starts at the bundle.
    pub path: PathBuf,
    /// `application.version`.
    pub ghidra_version: String,
    /// `application.revision.ghidra`, or the build date.
    pub ghidra_build: String,
    /// `application.release.name`.
    pub ghidra_release_name: String,
    /// Smallest accepted Java feature version.
    pub java_minimum: u32,
    /// Largest accepted Java feature version.
    pub java_maximum: Option<u32>,
    /// The JDK to run it with, absolute; absent in an archive, which is made before its machine is known.
    pub java_home: Option<PathBuf>,
    /// What the engine would otherwise unpack at every boot; a relative path starts at the
    /// bundle.
    pub cache: Option<PathBuf>,
    /// SHA-256 of the prepared cache's manifest.
    pub cache_sha256: Option<ContentDigest>,
}

/// Why a descriptor cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DescriptorError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The descriptor.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It is not a descriptor of this version.
    #[error("{} is not an engine descriptor of this version: {reason}", path.display())]
    Invalid {
        /// The descriptor.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl EngineDescriptor {
    /// Describes an engine run by the JDK at `java_home`, if that is known; it has no prepared cache yet.
    pub fn new(
        layout: EngineLayout,
        path: PathBuf,
        properties: &ApplicationProperties,
        java_home: Option<PathBuf>,
    ) -> Self {
        Self {
            descriptor_version: DESCRIPTOR_VERSION,
            layout,
            path,
            ghidra_version: properties.version.clone(),
            ghidra_build: properties.build.clone(),
            ghidra_release_name: properties.release_name.clone(),
            java_minimum: properties.java.minimum,
            java_maximum: properties.java.maximum,
            java_home,
            cache: None,
            cache_sha256: None,
        }
    }

    /// Adds a prepared cache, tied to its manifest.
    pub fn with_cache(mut self, path: PathBuf, manifest_sha256: ContentDigest) -> Self {
        self.cache = Some(path);
        self.cache_sha256 = Some(manifest_sha256);
        self
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads the descriptor of `bundle`; `None` when there is none.
    pub fn read(bundle: &Path) -> Result<Option<Self>, DescriptorError> {
        let path = bundle.join(FILE_NAME);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(DescriptorError::Unreadable { path, source }),
        };
        let descriptor: Self = serde_json::from_slice(&bytes)
            .map_err(|error| DescriptorError::Invalid { path: path.clone(), reason: error.to_string() })?;
        if descriptor.descriptor_version != DESCRIPTOR_VERSION {
            let reason = format!("version {}", descriptor.descriptor_version);
            return Err(DescriptorError::Invalid { path, reason });
        }
        Ok(Some(descriptor))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let bundle = tempfile::tempdir().unwrap();
        let properties = ApplicationProperties {
            version: "10.3".into(),
            build: "abc".into(),
            release_name: "PUBLIC".into(),
            java: crate::engine::application_properties::JavaRange { minimum: 17, maximum: None },
        };
        let jar = "engine/ghidra.jar".into();
        let written = EngineDescriptor::new(EngineLayout::SingleJar, jar, &properties, Some("/jdk".into()))
            .with_cache("engine/cache".into(), ContentDigest::of(b""));
        let without_java = EngineDescriptor { java_home: None, ..written.clone() };
        for written in [written, without_java] {
            std::fs::write(bundle.path().join(FILE_NAME), written.to_bytes().unwrap()).unwrap();
            assert_eq!(EngineDescriptor::read(bundle.path()).unwrap(), Some(written));
        }
    }

    #[test]
    fn an_absent_descriptor_is_no_error_and_a_foreign_one_is() {
        let bundle = tempfile::tempdir().unwrap();
        assert!(EngineDescriptor::read(bundle.path()).unwrap().is_none());
        std::fs::write(bundle.path().join(FILE_NAME), r#"{"descriptor_version":1}"#).unwrap();
        assert!(matches!(EngineDescriptor::read(bundle.path()), Err(DescriptorError::Invalid { .. })));
    }
}
