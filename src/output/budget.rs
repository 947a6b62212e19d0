//! The serialized-byte budget of success documents (PRD "Oversized results").
//!
//! Decides only; publishing the Artifact is the store's work. Never truncates.

/// What becomes of a document of a given size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// It stands on stdout.
    Inline,
    /// It becomes an Artifact, and its descriptor stands on stdout.
    Spill,
}

/// The budget leaves no room even for a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{required_bytes} bytes are needed, {configured_bytes} are allowed")]
pub struct BudgetTooSmall {
    /// The budget given, in bytes.
    pub configured_bytes: u64,
    /// The smallest budget that can succeed, in bytes.
    pub required_bytes: u64,
}

/// Whether a document of `document_bytes`, final LF included, fits `max_inline_bytes`.
pub fn place(document_bytes: u64, max_inline_bytes: u64) -> Placement {
    if document_bytes <= max_inline_bytes { Placement::Inline } else { Placement::Spill }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_inclusive() {
        assert_eq!(place(100, 100), Placement::Inline);
        assert_eq!(place(101, 100), Placement::Spill);
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
