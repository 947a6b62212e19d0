//! Lines of bounded length from an untrusted file.

use std::io::{BufRead, Read as _};

/// Longest line of a facts file, its LF not counted, in bytes.
pub(super) const MAX_LINE_BYTES: u64 = 1_048_576;

/// How a line breaks the rules.
#[derive(Debug)]
pub(super) enum LineError {
    Io(std::io::Error),
    TooLong,
    Unterminated,
}

/// Reads the next line into `line`, without its LF; `false` at the end of the file.
pub(super) fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, LineError> {
    line.clear();
    let count = reader.take(MAX_LINE_BYTES + 1).read_until(b'\n', line).map_err(LineError::Io)?;
    match line.pop() {
        None => Ok(false),
        Some(b'\n') => Ok(true),
        Some(_) if count as u64 > MAX_LINE_BYTES => Err(LineError::TooLong),
        Some(_) => Err(LineError::Unterminated),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_terminated() {
        let longest = vec![b'x'; MAX_LINE_BYTES as usize];
        let mut text = longest.clone();
        text.extend_from_slice(b"\n\nrest");
        let mut reader = &text[..];
        let mut line = Vec::new();
        assert!(next_line(&mut reader, &mut line).unwrap());
        assert_eq!(line, longest);
        assert!(next_line(&mut reader, &mut line).unwrap());
        assert!(line.is_empty());
        assert!(matches!(next_line(&mut reader, &mut line), Err(LineError::Unterminated)));
        assert!(!next_line(&mut reader, &mut line).unwrap());
        let too_long = vec![b'x'; MAX_LINE_BYTES as usize + 1];
        assert!(matches!(next_line(&mut &too_long[..], &mut line), Err(LineError::TooLong)));
    }
}
