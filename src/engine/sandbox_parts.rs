//! `sandbox.json` in the bundle: what the sandbox needs on a system that keeps nothing in the common places, such as NixOS.
//!
//! Whoever packages ghidr for such a system writes it. Without the file, the places of common distributions are used; a file
//! that cannot be understood is an error, for its paths decide what isolates the worker.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::descriptor::DescriptorError;

/// The file's name inside the bundle.
pub const FILE_NAME: &str = "sandbox.json";
/// Version of the file.
pub const SANDBOX_PARTS_VERSION: u32 = 1;

/// What the packager provides; every path is absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxParts {
    /// Always [`SANDBOX_PARTS_VERSION`].
    pub sandbox_version: u32,
    /// The program that isolates.
    pub bubblewrap: PathBuf,
    /// Everything that JDK, engine and executable load, shown read-only under its own name.
    pub closure: Vec<PathBuf>,
    /// A fontconfig configuration directory, shown instead of the system's.
    pub fonts: PathBuf,
}

impl SandboxParts {
    /// Reads the file of `bundle`; `None` when there is none.
    pub fn read(bundle: &Bundle) -> Result<Option<Self>, DescriptorError> {
        let path = bundle.resolve(Path::new(FILE_NAME));
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(DescriptorError::Unreadable { path, source }),
        };
        let invalid = |reason: String| DescriptorError::Invalid { path: path.clone(), reason };
        let parts: Self = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        if parts.sandbox_version != SANDBOX_PARTS_VERSION {
            return Err(invalid(format!("version {}", parts.sandbox_version)));
        }
        if let Some(relative) = parts.paths().find(|path| !path.is_absolute()) {
            return Err(invalid(format!("'{}' is not absolute", relative.display())));
        }
        Ok(Some(parts))
    }

    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.bubblewrap, &self.fonts].into_iter().chain(&self.closure)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<SandboxParts>, DescriptorError> {
        let bundle = tempfile::tempdir().unwrap();
        std::fs::write(bundle.path().join(FILE_NAME), text).unwrap();
        SandboxParts::read(&Bundle::at(bundle.path().to_owned()))
    }

    const WHOLE: &str =
        r#"{"sandbox_version":1,"bubblewrap":"/b/bwrap","closure":["/s/a","/s/b"],"fonts":"/f"}"#;

    #[test]
    fn a_packager_names_bubblewrap_libraries_and_fonts() {
        let parts = read(WHOLE).unwrap().unwrap();
        assert_eq!((parts.bubblewrap, parts.fonts), ("/b/bwrap".into(), "/f".into()));
        assert_eq!(parts.closure, [PathBuf::from("/s/a"), "/s/b".into()]);
        assert!(SandboxParts::read(&Bundle::at("/nonexistent".into())).unwrap().is_none());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (part, replacement) in [("1", "2"), ("/s/b", "s/b"), ("\"fonts\"", "\"font\""), ("}", "")] {
            let text = WHOLE.replacen(part, replacement, 1);
            assert!(matches!(read(&text), Err(DescriptorError::Invalid { .. })), "{text}");
        }
    }
}
