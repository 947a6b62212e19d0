//! SHA-256 identities: one newtype per thing that is identified by content.
//!
//! Refuses anything but exactly 64 lowercase hexadecimal digits when parsed, so that a
//! digest can be used as a path component without further checks.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The text was not 64 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 digest is exactly 64 lowercase hexadecimal digits")]
pub struct InvalidDigest;

/// Declares a newtype over a SHA-256 digest with its textual form and schema.
macro_rules! digest_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "DigestText")]
        pub struct $name([u8; 32]);

        impl $name {
            /// Digest of `bytes`.
            pub fn of(bytes: &[u8]) -> Self {
                Self(Sha256::digest(bytes).into())
            }

            /// Takes the raw 32 bytes of a finished SHA-256 computation.
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The raw 32 bytes.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = InvalidDigest;

            fn from_str(text: &str) -> Result<Self, InvalidDigest> {
                parse(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidDigest;

            fn try_from(text: String) -> Result<Self, InvalidDigest> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(digest: $name) -> Self {
                digest.to_string()
            }
        }
    };
}

/// Schema of every digest: 64 lowercase hexadecimal digits.
#[derive(JsonSchema)]
#[schemars(inline)]
struct DigestText(
    #[allow(dead_code)]
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    String,
);

digest_type!(
    /// Identity of a Sample: SHA-256 of the exact staged bytes.
    SampleDigest
);
digest_type!(
    /// Identity of an Analysis Profile: SHA-256 of its canonical JSON.
    ProfileDigest
);
digest_type!(
    /// Identity of an Analysis basis: what is known before Ghidra runs.
    BasisDigest
);
digest_type!(
    /// SHA-256 of any other file or document.
    ContentDigest
);

fn parse(text: &str) -> Result<[u8; 32], InvalidDigest> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(InvalidDigest);
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidDigest)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn text_form_round_trips() {
        let digest = SampleDigest::of(b"");
        assert_eq!(digest.to_string(), EMPTY);
        assert_eq!(EMPTY.parse(), Ok(digest));
    }

    #[test]
    fn refuses_uppercase_short_and_foreign_text() {
        let upper = EMPTY.to_uppercase();
        for text in ["", "e3b0", upper.as_str(), "../../etc/passwd", &"g".repeat(64)] {
            assert_eq!(text.parse::<SampleDigest>(), Err(InvalidDigest), "{text}");
        }
    }
}
