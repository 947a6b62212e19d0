//! Which data a cleanup covers, and the name that records it.
//!
//! A transaction's directory is named after its target, so one `mkdir` both creates the
//! transaction and records, durably and indivisibly, what it is about.

use std::ffi::OsStr;

use super::super::layout;
use crate::domain::digest::SampleDigest;
use crate::domain::invocation_id::InvocationId;

/// Where stored data is, in the order in which it is moved away and deleted.
pub(super) const AREAS: [&str; 5] =
    [layout::ANALYSES, layout::RESULTS, layout::ARTIFACTS, layout::DIAGNOSTICS, layout::QUARANTINE];

/// What stands for everything in a transaction's name.
const ALL: &str = "all";

/// Which data a cleanup covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanupScope {
    /// The data of one Sample, of every Profile.
    Sample(SampleDigest),
    /// All data of the store.
    All,
}

impl CleanupScope {
    /// Whether an entry of an area belongs to this.
    pub(super) fn covers_entry(self, name: &OsStr) -> bool {
        match self {
            Self::Sample(sample) => name == sample.to_string().as_str(),
            Self::All => true,
        }
    }

    /// Whether this is to finish the transaction of that name. What no transaction of ours is
    /// called belongs to everything.
    pub(super) fn covers_transaction(self, name: &OsStr) -> bool {
        self == Self::All || target_of(name) == Some(self)
    }

    /// The name of a transaction on this target.
    pub(super) fn transaction_name(self, id: InvocationId) -> String {
        match self {
            Self::Sample(sample) => format!("{sample}-{id}"),
            Self::All => format!("{ALL}-{id}"),
        }
    }
}

fn target_of(name: &OsStr) -> Option<CleanupScope> {
    let (target, id) = name.to_str()?.split_once('-')?;
    id.parse::<InvocationId>().ok()?;
    if target == ALL { Some(CleanupScope::All) } else { target.parse().ok().map(CleanupScope::Sample) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: CleanupScope = CleanupScope::Sample(SampleDigest::from_bytes([1; 32]));
    const OTHER: CleanupScope = CleanupScope::Sample(SampleDigest::from_bytes([2; 32]));
    const ID: InvocationId = InvocationId::from_bytes([7; 16]);

    #[test]
    fn a_name_records_its_target() {
        for scope in [SAMPLE, OTHER, CleanupScope::All] {
            assert_eq!(target_of(scope.transaction_name(ID).as_ref()), Some(scope));
        }
        for foreign in ["", "all", "all-", "all-1", "x-07070707070707070707070707070707", "lost+found"] {
            assert_eq!(target_of(foreign.as_ref()), None, "{foreign}");
        }
    }

    #[test]
    fn only_everything_covers_another_target() {
        let name = SAMPLE.transaction_name(ID);
        assert!(SAMPLE.covers_transaction(name.as_ref()));
        assert!(!OTHER.covers_transaction(name.as_ref()));
        assert!(CleanupScope::All.covers_transaction(name.as_ref()));
        let name = CleanupScope::All.transaction_name(ID);
        assert!(!SAMPLE.covers_transaction(name.as_ref()));
        assert!(CleanupScope::All.covers_transaction("lost+found".as_ref()));
        assert!(!SAMPLE.covers_transaction("lost+found".as_ref()));
    }

    #[test]
    fn a_sample_covers_the_entries_of_its_digest_alone() {
        assert!(SAMPLE.covers_entry("01".repeat(32).as_ref()));
        assert!(!SAMPLE.covers_entry("02".repeat(32).as_ref()));
        assert!(!SAMPLE.covers_entry("global".as_ref()));
        assert!(CleanupScope::All.covers_entry("global".as_ref()));
    }
}
