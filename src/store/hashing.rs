//! Reading and copying while hashing, in bounded memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::dir::Dir;
use super::error::StoreError;
use super::io::{At as _, Operation};
use crate::domain::digest::ContentDigest;

/// Size of every copy and hash buffer.
pub(super) const BUFFER_BYTES: usize = 256 * 1_024;

/// Counts and hashes what passes through to another writer.
#[derive(Debug)]
pub(super) struct HashingWriter<W> {
    inner: W,
    hasher: Sha256,
    bytes: u64,
}

impl<W: Write> HashingWriter<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new(), bytes: 0 }
    }

    /// The inner writer, the byte count and the digest.
    pub fn finish(self) -> (W, u64, ContentDigest) {
        (self.inner, self.bytes, ContentDigest::from_bytes(self.hasher.finalize().into()))
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Size and digest of everything left in `file`.
pub(super) fn hash_file(file: &mut File, path: &Path) -> Result<(u64, ContentDigest), StoreError> {
    let mut writer = HashingWriter::new(io::sink());
    copy(file, path, &mut writer, path)?;
    let (_, bytes, digest) = writer.finish();
    Ok((bytes, digest))
}

/// Copies everything left in `source`, telling read errors from write errors.
pub(super) fn copy(
    source: &mut File,
    source_path: &Path,
    target: &mut impl Write,
    target_path: &Path,
) -> Result<(), StoreError> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => target.write_all(&buffer[..count]).at(Operation::Write, target_path)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).at(Operation::Read, source_path),
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
    fn hashing_covers_exactly_the_bytes_written() {
        let mut writer = HashingWriter::new(Vec::new());
        writer.write_all(b"hello ").unwrap();
        writer.write_all(b"world").unwrap();
        let (inner, bytes, digest) = writer.finish();
        assert_eq!((inner.as_slice(), bytes), (&b"hello world"[..], 11));
        assert_eq!(digest, ContentDigest::of(b"hello world"));
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
