//! Reading, writing and copying while hashing, in bounded memory.

use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::dir::Dir;
use super::error::StoreError;
use super::io::{At as _, Operation};
use crate::domain::digest::ContentDigest;

/// Size of every copy and hash buffer.
pub(super) const BUFFER_BYTES: usize = 256 * 1_024;

/// The signal that asks for the end of a long reading, if one came. Asked before every step.
pub type Stop<'command> = &'command dyn Fn() -> Option<i32>;

/// For what is short.
pub(super) fn to_the_end() -> Option<i32> {
    None
}

/// An error when `stop` tells of a signal.
pub(super) fn go_on(stop: Stop<'_>) -> Result<(), StoreError> {
    stop().map_or(Ok(()), |signal| Err(StoreError::Interrupted { signal }))
}

/// Running size and digest of a byte stream.
#[derive(Debug, Default)]
pub(super) struct Tally {
    hasher: Sha256,
    bytes: u64,
}

impl Tally {
    pub fn update(&mut self, chunk: &[u8]) {
        self.hasher.update(chunk);
        self.bytes += chunk.len() as u64;
    }

    pub fn finish(self) -> (u64, ContentDigest) {
        (self.bytes, ContentDigest::from_bytes(self.hasher.finalize().into()))
    }
}

/// Hashes what is read through it.
#[derive(Debug)]
pub(super) struct HashingReader<R> {
    inner: R,
    tally: Tally,
}

impl<R: Read> HashingReader<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, tally: Tally::default() }
    }

    /// Byte count and digest of everything read.
    pub fn finish(self) -> (u64, ContentDigest) {
        self.tally.finish()
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.tally.update(&buffer[..count]);
        Ok(count)
    }
}

/// Hashes what is written through it.
#[derive(Debug)]
pub(super) struct HashingWriter<W> {
    inner: W,
    tally: Tally,
}

impl<W: Write> HashingWriter<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, tally: Tally::default() }
    }

    /// The inner writer, and byte count and digest of everything written.
    pub fn finish(self) -> (W, u64, ContentDigest) {
        let (bytes, digest) = self.tally.finish();
        (self.inner, bytes, digest)
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(buffer)?;
        self.tally.update(&buffer[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Size and digest of everything left in `source`.
pub(super) fn hash(
    source: &mut impl Read,
    path: &Path,
    stop: Stop<'_>,
) -> Result<(u64, ContentDigest), StoreError> {
    for_each_chunk(source, path, stop, |_| Ok(()))
}

/// Copies everything left in `source`; size and digest of what was copied.
pub(super) fn copy(
    source: &mut impl Read,
    source_path: &Path,
    target: &mut impl Write,
    target_path: &Path,
    stop: Stop<'_>,
) -> Result<(u64, ContentDigest), StoreError> {
    for_each_chunk(source, source_path, stop, |chunk| {
        target.write_all(chunk).at(Operation::Write, target_path)
    })
}

/// Hands everything left in `source` to `sink`, chunk by chunk; size and digest of it all.
pub(super) fn for_each_chunk(
    source: &mut impl Read,
    path: &Path,
    stop: Stop<'_>,
    mut sink: impl FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<(u64, ContentDigest), StoreError> {
    let mut tally = Tally::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        go_on(stop)?;
        match source.read(&mut buffer) {
            Ok(0) => return Ok(tally.finish()),
            Ok(count) => {
                tally.update(&buffer[..count]);
                sink(&buffer[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).at(Operation::Read, path),
        }
    }
}

/// Reads a whole small file; a longer one is corrupt.
pub(super) fn read_bounded(dir: &Dir, name: &str, limit_bytes: u64) -> Result<Vec<u8>, StoreError> {
    let file = dir.open_file(name)?;
    let mut bytes = Vec::new();
    file.take(limit_bytes + 1).read_to_end(&mut bytes).at(Operation::Read, &dir.child_path(name))?;
    if bytes.len() as u64 > limit_bytes {
        return Err(dir.corrupt(name, format!("larger than {limit_bytes} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn hashing_covers_exactly_the_bytes_that_pass() {
        let mut writer = HashingWriter::new(Vec::new());
        writer.write_all(b"hello ").unwrap();
        writer.write_all(b"world").unwrap();
        let (inner, bytes, digest) = writer.finish();
        assert_eq!((inner.as_slice(), bytes), (&b"hello world"[..], 11));
        assert_eq!(digest, ContentDigest::of(b"hello world"));

        let mut reader = HashingReader::new(&b"hello world"[..]);
        let mut first = [0; 5];
        reader.read_exact(&mut first).unwrap();
        assert_eq!(reader.finish(), (5, ContentDigest::of(b"hello")));
    }

    #[test]
    fn a_copy_is_exact_across_buffers() {
        let bytes: Vec<u8> = (0..BUFFER_BYTES + 3).map(|index| index as u8).collect();
        let mut copied = Vec::new();
        let (count, digest) =
            copy(&mut &bytes[..], Path::new("a"), &mut copied, Path::new("b"), &to_the_end).unwrap();
        assert_eq!((count, digest), (bytes.len() as u64, ContentDigest::of(&bytes)));
        assert_eq!(copied, bytes);
    }

    #[test]
    fn a_signal_ends_a_long_reading() {
        let asked = std::cell::Cell::new(0);
        let stop = || (asked.replace(asked.get() + 1) == 3).then_some(2);
        let outcome = hash(&mut std::io::repeat(7), Path::new("endless"), &stop);
        assert!(matches!(outcome, Err(StoreError::Interrupted { signal: 2 })), "{outcome:?}");
    }

    #[test]
    fn a_file_over_the_bound_is_corrupt_not_truncated() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_root(temp.path()).unwrap().unwrap();
        std::fs::write(temp.path().join("f"), b"12345").unwrap();
        assert_eq!(read_bounded(&dir, "f", 5).unwrap(), b"12345");
        assert!(matches!(read_bounded(&dir, "f", 4), Err(StoreError::Corrupt { .. })));
    }
}
