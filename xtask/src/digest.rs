//! SHA-256 of files, with their size: what every pinned or prepared file is compared by.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{AtPath, TaskError};

/// Size and SHA-256 of a file's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Size in bytes.
    pub bytes: u64,
    /// Lowercase hexadecimal SHA-256.
    pub sha256: String,
}

impl Content {
    /// Reads a stream to its end.
    pub fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut bytes = 0_u64;
        let mut buffer = vec![0_u8; 256 * 1024];
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(buffer.get(..count).unwrap_or_default());
            bytes += u64::try_from(count).map_err(io::Error::other)?;
        }
        Ok(Self { bytes, sha256: hex::encode(hasher.finalize()) })
    }

    /// Reads the file at `path`.
    pub fn of_file(path: &Path) -> Result<Self, TaskError> {
        let file = File::open(path).at("open", path)?;
        Self::of_reader(file).at("read", path)
    }

    /// Digests bytes in memory.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, sha256: hex::encode(Sha256::digest(bytes)) }
    }

    /// Compares with what was found, size first because it says more to a person.
    pub fn compare(&self, found: &Self, what: &Path) -> Result<(), TaskError> {
        let reason = if self.bytes != found.bytes {
            format!("{} bytes instead of {}", found.bytes, self.bytes)
        } else if self.sha256 != found.sha256 {
            format!("SHA-256 {} instead of {}", found.sha256, self.sha256)
        } else {
            return Ok(());
        };
        Err(TaskError::Damaged { what: what.display().to_string(), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_known_one() {
        let content = Content::of_bytes(b"abc");
        assert_eq!(content.bytes, 3);
        assert_eq!(content.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Content::of_reader(&b"abc"[..]).ok(), Some(content));
    }

    #[test]
    fn a_changed_byte_and_a_missing_byte_are_told_apart() {
        let expected = Content::of_bytes(b"abc");
        let path = Path::new("x");
        let changed = expected.compare(&Content::of_bytes(b"abd"), path);
        let shorter = expected.compare(&Content::of_bytes(b"ab"), path);
        assert!(changed.is_err_and(|error| error.to_string().contains("SHA-256")));
        assert!(shorter.is_err_and(|error| error.to_string().contains("2 bytes instead of 3")));
        assert!(expected.compare(&expected.clone(), path).is_ok());
    }
}
