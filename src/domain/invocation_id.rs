//! The random 128-bit identity of one invocation of `ghidr`.
//!
//! Names staging directories, Diagnostic Logs and protocol messages; never derived from a
//! clock or a process id, which a hostile local user could predict.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The text was not 32 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an invocation id is exactly 32 lowercase hexadecimal digits")]
pub struct InvalidInvocationId;

/// 128 random bits, written as 32 lowercase hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "IdentityText")]
pub struct InvocationId([u8; 16]);

/// Schema of every invocation identity.
#[derive(JsonSchema)]
#[schemars(inline)]
struct IdentityText(
    #[allow(dead_code)]
    #[schemars(regex(pattern = r"^[0-9a-f]{32}$"))]
    String,
);

impl InvocationId {
    /// Wraps 16 random bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for InvocationId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl FromStr for InvocationId {
    type Err = InvalidInvocationId;

    fn from_str(text: &str) -> Result<Self, InvalidInvocationId> {
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(InvalidInvocationId);
        }
        let mut bytes = [0; 16];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidInvocationId)?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for InvocationId {
    type Error = InvalidInvocationId;

    fn try_from(text: String) -> Result<Self, InvalidInvocationId> {
        text.parse()
    }
}

impl From<InvocationId> for String {
    fn from(id: InvocationId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips_and_refuses_anything_else() {
        let id = InvocationId::from_bytes([0xab; 16]);
        assert_eq!(id.to_string(), "ab".repeat(16));
        assert_eq!("ab".repeat(16).parse(), Ok(id));
        for text in ["", "AB", &"AB".repeat(16), &"ab".repeat(17), "../x"] {
            assert_eq!(text.parse::<InvocationId>(), Err(InvalidInvocationId), "{text}");
        }
    }
}
