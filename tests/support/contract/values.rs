//! Values that documents share, read strictly: nothing unknown, nothing missing, nothing misspelt.
#![allow(dead_code, reason = "fields exist to be required")]

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, de::DeserializeOwned};

/// A field that must be there and may be null.
#[derive(Debug, Deserialize)]
pub struct Nullable<T>(pub Option<T>);

/// Reads an optional field, which is never null when it is there.
pub fn present<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Lowercase hexadecimal of a fixed length.
#[derive(Debug)]
pub struct Hex<const DIGITS: usize>;

impl<'de, const DIGITS: usize> Deserialize<'de> for Hex<DIGITS> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() == DIGITS && hexadecimal { Ok(Self) } else { Err(D::Error::custom(text)) }
    }
}

/// A SHA-256 digest.
pub type Sha256 = Hex<64>;

/// `0x` and 1 to 16 lowercase hexadecimal digits.
#[derive(Debug)]
pub struct Offset;

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.strip_prefix("0x").unwrap_or_default();
        let hexadecimal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if hexadecimal && (1..=16).contains(&digits.len()) { Ok(Self) } else { Err(D::Error::custom(text)) }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    pub space: String,
    pub offset: Offset,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "encoding", content = "value", rename_all = "snake_case", deny_unknown_fields)]
pub enum Path {
    Utf8(String),
    UnixBytesBase64(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidates<T> {
    pub items: Vec<T>,
    pub total: u64,
    pub has_more: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    Memory,
    External,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionCandidate {
    name: String,
    qualified_name: String,
    entry: Address,
    location: Location,
    is_external: bool,
    is_thunk: bool,
    decompilable: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetCandidate {
    loader: String,
    processor_language: String,
    compiler_specification: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiagnosticLog {
    path: Path,
    bytes: u64,
    sha256: Sha256,
    media_type: JsonMediaType,
    sensitive: AlwaysTrue,
}

#[derive(Debug, Deserialize)]
pub enum JsonMediaType {
    #[serde(rename = "application/json")]
    Json,
}

#[derive(Debug)]
pub struct AlwaysTrue;

impl<'de> Deserialize<'de> for AlwaysTrue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if bool::deserialize(from)? { Ok(Self) } else { Err(D::Error::custom("false")) }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxBackend {
    Bubblewrap,
    External,
    Off,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxVerification {
    Verified,
    Unverified,
    Disabled,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    HiddenFiles,
    ReadOnlyFiles,
    DeviceAttributes,
    SizedFileSystems,
    UserNamespace,
    MountNamespace,
    ProcessNamespace,
    NetworkNamespace,
    IpcNamespace,
    HostNameNamespace,
    ControlGroupNamespace,
    FirstProcess,
    OwnSession,
    EndsWithParent,
    Capabilities,
    Environment,
    Descriptors,
    FileLimits,
    Sockets,
    SystemCalls,
    NewSystemCalls,
    NestedUserNamespaces,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreSource {
    Cli,
    Environment,
    Xdg,
    HomeFallback,
}
