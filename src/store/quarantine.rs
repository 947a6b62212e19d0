//! Moving a damaged Analysis out of reach, whole, for later inspection.
//!
//! One rename: a Query sees the Analysis or does not. Nothing in quarantine ever satisfies a
//! Query; only explicit cleanup removes it.

use std::path::PathBuf;

use super::error::StoreError;
use super::layout;
use super::lock::{BuildGuard, HoldsAnalysisLock as _};
use super::open::Store;
use crate::domain::digest::ProfileDigest;
use crate::domain::invocation_id::InvocationId;

impl Store {
    /// Moves `analyses/<sample>/<profile>` to `quarantine/<sample>/<profile>/<invocation>`;
    /// `None` when it is no longer there.
    pub fn quarantine(
        &self,
        guard: &BuildGuard,
        profile: ProfileDigest,
        invocation_id: InvocationId,
    ) -> Result<Option<PathBuf>, StoreError> {
        let sample = guard.sample().to_string();
        let label = profile.to_string();
        let Some(analyses) = self.root.try_open_dir(layout::ANALYSES)? else { return Ok(None) };
        let Some(profiles) = analyses.try_open_dir(&sample)? else { return Ok(None) };
        if profiles.stat(&label)?.is_none() {
            return Ok(None);
        }
        let target = self.root.ensure_dir(layout::QUARANTINE)?.ensure_dir(&sample)?.ensure_dir(&label)?;
        let name = invocation_id.to_string();
        if !profiles.rename_if_free(label.as_ref(), &target, name.as_ref())? {
            return Err(target.corrupt(&name, "this invocation already quarantined an analysis here"));
        }
        target.sync()?;
        profiles.sync()?;
        self.forget_results(guard, profile);
        Ok(Some(target.child_path(&name)))
    }
}
