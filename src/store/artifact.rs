//! Oversized results as files named by their own SHA-256 (PRD "Oversized results").
//!
//! Written to staging first, so that the caller can size the descriptor before anything is
//! published; dropped unpublished, it leaves nothing. A published Artifact is immutable: one
//! of the same name is re-hashed, kept when it is intact and replaced when it is not.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use super::dir::{Dir, FILE_MODE};
use super::error::StoreError;
use super::hashing::{self, HashingWriter};
use super::io::{At as _, Operation};
use super::layout;
use super::lock::HoldsStoreLock;
use super::open::Store;
use super::staging::StagingDir;
use crate::domain::digest::{ContentDigest, ProfileDigest, SampleDigest};

/// Name of the file while it is in staging.
const PENDING: &str = "artifact";

/// What an Artifact belongs to, and so which cleanup removes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactScope {
    /// The answer of a Query on one Analysis.
    Analysis {
        /// Its Sample.
        sample: SampleDigest,
        /// Its Profile.
        profile: ProfileDigest,
    },
    /// The answer of a command without a Sample.
    Global,
}

/// A complete Artifact that is not published yet.
#[derive(Debug)]
pub struct PendingArtifact<'store> {
    store: &'store Store,
    staging: StagingDir,
    scope: ArtifactScope,
    bytes: u64,
    sha256: ContentDigest,
    ending: &'static str,
}

/// An Artifact while it is written.
#[derive(Debug)]
pub struct ArtifactWriter<'store> {
    store: &'store Store,
    staging: StagingDir,
    scope: ArtifactScope,
    writer: BufWriter<HashingWriter<File>>,
    ending: &'static str,
}

impl<'store> ArtifactWriter<'store> {
    fn begin(
        store: &'store Store,
        lock: &impl HoldsStoreLock,
        scope: ArtifactScope,
        ending: &'static str,
    ) -> Result<Self, StoreError> {
        let staging = StagingDir::create_unnamed(store, lock)?;
        let file = staging.dir.create_file(PENDING, FILE_MODE)?;
        let writer = BufWriter::with_capacity(hashing::BUFFER_BYTES, HashingWriter::new(file));
        Ok(Self { store, staging, scope, writer, ending })
    }

    fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), StoreError> {
        write(&mut self.writer).at(Operation::Write, &self.staging.dir.child_path(PENDING))
    }

    /// Adds a line, whose LF it has.
    pub fn append(&mut self, line: &[u8]) -> Result<(), StoreError> {
        self.write(|out| out.write_all(line))
    }

    /// The complete Artifact.
    pub fn finish(self) -> Result<PendingArtifact<'store>, StoreError> {
        let Self { store, staging, scope, writer, ending } = self;
        let path = staging.dir.child_path(PENDING);
        let written = writer.into_inner().map_err(io::IntoInnerError::into_error);
        let (file, bytes, sha256) = written.at(Operation::Write, &path)?.finish();
        file.sync_all().at(Operation::Sync, &path)?;
        Ok(PendingArtifact { store, staging, scope, bytes, sha256, ending })
    }
}

impl Store {
    /// Begins an Artifact of lines.
    pub fn begin_lines(
        &self,
        lock: &impl HoldsStoreLock,
        scope: ArtifactScope,
    ) -> Result<ArtifactWriter<'_>, StoreError> {
        ArtifactWriter::begin(self, lock, scope, layout::LINES_ENDING)
    }

    /// Stages the Artifact that `write` produces.
    pub fn stage_artifact(
        &self,
        lock: &impl HoldsStoreLock,
        scope: ArtifactScope,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PendingArtifact<'_>, StoreError> {
        let mut artifact = ArtifactWriter::begin(self, lock, scope, layout::DOCUMENT_ENDING)?;
        artifact.write(write)?;
        artifact.finish()
    }
}

