//! What `clean` matches, removes and reports.
//!
//! Counts and usage are of stored data: Analyses, quarantined Analyses, kept results, Artifacts
//! and Diagnostic Logs. Locks and working files are not data and are in no count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::{ProfileDigest, SampleDigest};
use super::path_value::PathValue;
use super::usage::StorageUsage;

/// Whether anything was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CleanupMode {
    /// Everything that was matched is gone.
    Executed,
    /// Nothing was touched.
    DryRun,
}

/// What the caller asked to clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CleanupTarget {
    /// One Sample, given by a file with its bytes.
    Sample {
        /// The path the caller gave, byte-exact.
        source_path: PathValue,
        /// Identity of the bytes found there.
        sha256: SampleDigest,
    },
    /// One Sample, given by its identity.
    Digest {
        /// That identity.
        sha256: SampleDigest,
    },
    /// Everything in the store.
    All {},
}

/// How much stored data there is, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CleanupCounts {
    /// Analyses, sound or damaged.
    pub analyses: u64,
    /// Damaged Analyses that were set aside.
    pub quarantined_analyses: u64,
    /// Artifacts.
    pub artifacts: u64,
    /// Kept results of Queries.
    pub kept_results: u64,
    /// Diagnostic Logs.
    pub diagnostic_logs: u64,
    /// Usage of all of these before anything was removed.
    pub usage: StorageUsage,
}

/// The preflight snapshot: everything the command is about to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CleanupMatch {
    /// How much there is.
    #[serde(flatten)]
    pub counts: CleanupCounts,
    /// Every Profile among it, bytewise sorted.
    pub analysis_profile_sha256: Vec<ProfileDigest>,
}

/// Data of a `cleanup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cleanup {
    /// Whether anything was removed.
    pub mode: CleanupMode,
    /// What the caller asked to clean.
    pub target: CleanupTarget,
    /// What there was.
    pub matched: CleanupMatch,
    /// What was removed; null for a dry run.
    pub removed: Option<CleanupCounts>,
}

impl CleanupCounts {
    /// What is gone when `remaining` is left of this.
    pub fn without(self, remaining: Self) -> Self {
        Self {
            analyses: self.analyses.saturating_sub(remaining.analyses),
            quarantined_analyses: self.quarantined_analyses.saturating_sub(remaining.quarantined_analyses),
            artifacts: self.artifacts.saturating_sub(remaining.artifacts),
            kept_results: self.kept_results.saturating_sub(remaining.kept_results),
            diagnostic_logs: self.diagnostic_logs.saturating_sub(remaining.diagnostic_logs),
            usage: StorageUsage {
                logical_bytes: self.usage.logical_bytes.saturating_sub(remaining.usage.logical_bytes),
                allocated_bytes: self.usage.allocated_bytes.saturating_sub(remaining.usage.allocated_bytes),
            },
        }
    }
}

impl std::ops::AddAssign for CleanupCounts {
    fn add_assign(&mut self, other: Self) {
        self.analyses = self.analyses.saturating_add(other.analyses);
        self.quarantined_analyses = self.quarantined_analyses.saturating_add(other.quarantined_analyses);
        self.artifacts = self.artifacts.saturating_add(other.artifacts);
        self.kept_results = self.kept_results.saturating_add(other.kept_results);
        self.diagnostic_logs = self.diagnostic_logs.saturating_add(other.diagnostic_logs);
        self.usage += other.usage;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn counts(number: u64) -> CleanupCounts {
        CleanupCounts {
            analyses: number,
            quarantined_analyses: number + 1,
            artifacts: number + 2,
            kept_results: number + 6,
            diagnostic_logs: number + 3,
            usage: StorageUsage { logical_bytes: number + 4, allocated_bytes: number + 5 },
        }
    }

    #[test]
    fn removed_and_remaining_are_all_there_was() {
        let (all, remaining) = (counts(10), counts(3));
        let mut sum = all.without(remaining);
        assert_eq!((sum.analyses, sum.usage.allocated_bytes), (7, 7));
        sum += remaining;
        assert_eq!(sum, all);
    }

    #[test]
    fn a_cleanup_has_the_published_shape() {
        let profile = ProfileDigest::from_bytes([0xab; 32]);
        let cleanup = Cleanup {
            mode: CleanupMode::DryRun,
            target: CleanupTarget::All {},
            matched: CleanupMatch { counts: counts(1), analysis_profile_sha256: vec![profile] },
            removed: None,
        };
        let expected = serde_json::json!({
            "mode": "dry_run",
            "target": {"kind": "all"},
            "matched": {
                "analyses": 1, "quarantined_analyses": 2, "artifacts": 3, "kept_results": 7, "diagnostic_logs": 4,
                "usage": {"logical_bytes": 5, "allocated_bytes": 6},
                "analysis_profile_sha256": ["ab".repeat(32)]
            },
            "removed": null
        });
        assert_eq!(serde_json::to_value(&cleanup).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Cleanup>(expected).unwrap(), cleanup);
    }
}
