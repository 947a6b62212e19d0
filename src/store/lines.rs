//! Lines of bounded length from an untrusted file.

use std::io::{BufRead, ErrorKind, Read as _};

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

/// Passes over up to `count` line ends and gives how many there were. Between them nothing is
/// looked at, which is ten times as fast as reading lines.
pub(super) fn skip_lines(reader: &mut impl BufRead, count: u64) -> Result<u64, LineError> {
    let mut skipped = 0;
    while skipped < count {
        let buffer = match reader.fill_buf() {
            Ok([]) => break,
            Ok(buffer) => buffer,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(LineError::Io(error)),
        };
        let (wanted, there) = (count - skipped, line_ends(buffer));
        let (length, ends) =
            if there < wanted { (buffer.len(), there) } else { (length_of_lines(buffer, wanted), wanted) };
        reader.consume(length);
        skipped += ends;
    }
    Ok(skipped)
}

/// Bytes up to and with that many line ends; all of them when there are fewer.
fn length_of_lines(buffer: &[u8], count: u64) -> usize {
    let mut left = count;
    let last = buffer.iter().position(|byte| {
        left -= u64::from(*byte == b'\n');
        left == 0
    });
    last.map_or(buffer.len(), |position| position + 1)
}

/// Counted in bytes as far as one holds the count, because that is what a processor adds many of at once.
fn line_ends(buffer: &[u8]) -> u64 {
    let in_chunk = |chunk: &[u8]| chunk.iter().fold(0_u8, |ends, byte| ends + u8::from(*byte == b'\n'));
    buffer.chunks(usize::from(u8::MAX)).map(|chunk| u64::from(in_chunk(chunk))).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn skipping_stops_right_after_the_last_line_end_asked_for() {
        let lines: Vec<String> = (0..2_000).map(|index| "x".repeat(index % 7) + "\n").collect();
        let text = lines.concat();
        for capacity in [1, 5, 300, 1 << 16] {
            for count in [0, 1, 2, 1_999, 2_000] {
                let mut reader = BufReader::with_capacity(capacity, text.as_bytes());
                assert_eq!(skip_lines(&mut reader, count).unwrap(), count);
                let mut line = Vec::new();
                let next = next_line(&mut reader, &mut line).unwrap().then(|| line.push(b'\n'));
                assert_eq!(
                    next.map(|()| line),
                    lines.get(count as usize).map(|line| line.clone().into_bytes())
                );
            }
            let mut reader = BufReader::with_capacity(capacity, text.as_bytes());
            assert_eq!(skip_lines(&mut reader, u64::MAX).unwrap(), 2_000);
        }
        assert_eq!(line_ends(&[b'\n'; 1_000]), 1_000);
    }

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
