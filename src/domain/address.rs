//! Addresses: an address space by its exact name and an offset padded to the space's width.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The offset text was not canonical.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an offset is 0x followed by 1 to 16 lowercase hexadecimal digits")]
pub struct InvalidOffset;

/// An offset inside an address space, together with the digits it is written with.
///
/// Compares and orders as an unsigned number.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "OffsetText")]
pub struct Offset {
    value: u64,
    digits: u8,
}

/// Schema of every offset.
#[derive(JsonSchema)]
#[schemars(inline)]
struct OffsetText(
    #[allow(dead_code)]
    #[schemars(regex(pattern = r"^0x[0-9a-f]{1,16}$"))]
    String,
);

impl Offset {
    /// An offset written with at least `digits` hexadecimal digits.
    pub const fn new(value: u64, digits: u8) -> Self {
        Self { value, digits }
    }

    /// The unsigned number.
    pub const fn value(self) -> u64 {
        self.value
    }

    /// How many hexadecimal digits the offset is padded to.
    pub const fn digits(self) -> u8 {
        self.digits
    }
}

impl PartialEq for Offset {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Offset {}

impl PartialOrd for Offset {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Offset {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.value.cmp(&other.value)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "0x{:0width$x}", self.value, width = usize::from(self.digits))
    }
}

impl std::str::FromStr for Offset {
    type Err = InvalidOffset;

    fn from_str(text: &str) -> Result<Self, InvalidOffset> {
        let digits = text.strip_prefix("0x").ok_or(InvalidOffset)?;
        let canonical = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let count = u8::try_from(digits.len()).map_err(|_| InvalidOffset)?;
        if !canonical || !(1..=16).contains(&count) {
            return Err(InvalidOffset);
        }
        let value = u64::from_str_radix(digits, 16).map_err(|_| InvalidOffset)?;
        Ok(Self { value, digits: count })
    }
}

impl TryFrom<String> for Offset {
    type Error = InvalidOffset;

    fn try_from(text: String) -> Result<Self, InvalidOffset> {
        text.parse()
    }
}

impl From<Offset> for String {
    fn from(offset: Offset) -> Self {
        offset.to_string()
    }
}

/// An Address as every document carries it.
///
/// Ordered by space name bytewise, then by offset as an unsigned number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    /// Ghidra's exact, case-sensitive address-space name.
    pub space: String,
    /// Offset padded to the width of the space.
    pub offset: Offset,
}

impl fmt::Display for Address {
    /// The spelling that `--address` takes.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.space, self.offset)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn offsets_order_as_unsigned_numbers_and_keep_their_padding() {
        let high: Offset = "0xffffffff80000000".parse().unwrap();
        let low: Offset = "0x00401120".parse().unwrap();
        assert!(high > low);
        assert_eq!(low.to_string(), "0x00401120");
        assert_eq!(low, Offset::new(0x40_1120, 16));
    }

    #[test]
    fn non_canonical_offsets_are_refused() {
        for text in ["401120", "0X1", "0xAB", "0x", "0x00000000000000001", "0x+1", "-0x1", "0x 1"] {
            assert_eq!(text.parse::<Offset>(), Err(InvalidOffset), "{text}");
        }
    }
}
