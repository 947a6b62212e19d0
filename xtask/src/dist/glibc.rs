//! The oldest C library that an executable runs with, read from the versions that its symbols name.

use std::fs;
use std::path::Path;

use crate::error::{AtPath, TaskError};

const PREFIX: &[u8] = b"GLIBC_";

/// The newest symbol version that the executable at `path` asks for, such as `glibc 2.34`.
pub fn newest_version(path: &Path) -> Result<String, TaskError> {
    let bytes = fs::read(path).at("read", path)?;
    newest(&bytes)
        .map(|(major, minor)| format!("glibc {major}.{minor}"))
        .ok_or_else(|| TaskError::Refused(format!("{} names no version of the C library", path.display())))
}

fn newest(bytes: &[u8]) -> Option<(u32, u32)> {
    let mentions = bytes.windows(PREFIX.len()).enumerate().filter(|(_, window)| *window == PREFIX);
    mentions.filter_map(|(start, _)| version(bytes.get(start + PREFIX.len()..)?)).max()
}

/// `2.34` at the beginning of a null-terminated name; a third component is not compared.
fn version(text: &[u8]) -> Option<(u32, u32)> {
    let name = text.split(|byte| *byte == 0).next()?;
    let mut parts = std::str::from_utf8(name).ok()?.split('.').map(str::parse);
    match (parts.next()?, parts.next()?) {
        (Ok(major), Ok(minor)) => Some((major, minor)),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let bytes = b"\0GLIBC_2.9\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_PRIVATE\0GLIBC_3";
        assert_eq!(newest(bytes), Some((2, 34)));
        assert_eq!(newest(b"nothing"), None);
    }

    #[test]
    fn this_very_program_names_one() {
        let text = newest_version(&std::env::current_exe().unwrap()).unwrap();
        assert!(text.starts_with("glibc 2."), "{text}");
    }
}