impl PendingArtifact<'_> {
    /// Exact size in bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// SHA-256 of the exact bytes.
    pub const fn sha256(&self) -> ContentDigest {
        self.sha256
    }

    /// Absolute path it will have.
    pub fn final_path(&self) -> PathBuf {
        let root = self.store.location().path.join(layout::ARTIFACTS);
        self.scope.components().iter().fold(root, |path, name| path.join(name)).join(self.name())
    }

    /// Publishes the Artifact and gives its path.
    pub fn publish(self) -> Result<PathBuf, StoreError> {
        let mut dir = self.store.root.ensure_dir(layout::ARTIFACTS)?;
        for component in self.scope.components() {
            dir = dir.ensure_dir(component)?;
        }
        let name = self.name();
        if !self.is_intact(&dir, &name)? {
            self.staging.dir.rename(PENDING.as_ref(), &dir, name.as_ref())?;
        }
        dir.sync()?;
        Ok(self.final_path())
    }

    fn name(&self) -> String {
        format!("{}{}", self.sha256, self.ending)
    }

    /// Whether the published file of this name is there and has these bytes.
    fn is_intact(&self, dir: &Dir, name: &str) -> Result<bool, StoreError> {
        match dir.try_open_file(name) {
            Ok(None) => Ok(false),
            Ok(Some(mut file)) => {
                let found = hashing::hash(&mut file, &dir.child_path(name), &hashing::to_the_end)?;
                Ok(found == (self.bytes, self.sha256))
            }
            Err(StoreError::Corrupt { .. }) => {
                // Not even a file. A link or FIFO is replaced by the rename, a directory is not.
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

impl ArtifactScope {
    fn components(self) -> Vec<String> {
        match self {
            Self::Analysis { sample, profile } => vec![sample.to_string(), profile.to_string()],
            Self::Global => vec![layout::GLOBAL.to_owned()],
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::TestStore;

    const SCOPE: ArtifactScope = ArtifactScope::Analysis {
        sample: SampleDigest::from_bytes([1; 32]),
        profile: ProfileDigest::from_bytes([2; 32]),
    };

    fn stage<'store>(test: &'store TestStore, bytes: &[u8]) -> PendingArtifact<'store> {
        let lock = test.store.lock().unwrap();
        test.store.stage_artifact(&lock, SCOPE, |out| out.write_all(bytes)).unwrap()
    }

    fn staged(test: &TestStore) -> usize {
        std::fs::read_dir(test.path().join("staging")).unwrap().count()
    }

    #[test]
    fn publishing_moves_the_exact_bytes_to_their_digest_name() {
        let test = TestStore::new();
        let pending = stage(&test, b"{}\n");
        assert_eq!((pending.bytes(), pending.sha256()), (3, ContentDigest::of(b"{}\n")));
        let expected = test
            .path()
            .join("artifacts")
            .join("01".repeat(32))
            .join("02".repeat(32))
            .join(format!("{}.json", ContentDigest::of(b"{}\n")));
        assert_eq!(pending.final_path(), expected);
        assert!(!expected.exists());
        assert_eq!(pending.publish().unwrap(), expected);
        assert_eq!(std::fs::read(expected).unwrap(), b"{}\n");
        assert_eq!(staged(&test), 0);
    }

    #[test]
    fn an_unpublished_artifact_leaves_nothing() {
        let test = TestStore::new();
        let pending = stage(&test, b"x");
        assert_eq!(staged(&test), 1);
        drop(pending);
        assert_eq!(staged(&test), 0);
        assert!(!test.path().join("artifacts").exists());
    }

    #[test]
    fn a_failing_writer_leaves_nothing() {
        let test = TestStore::new();
        let lock = test.store.lock().unwrap();
        let outcome = test.store.stage_artifact(&lock, SCOPE, |out| {
            out.write_all(b"part")?;
            Err(rustix::io::Errno::NOSPC.into())
        });
        assert!(matches!(outcome, Err(StoreError::NoSpace { .. })));
        assert_eq!(staged(&test), 0);
    }

    #[test]
    fn an_intact_artifact_is_kept_and_a_flipped_one_replaced() {
        use std::os::unix::fs::MetadataExt as _;
        let test = TestStore::new();
        let path = stage(&test, b"abc").publish().unwrap();
        let inode = std::fs::metadata(&path).unwrap().ino();
        stage(&test, b"abc").publish().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().ino(), inode);
        std::fs::write(&path, b"abd").unwrap();
        stage(&test, b"abc").publish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    }

    #[test]
    fn a_link_of_that_name_is_replaced_not_followed() {
        let test = TestStore::new();
        let path = stage(&test, b"abc").publish().unwrap();
        let outside = test.path().join("../outside");
        std::fs::write(&outside, b"abc").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        stage(&test, b"abc").publish().unwrap();
        assert!(std::fs::symlink_metadata(&path).unwrap().is_file());
    }
}
