//! Tagged Path objects: any Linux path, byte-exact, inside JSON (PRD "Structured output").

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path as it appears in every document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "encoding", content = "value")]
pub enum PathValue {
    /// A valid UTF-8 path, unaltered.
    #[serde(rename = "utf8")]
    Utf8(String),
    /// Standard padded Base64 over the exact Unix bytes.
    #[serde(rename = "unix_bytes_base64")]
    UnixBytesBase64(String),
}

impl PathValue {
    /// The path this value stands for; `None` when the Base64 text is malformed.
    pub fn to_path(&self) -> Option<PathBuf> {
        match self {
            Self::Utf8(text) => Some(PathBuf::from(text)),
            Self::UnixBytesBase64(text) => {
                STANDARD.decode(text).ok().map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
            }
        }
    }
}

impl From<&Path> for PathValue {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Utf8(text.to_owned()),
            None => Self::UnixBytesBase64(STANDARD.encode(path.as_os_str().as_bytes())),
        }
    }
}

impl From<PathBuf> for PathValue {
    fn from(path: PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

impl fmt::Display for PathValue {
    /// Human form: bytes that are not UTF-8 appear as `\xNN`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_path() {
            Some(path) => {
                for chunk in path.as_os_str().as_bytes().utf8_chunks() {
                    formatter.write_str(chunk.valid())?;
                    for byte in chunk.invalid() {
                        write!(formatter, "\\x{byte:02x}")?;
                    }
                }
                Ok(())
            }
            None => formatter.write_str("<malformed path>"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn non_utf8_path_b_xff_is_base64_and_round_trips() {
        let path = PathBuf::from(OsString::from_vec(b"/tmp/sample\xff".to_vec()));
        let value = PathValue::from(path.as_path());
        assert_eq!(
            serde_json::to_string(&value).unwrap(),
            r#"{"encoding":"unix_bytes_base64","value":"L3RtcC9zYW1wbGX/"}"#
        );
        assert_eq!(value.to_path(), Some(path));
        assert_eq!(value.to_string(), r"/tmp/sample\xff");
    }

    #[test]
    fn utf8_path_is_unaltered() {
        let value = PathValue::from(Path::new("./a b,ü"));
        assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"encoding":"utf8","value":"./a b,ü"}"#);
    }
}
