//! Retained Diagnostic Logs: immutable bundles of one manifest and the captured streams.
//!
//! The whole bundle appears by one rename. The manifest never names the Sample's path nor
//! anything of the environment; the streams are the child's raw bytes, and therefore
//! sensitive.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dir::{Dir, FILE_MODE};
use super::document;
use super::error::StoreError;
use super::hashing;
use super::io::{At as _, Operation};
use super::layout;
use super::lock::HoldsStoreLock;
use super::open::Store;
use super::staging::StagingDir;
use super::utf8::Utf8Check;
use crate::domain::diagnostic_log::DiagnosticLogDescriptor;
use crate::domain::digest::{ContentDigest, SampleDigest};
use crate::domain::invocation_id::InvocationId;
use crate::domain::path_value::PathValue;

/// Version of the Diagnostic Log manifest.
pub const DIAGNOSTICS_VERSION: u32 = 1;
/// The bundle while it is in staging.
const PENDING: &str = "bundle";

/// What a Diagnostic Log belongs to, and so which cleanup removes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticScope {
    /// A command on one Sample.
    Sample(SampleDigest),
    /// A command without a Sample.
    Global,
}

/// Why the worker is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminationReason {
    /// It ended on its own, well or badly.
    Exited,
    /// Something outside ghidr killed it.
    Signaled,
    /// The watchdog or a native time-out ended it.
    TimedOut,
    /// The user interrupted.
    Interrupted,
    /// It exceeded its memory bound.
    MemoryLimitExceeded,
    /// It exceeded its bound of processes and threads.
    TaskLimitExceeded,
    /// It exceeded its disk bound.
    DiskLimitExceeded,
    /// It never started.
    NotStarted,
}

/// How ghidr ended the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminationMode {
    /// It left within the grace period.
    Graceful,
    /// It was killed.
    Forced,
}

/// The end of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticTermination {
    /// Why it is gone.
    pub reason: TerminationReason,
    /// How ghidr ended it; null when it ended by itself.
    pub mode: Option<TerminationMode>,
    /// Its exit status, when it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
}

/// Metadata of the invocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticInvocation {
    /// Its identity.
    pub id: InvocationId,
    /// Version of ghidr.
    pub ghidr_version: String,
    /// Worker operation that ran.
    pub operation: String,
    /// Start of the worker, RFC 3339 in UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// End of the worker, RFC 3339 in UTC.
    #[schemars(extend("format" = "date-time"))]
    pub ended_at: String,
}

/// What a stream's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamEncoding {
    /// Every retained byte is part of valid UTF-8 (a character cut by truncation excepted).
    Utf8,
    /// Arbitrary bytes.
    Bytes,
}

/// One retained part of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticSegment {
    /// File name inside the bundle.
    pub path: PathValue,
    /// Position of the first byte in the original stream.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// SHA-256 of the exact bytes.
    pub sha256: ContentDigest,
}

/// One stream of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticStream {
    /// Bytes the worker wrote.
    pub observed_bytes: u64,
    /// Bytes retained.
    pub captured_bytes: u64,
    /// Whether bytes are missing between the segments.
    pub truncated: bool,
    /// What the retained bytes are.
    pub encoding: StreamEncoding,
    /// The retained parts, in stream order.
    pub segments: Vec<DiagnosticSegment>,
}

/// The document `manifest.json` of a Diagnostic Log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticManifest {
    /// Version of this document.
    #[schemars(extend("const" = DIAGNOSTICS_VERSION))]
    pub manifest_version: u32,
    /// The invocation.
    pub invocation: DiagnosticInvocation,
    /// How the worker ended.
    pub termination: DiagnosticTermination,
    /// Its standard output.
    pub stdout: DiagnosticStream,
    /// Its standard error.
    pub stderr: DiagnosticStream,
    /// What the Java virtual machine wrote when it crashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash_report: Option<DiagnosticStream>,
}

/// One captured part of a stream, in a file of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedSegment {
    /// Position of the first byte in the original stream.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// The file with exactly these bytes.
    pub path: PathBuf,
    /// SHA-256 of these bytes.
    pub sha256: ContentDigest,
}

/// One captured stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedStream {
    /// Bytes the worker wrote.
    pub observed_bytes: u64,
    /// Whether bytes are missing between the segments.
    pub truncated: bool,
    /// At most two parts, in stream order.
    pub segments: Vec<CapturedSegment>,
}

