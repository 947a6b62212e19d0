//! Keeps one stream within a fixed limit: all of it, or its first and its last 4 MiB.
//!
//! The beginning goes straight to its file; what follows stays in a ring of at most 4 MiB until the end decides whether it
//! completes the file or becomes a segment of its own. No byte is invented and none is reordered.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::ProcessError;
use super::outcome::{CapturedStream, Segment};

/// Kept of each end of a stream; a stream of up to twice this is kept whole.
pub(super) const SEGMENT_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct StreamCapture {
    directory: PathBuf,
    name: &'static str,
    head: File,
    head_path: PathBuf,
    head_bytes: usize,
    head_digest: Sha256,
    tail: VecDeque<u8>,
    observed_bytes: u64,
}

impl StreamCapture {
    /// Opens `<name>.log` in `directory`, which must not hold one yet.
    pub fn create(directory: &Path, name: &'static str) -> Result<Self, ProcessError> {
        let head_path = directory.join(format!("{name}.log"));
        let head = create_private(&head_path)?;
        Ok(Self {
            directory: directory.to_owned(),
            name,
            head,
            head_path,
            head_bytes: 0,
            head_digest: Sha256::new(),
            tail: VecDeque::new(),
            observed_bytes: 0,
        })
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ProcessError> {
        self.observed_bytes += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(SEGMENT_BYTES - self.head_bytes));
        self.append_to_head(first)?;
        let rest = &rest[rest.len().saturating_sub(SEGMENT_BYTES)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(SEGMENT_BYTES);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
        Ok(())
    }

    fn append_to_head(&mut self, bytes: &[u8]) -> Result<(), ProcessError> {
        self.head.write_all(bytes).map_err(at(&self.head_path))?;
        self.head_digest.update(bytes);
        self.head_bytes += bytes.len();
        Ok(())
    }

    pub fn finish(mut self) -> Result<CapturedStream, ProcessError> {
        let tail = std::mem::take(&mut self.tail);
        let (older, newer) = tail.as_slices();
        let truncated = self.observed_bytes > 2 * SEGMENT_BYTES as u64;
        let mut segments = Vec::new();
        if truncated {
            let path = self.directory.join(format!("{}.tail.log", self.name));
            let mut file = create_private(&path)?;
            file.write_all(older).and_then(|()| file.write_all(newer)).map_err(at(&path))?;
            let digest = Sha256::new().chain_update(older).chain_update(newer);
            let head_path = self.directory.join(format!("{}.head.log", self.name));
            fs::rename(&self.head_path, &head_path).map_err(at(&head_path))?;
            segments.push(self.head_segment(head_path));
            let length = tail.len() as u64;
            let offset = self.observed_bytes - length;
            segments.push(Segment { offset, length, path, sha256: digest.finalize().into() });
        } else {
            self.append_to_head(older)?;
            self.append_to_head(newer)?;
            if self.head_bytes > 0 {
                segments.push(self.head_segment(self.head_path.clone()));
            }
        }
        Ok(CapturedStream { observed_bytes: self.observed_bytes, segments, truncated })
    }

    fn head_segment(&self, path: PathBuf) -> Segment {
        let sha256 = self.head_digest.clone().finalize().into();
        Segment { offset: 0, length: self.head_bytes as u64, path, sha256 }
    }
}

fn create_private(path: &Path) -> Result<File, ProcessError> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ProcessError {
    let path = path.to_owned();
    move |source| ProcessError::Capture { path, source }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn capture(total: usize, chunk: usize) -> (tempfile::TempDir, Vec<u8>, CapturedStream) {
        let directory = tempfile::tempdir().unwrap();
        let data: Vec<u8> = (0..total).map(|at| (at % 251) as u8).collect();
        let mut capture = StreamCapture::create(directory.path(), "stderr").unwrap();
        for part in data.chunks(chunk) {
            capture.push(part).unwrap();
        }
        let captured = capture.finish().unwrap();
        (directory, data, captured)
    }

    fn assert_segments_match(data: &[u8], captured: &CapturedStream) {
        for segment in &captured.segments {
            let start = usize::try_from(segment.offset).unwrap();
            let expected = &data[start..start + usize::try_from(segment.length).unwrap()];
            assert!(fs::read(&segment.path).unwrap() == expected, "{} differs", segment.path.display());
            assert_eq!(segment.sha256, <[u8; 32]>::from(Sha256::digest(expected)));
        }
    }

    #[test]
    fn a_stream_of_exactly_the_limit_is_one_whole_file() {
        let (directory, data, captured) = capture(2 * SEGMENT_BYTES, 60_000);
        assert!(!captured.truncated);
        assert_eq!(captured.segments.len(), 1);
        assert_eq!(captured.segments[0].path, directory.path().join("stderr.log"));
        assert_eq!(captured.segments[0].length, data.len() as u64);
        assert_segments_match(&data, &captured);
    }

    #[test]
    fn one_byte_more_leaves_both_ends_in_files_of_their_own() {
        for chunk in [1000, 60_000, 9 * 1024 * 1024] {
            let (directory, data, captured) = capture(2 * SEGMENT_BYTES + 1, chunk);
            assert!(captured.truncated);
            assert_eq!(captured.observed_bytes, data.len() as u64);
            let ends: Vec<_> =
                captured.segments.iter().map(|segment| (segment.offset, segment.length)).collect();
            let half = SEGMENT_BYTES as u64;
            assert_eq!(ends, [(0, half), (half + 1, half)]);
            assert!(!directory.path().join("stderr.log").exists());
            assert_segments_match(&data, &captured);
        }
    }

    #[test]
    fn an_empty_stream_has_no_segment() {
        let (_directory, _, captured) = capture(0, 1);
        assert_eq!(captured.segments, []);
    }
}
