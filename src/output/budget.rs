//! The serialized-byte budget of success documents (PRD "Oversized results").
//!
//! Decides only; publishing the Artifact is the store's work. Never truncates, and never holds
//! more of a document than the budget allows.

use std::io::{self, Write};

use serde::Serialize;

use super::envelope;

/// The budget leaves no room even for a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{required_bytes} bytes are needed, {configured_bytes} are allowed")]
pub struct BudgetTooSmall {
    /// The budget given, in bytes.
    pub configured_bytes: u64,
    /// The smallest budget that can succeed, in bytes.
    pub required_bytes: u64,
}

/// The bytes of `document`, final LF included, when they are at most `max_inline_bytes`. Writing
/// one that is larger ends where it exceeds them.
pub fn inline<T: Serialize>(document: &T, max_inline_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bounded = Bounded { bytes: Vec::new(), limit_bytes: max_inline_bytes, exceeded: false };
    match envelope::write(document, &mut bounded) {
        Ok(()) => Ok(Some(bounded.bytes)),
        Err(_) if bounded.exceeded => Ok(None),
        Err(error) => Err(error),
    }
}

/// How many bytes `document` has, final LF included.
pub fn measure<T: Serialize>(document: &T) -> io::Result<u64> {
    let mut counter = Counter { bytes: 0, limit_bytes: u64::MAX };
    envelope::write(document, &mut counter)?;
    Ok(counter.bytes)
}

/// How many bytes `part` of a document has. Of one larger than `limit_bytes` it is only found that it
/// has more: writing ends there, with what was counted.
pub fn size<T: Serialize>(part: &T, limit_bytes: u64) -> io::Result<u64> {
    let mut counter = Counter { bytes: 0, limit_bytes };
    let written = serde_json::to_writer(&mut counter, part);
    if counter.bytes <= limit_bytes {
        written?;
    }
    Ok(counter.bytes)
}

/// Serialized sizes of a result, final LF included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Of the document itself.
    pub document_bytes: u64,
    /// Of the descriptor that stands for it once it is stored.
    pub descriptor_bytes: u64,
}

/// The refusal of a budget that fits neither. A document may be smaller than its descriptor, so
/// the smaller of both is what a repeated command needs.
pub fn too_small(sizes: Sizes, max_inline_bytes: u64) -> BudgetTooSmall {
    BudgetTooSmall {
        configured_bytes: max_inline_bytes,
        required_bytes: sizes.descriptor_bytes.min(sizes.document_bytes),
    }
}

/// Refuses the first byte over its limit.
struct Bounded {
    bytes: Vec<u8>,
    limit_bytes: u64,
    exceeded: bool,
}

impl Write for Bounded {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        if self.bytes.len() as u64 + chunk.len() as u64 > self.limit_bytes {
            self.exceeded = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps nothing, and takes nothing after what exceeds its limit.
struct Counter {
    bytes: u64,
    limit_bytes: u64,
}

impl Write for Counter {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        self.bytes += chunk.len() as u64;
        if self.bytes > self.limit_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_inclusive() {
        let document = ["a", "b\n"];
        let bytes = envelope::encode(&document).unwrap();
        let size = bytes.len() as u64;
        assert_eq!(measure(&document).unwrap(), size);
        assert_eq!(inline(&document, size).unwrap(), Some(bytes));
        for smaller in 0..size {
            assert_eq!(inline(&document, smaller).unwrap(), None);
        }
    }

    /// Fails when it is asked for its third element.
    struct Endless;

    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::{Error as _, SerializeSeq as _};
            let mut elements = serializer.serialize_seq(None)?;
            elements.serialize_element("first")?;
            elements.serialize_element("second")?;
            Err(S::Error::custom("read too far"))
        }
    }

    #[test]
    fn a_document_over_the_budget_is_not_read_to_its_end() {
        assert_eq!(inline(&Endless, 10).unwrap(), None);
        assert_eq!(inline(&Endless, 100).unwrap_err().to_string(), "read too far");
        assert_eq!(measure(&Endless).unwrap_err().to_string(), "read too far");
        assert_eq!(size(&Endless, 100).unwrap_err().to_string(), "read too far");
        assert!((11..20).contains(&size(&Endless, 10).unwrap()));
        assert_eq!(size(&"12345678", 10).unwrap(), 10);
    }

    #[test]
    fn required_bytes_is_the_smallest_budget_that_succeeds() {
        let required = |descriptor_bytes, document_bytes| {
            too_small(Sizes { document_bytes, descriptor_bytes }, 1).required_bytes
        };
        assert_eq!(required(900, 5_000), 900);
        assert_eq!(required(900, 700), 700);
    }
}