/// What is retained.
#[derive(Debug, Clone)]
pub struct DiagnosticInput {
    /// The invocation.
    pub invocation: DiagnosticInvocation,
    /// How the worker ended.
    pub termination: DiagnosticTermination,
    /// Its standard output.
    pub stdout: CapturedStream,
    /// Its standard error.
    pub stderr: CapturedStream,
    /// What the Java virtual machine wrote when it crashed.
    pub crash_report: Option<CapturedStream>,
}

impl Store {
    /// Retains captured diagnostics as an immutable bundle.
    pub fn publish_diagnostics(
        &self,
        lock: &impl HoldsStoreLock,
        scope: DiagnosticScope,
        input: &DiagnosticInput,
    ) -> Result<DiagnosticLogDescriptor, StoreError> {
        let staging = StagingDir::create_unnamed(self, lock)?;
        let bundle = staging.dir.create_dir(PENDING)?;
        let manifest = DiagnosticManifest {
            manifest_version: DIAGNOSTICS_VERSION,
            invocation: input.invocation.clone(),
            termination: input.termination.clone(),
            stdout: retain_stream(&bundle, "stdout", &input.stdout)?,
            stderr: retain_stream(&bundle, "stderr", &input.stderr)?,
            crash_report: input
                .crash_report
                .as_ref()
                .map(|report| retain_stream(&bundle, "crash_report", report))
                .transpose()?,
        };
        let bytes = document::encode(&manifest)?;
        bundle.write_new_file(layout::MANIFEST, &bytes)?;
        bundle.sync()?;
        let scope_name = match scope {
            DiagnosticScope::Sample(sample) => sample.to_string(),
            DiagnosticScope::Global => layout::GLOBAL.to_owned(),
        };
        let target = self.root.ensure_dir(layout::DIAGNOSTICS)?.ensure_dir(scope_name)?;
        let name = input.invocation.id.to_string();
        if !staging.dir.rename_if_free(PENDING.as_ref(), &target, name.as_ref())? {
            return Err(target.corrupt(&name, "this invocation already has a diagnostic log"));
        }
        target.sync()?;
        Ok(DiagnosticLogDescriptor {
            path: target.child_path(&name).join(layout::MANIFEST).into(),
            bytes: bytes.len() as u64,
            sha256: ContentDigest::of(&bytes),
            media_type: "application/json".to_owned(),
            sensitive: true,
        })
    }
}

fn retain_stream(bundle: &Dir, name: &str, stream: &CapturedStream) -> Result<DiagnosticStream, StoreError> {
    let mut segments = Vec::new();
    let mut utf8 = true;
    if stream.segments.is_empty() {
        bundle.write_new_file(&format!("{name}.log"), b"")?;
    }
    for (index, segment) in stream.segments.iter().enumerate() {
        let file_name = match (stream.truncated, index) {
            (false, 0) => format!("{name}.log"),
            (true, 0) => format!("{name}.head.log"),
            (true, 1) => format!("{name}.tail.log"),
            _ => return Err(bundle.corrupt(name, "too many captured segments")),
        };
        let mut check = Utf8Check::new(index > 0);
        retain_segment(bundle, &file_name, segment, &mut check)?;
        utf8 &= check.finish(stream.truncated);
        segments.push(DiagnosticSegment {
            path: Path::new(&file_name).into(),
            offset: segment.offset,
            length: segment.length,
            sha256: segment.sha256,
        });
    }
    Ok(DiagnosticStream {
        observed_bytes: stream.observed_bytes,
        captured_bytes: segments.iter().map(|segment| segment.length).sum(),
        truncated: stream.truncated,
        encoding: if utf8 { StreamEncoding::Utf8 } else { StreamEncoding::Bytes },
        segments,
    })
}

