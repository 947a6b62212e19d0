//! Bounded lists that disclose their bound (PRD principle 10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::CANDIDATE_LIMIT;

/// At most twenty items of a possibly longer list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Candidates<T> {
    /// The first items, in the list's documented order.
    #[schemars(extend("maxItems" = CANDIDATE_LIMIT))]
    pub items: Vec<T>,
    /// How many there are in all.
    pub total: u64,
    /// Whether some are not shown.
    pub has_more: bool,
}

impl<T> Candidates<T> {
    /// Keeps the first [`CANDIDATE_LIMIT`] items.
    pub fn from_all(all: impl IntoIterator<Item = T>) -> Self {
        let mut items = Vec::new();
        let mut total = 0;
        for item in all {
            total += 1;
            if items.len() < CANDIDATE_LIMIT {
                items.push(item);
            }
        }
        let has_more = total > items.len() as u64;
        Self { items, total, has_more }
    }

    /// Whether a list received from an untrusted peer respects the bound and is coherent.
    pub fn is_bounded(&self) -> bool {
        let shown = self.items.len() as u64;
        self.items.len() <= CANDIDATE_LIMIT && shown <= self.total && self.has_more == (self.total > shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_of_twenty_one_say_that_one_is_missing() {
        let all = Candidates::from_all(0..21);
        assert_eq!((all.items.len(), all.total, all.has_more), (20, 21, true));
        assert!(!Candidates::from_all(0..20).has_more);
        assert!(!Candidates { items: vec![1], total: 2, has_more: false }.is_bounded());
    }
}
