//! What a cleanup would find: targets, counts and usage.
//!
//! A transaction is laid out like the store itself, so both are surveyed by the same code.
//! Damage never stops a survey of what is to be removed: an entry that is not what belongs
//! there is a target like any other, and is measured without being followed. What cannot be
//! looked into does stop it: its count would be wrong.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use super::super::denied::Denied;
use super::super::dir::Dir;
use super::super::error::StoreError;
use super::super::layout;
use super::super::lock::HoldsStoreLock;
use super::super::open::Store;
use super::super::usage::{usage_of, usage_of_entry};
use super::lock::CleanLock;
use super::scope::{AREAS, CleanupScope};
use super::transaction;
use crate::domain::cleanup::{CleanupCounts, CleanupMatch};
use crate::domain::digest::{ContentDigest, ProfileDigest, SampleDigest};
use crate::domain::invocation_id::InvocationId;
use crate::domain::usage::StorageUsage;

/// One thing that is moved away as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The area it is in.
    pub area: &'static str,
    /// Its name there; `None` when the area itself is no directory and is the target.
    pub name: Option<OsString>,
}

/// What interrupted cleanups left for a later one to delete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Unfinished transactions.
    pub transactions: u64,
    /// Usage of all of them.
    pub usage: StorageUsage,
}

struct Survey {
    denied: Denied,
    counts: CleanupCounts,
    profiles: BTreeSet<ProfileDigest>,
}

impl Store {
    /// Everything that a cleanup of this scope would remove, what an earlier one left behind
    /// included. Changes nothing.
    pub fn survey(
        &self,
        _lock: &impl HoldsStoreLock,
        scope: CleanupScope,
    ) -> Result<CleanupMatch, StoreError> {
        Survey::new(Denied::Refused).with_unfinished(&self.root, scope)
    }

    /// The same for a cleanup that goes on to remove it, whatever the modes of directories.
    pub fn survey_for_cleanup(&self, lock: &CleanLock) -> Result<CleanupMatch, StoreError> {
        Survey::new(Denied::Reclaimed).with_unfinished(&self.root, lock.scope())
    }

    /// The same without what an earlier cleanup left behind.
    pub fn survey_kept(
        &self,
        _lock: &impl HoldsStoreLock,
        scope: CleanupScope,
    ) -> Result<CleanupCounts, StoreError> {
        let mut survey = Survey::new(Denied::Refused);
        survey.add(&self.root, scope)?;
        Ok(survey.counts)
    }

    /// The stored data of no Sample: reports and logs of commands that had none.
    pub fn survey_global(&self, _lock: &impl HoldsStoreLock) -> Result<CleanupCounts, StoreError> {
        let mut survey = Survey::new(Denied::Refused);
        for area in [layout::ARTIFACTS, layout::DIAGNOSTICS] {
            let Some(dir) = self.root.try_open_dir(area)? else { continue };
            if dir.stat(layout::GLOBAL)?.is_some() {
                survey.add_entry(&dir, area, layout::GLOBAL.as_ref())?;
            }
        }
        Ok(survey.counts)
    }

    /// What interrupted cleanups of any target left.
    pub fn leftovers(&self, _lock: &impl HoldsStoreLock) -> Result<Leftovers, StoreError> {
        let mut leftovers = Leftovers::default();
        for (_, transaction) in transaction::unfinished(&self.root, CleanupScope::All, Denied::Refused)? {
            leftovers.transactions += 1;
            if let Some(dir) = transaction {
                leftovers.usage += usage_of(&dir, Denied::Refused)?;
            }
        }
        Ok(leftovers)
    }

    /// Every Sample that the store keeps anything of, ascending.
    pub fn kept_samples(&self, _lock: &impl HoldsStoreLock) -> Result<Vec<SampleDigest>, StoreError> {
        let mut samples = BTreeSet::new();
        for area in AREAS {
            let Some(dir) = self.root.try_open_dir(area)? else { continue };
            samples.extend(dir.entries()?.iter().filter_map(|entry| parse::<SampleDigest>(&entry.name)));
        }
        Ok(samples.into_iter().collect())
    }
}

impl Survey {
    fn new(denied: Denied) -> Self {
        Self { denied, counts: CleanupCounts::default(), profiles: BTreeSet::new() }
    }

