//! Collection pages: the request and the metadata that discloses its bounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part of an ordered collection the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageRequest {
    /// `limit` items after skipping `offset`.
    Window {
        /// Items to skip.
        offset: u64,
        /// Most items to return; at least 1.
        limit: u64,
    },
    /// Every item (`--all`).
    All,
}

/// Page metadata of every collection document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// Identifier of the documented total order.
    pub order: String,
    /// Items skipped.
    pub offset: u64,
    /// Most items returned; null under `--all`.
    pub limit: Option<u64>,
    /// Items returned.
    pub returned: u64,
    /// Items in the collection.
    pub total: u64,
    /// Whether items follow the last one returned.
    pub has_more: bool,
}

impl PageRequest {
    /// Half-open index range of the page within `total` items.
    pub fn range(self, total: u64) -> std::ops::Range<u64> {
        match self {
            Self::All => 0..total,
            Self::Window { offset, limit } => {
                let start = offset.min(total);
                start..offset.saturating_add(limit).min(total)
            }
        }
    }

    /// Metadata of the page within `total` items.
    pub fn describe(self, order: &str, total: u64) -> Page {
        let range = self.range(total);
        let (offset, limit) = match self {
            Self::All => (0, None),
            Self::Window { offset, limit } => (offset, Some(limit)),
        };
        Page {
            order: order.to_owned(),
            offset,
            limit,
            returned: range.end - range.start,
            total,
            has_more: range.end < total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_disclose_their_bounds() {
        let page = PageRequest::Window { offset: 100, limit: 100 }.describe("o", 342);
        assert_eq!((page.returned, page.has_more, page.limit), (100, true, Some(100)));
        let last = PageRequest::Window { offset: 300, limit: 100 }.describe("o", 342);
        assert_eq!((last.returned, last.has_more), (42, false));
        let past = PageRequest::Window { offset: 1_000, limit: u64::MAX }.describe("o", 342);
        assert_eq!((past.offset, past.returned, past.has_more), (1_000, 0, false));
        let all = PageRequest::All.describe("o", 342);
        assert_eq!((all.limit, all.returned, all.has_more), (None, 342, false));
    }
}