fn retain_segment(
    bundle: &Dir,
    name: &str,
    segment: &CapturedSegment,
    check: &mut Utf8Check,
) -> Result<(), StoreError> {
    use std::io::Write as _;
    let mut source = std::fs::File::open(&segment.path).at(Operation::Open, &segment.path)?;
    let mut target = bundle.create_file(name, FILE_MODE)?;
    let target_path = bundle.child_path(name);
    let found = hashing::for_each_chunk(&mut source, &segment.path, &hashing::to_the_end, |chunk| {
        check.update(chunk);
        target.write_all(chunk).at(Operation::Write, &target_path)
    })?;
    target.sync_all().at(Operation::Sync, &target_path)?;
    if found == (segment.length, segment.sha256) {
        return Ok(());
    }
    Err(StoreError::Corrupt {
        path: segment.path.clone(),
        reason: "the captured segment is not what was recorded of it".to_owned(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::testing::{TestStore, id};
    use std::os::unix::fs::PermissionsExt as _;

    fn segment(directory: &Path, name: &str, offset: u64, bytes: &[u8]) -> CapturedSegment {
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        CapturedSegment { offset, length: bytes.len() as u64, path, sha256: ContentDigest::of(bytes) }
    }

    fn input(directory: &Path) -> DiagnosticInput {
        DiagnosticInput {
            invocation: DiagnosticInvocation {
                id: id(7),
                ghidr_version: "0.1.0".into(),
                operation: "analyze".into(),
                started_at: "2030-01-01T00:00:00Z".into(),
                ended_at: "2030-01-01T00:00:01Z".into(),
            },
            termination: DiagnosticTermination {
                reason: TerminationReason::TimedOut,
                mode: Some(TerminationMode::Forced),
                exit_code: None,
                signal: Some(9),
            },
            stdout: CapturedStream { observed_bytes: 0, truncated: false, segments: vec![] },
            stderr: CapturedStream {
                observed_bytes: 100,
                truncated: true,
                segments: vec![
                    segment(directory, "head", 0, "h\u{fc}".as_bytes().split_last().unwrap().1),
                    segment(directory, "tail", 97, b"\xfft"),
                ],
            },
            crash_report: None,
        }
    }

    #[test]
    fn a_bundle_holds_the_raw_streams_and_describes_them() {
        let test = TestStore::new();
        let temp = tempfile::tempdir().unwrap();
        let lock = test.store.lock().unwrap();
        let scope = DiagnosticScope::Sample(test.sample());
        let descriptor = test.store.publish_diagnostics(&lock, scope, &input(temp.path())).unwrap();
        let path = descriptor.path.to_path().unwrap();
        let bundle = test.path().join("diagnostics").join(test.sample().to_string()).join(id(7).to_string());
        assert_eq!(path, bundle.join("manifest.json"));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((descriptor.bytes, descriptor.sha256), (bytes.len() as u64, ContentDigest::of(&bytes)));
        assert!(descriptor.sensitive);
        assert!(!bundle.join("crash_report.log").exists());
        let manifest: DiagnosticManifest = document::decode(&bytes).unwrap();
        assert_eq!(manifest.crash_report, None);
        assert_eq!(manifest.stdout.encoding, StreamEncoding::Utf8);
        assert_eq!((manifest.stderr.encoding, manifest.stderr.captured_bytes), (StreamEncoding::Bytes, 4));
        assert_eq!(manifest.stderr.segments[1].offset, 97);
        assert_eq!(manifest.stderr.segments[1].path, PathValue::Utf8("stderr.tail.log".into()));
        assert_eq!(std::fs::read(bundle.join("stdout.log")).unwrap(), b"");
        assert_eq!(std::fs::read(bundle.join("stderr.head.log")).unwrap(), b"h\xc3");
        assert_eq!(std::fs::read(bundle.join("stderr.tail.log")).unwrap(), b"\xfft");
        for name in ["manifest.json", "stdout.log", "stderr.head.log"] {
            let mode = std::fs::metadata(bundle.join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o600);
        }
        assert_eq!(std::fs::read_dir(test.path().join("staging")).unwrap().count(), 0);
    }

    #[test]
    fn a_bundle_is_immutable_and_global_ones_are_apart() {
        let test = TestStore::new();
        let temp = tempfile::tempdir().unwrap();
        let lock = test.store.lock().unwrap();
        let publish = || test.store.publish_diagnostics(&lock, DiagnosticScope::Global, &input(temp.path()));
        let path = publish().unwrap().path.to_path().unwrap();
        assert!(path.starts_with(test.path().join("diagnostics/global")));
        assert!(matches!(publish(), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn a_segment_that_is_not_what_was_captured_is_refused_and_nothing_is_published() {
        let test = TestStore::new();
        let temp = tempfile::tempdir().unwrap();
        let lock = test.store.lock().unwrap();
        let input = input(temp.path());
        std::fs::write(temp.path().join("tail"), b"xx").unwrap();
        let outcome = test.store.publish_diagnostics(&lock, DiagnosticScope::Global, &input);
        assert!(matches!(outcome, Err(StoreError::Corrupt { .. })));
        assert!(!test.path().join("diagnostics").exists());
    }
}