    fn with_unfinished(mut self, root: &Dir, scope: CleanupScope) -> Result<CleanupMatch, StoreError> {
        self.add(root, scope)?;
        for (_, transaction) in transaction::unfinished(root, scope, self.denied)? {
            if let Some(dir) = transaction {
                self.add(&dir, CleanupScope::All)?;
            }
        }
        let analysis_profile_sha256 = self.profiles.into_iter().collect();
        Ok(CleanupMatch { counts: self.counts, analysis_profile_sha256 })
    }

    fn add(&mut self, root: &Dir, scope: CleanupScope) -> Result<(), StoreError> {
        for Target { area, name } in targets(root, scope)? {
            match name {
                Some(name) => self.add_entry(&root.open_dir(area)?, area, &name)?,
                None => self.counts.usage += usage_of_entry(root, area.as_ref(), self.denied)?,
            }
        }
        Ok(())
    }

    fn add_entry(&mut self, dir: &Dir, area: &str, name: &OsStr) -> Result<(), StoreError> {
        self.counts.usage += usage_of_entry(dir, name, self.denied)?;
        let Some(child) = self.denied.open_if_directory(dir, name)? else { return Ok(()) };
        match area {
            layout::ANALYSES => {
                let profiles = names::<ProfileDigest>(&child)?;
                self.counts.analyses += profiles.len() as u64;
                self.profiles.extend(profiles);
            }
            layout::DIAGNOSTICS => {
                self.counts.diagnostic_logs += names::<InvocationId>(&child)?.len() as u64;
            }
            layout::QUARANTINE => {
                self.counts.quarantined_analyses +=
                    self.add_per_profile(&child, |dir| Ok(names::<InvocationId>(dir)?.len()))?;
            }
            layout::RESULTS => {
                let results = |dir: &Dir| files_named_by_digest(dir, &[layout::DOCUMENT_ENDING]);
                self.counts.kept_results += self.add_per_profile(&child, results)?;
            }
            _ if name == layout::GLOBAL => self.counts.artifacts += artifacts(&child)? as u64,
            _ => self.counts.artifacts += self.add_per_profile(&child, artifacts)?,
        }
        Ok(())
    }

    /// Counts what lies one level deeper, below directories named by a Profile.
    fn add_per_profile(
        &mut self,
        dir: &Dir,
        count: impl Fn(&Dir) -> Result<usize, StoreError>,
    ) -> Result<u64, StoreError> {
        let mut total = 0;
        for profile in names::<ProfileDigest>(dir)? {
            let name = profile.to_string();
            let Some(child) = self.denied.open_if_directory(dir, name.as_ref())? else { continue };
            let found = count(&child)? as u64;
            if found > 0 {
                self.profiles.insert(profile);
            }
            total += found;
        }
        Ok(total)
    }
}

/// Everything below a root laid out like the store that `scope` covers, in a fixed order.
pub(super) fn targets(root: &Dir, scope: CleanupScope) -> Result<Vec<Target>, StoreError> {
    let mut targets = Vec::new();
    for area in AREAS {
        match root.try_open_dir(area) {
            Ok(None) => {}
            Ok(Some(dir)) => {
                let covered = dir.entries()?.into_iter().filter(|entry| scope.covers_entry(&entry.name));
                targets.extend(covered.map(|entry| Target { area, name: Some(entry.name) }));
            }
            Err(StoreError::Corrupt { .. }) if scope == CleanupScope::All => {
                targets.push(Target { area, name: None });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(targets)
}

fn artifacts(dir: &Dir) -> Result<usize, StoreError> {
    files_named_by_digest(dir, &[layout::DOCUMENT_ENDING, layout::LINES_ENDING])
}

/// Artifacts and kept results, by their endings.
fn files_named_by_digest(dir: &Dir, endings: &[&str]) -> Result<usize, StoreError> {
    let is_one = |name: &OsStr| {
        let stems = endings.iter().filter_map(|ending| name.to_str()?.strip_suffix(ending));
        stems.flat_map(str::parse::<ContentDigest>).next().is_some()
    };
    Ok(dir.entries()?.iter().filter(|entry| is_one(&entry.name)).count())
}

fn names<T: std::str::FromStr>(dir: &Dir) -> Result<Vec<T>, StoreError> {
    Ok(dir.entries()?.iter().filter_map(|entry| parse(&entry.name)).collect())
}

fn parse<T: std::str::FromStr>(name: &OsStr) -> Option<T> {
    name.to_str()?.parse().ok()
}
