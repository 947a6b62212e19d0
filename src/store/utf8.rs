//! Whether a stream that passes in chunks is valid UTF-8, in constant memory.

/// Longest part of one character that a chunk boundary can leave behind.
const MAX_CARRY_BYTES: usize = 3;

/// The running check.
#[derive(Debug)]
pub(super) struct Utf8Check {
    carry: Vec<u8>,
    valid: bool,
    /// Continuation bytes still tolerated because the start of the stream is missing.
    tolerated_bytes: usize,
}

impl Utf8Check {
    /// A stream whose beginning may be cut inside a character starts with `cut_at_start`.
    pub fn new(cut_at_start: bool) -> Self {
        let tolerated_bytes = if cut_at_start { MAX_CARRY_BYTES } else { 0 };
        Self { carry: Vec::new(), valid: true, tolerated_bytes }
    }

    /// Considers the next bytes.
    pub fn update(&mut self, mut chunk: &[u8]) {
        while self.tolerated_bytes > 0 {
            match chunk.split_first() {
                Some((0x80..=0xbf, rest)) => {
                    chunk = rest;
                    self.tolerated_bytes -= 1;
                }
                Some(_) => self.tolerated_bytes = 0,
                None => return,
            }
        }
        // Complete the character that the previous chunk began, byte by byte.
        while !self.carry.is_empty() && self.valid {
            let Some((first, rest)) = chunk.split_first() else { return };
            chunk = rest;
            self.carry.push(*first);
            let carry = std::mem::take(&mut self.carry);
            self.take(&carry);
        }
        self.take(chunk);
    }

    /// The verdict; a character cut at the end is tolerated when the stream was cut there.
    pub fn finish(self, cut_at_end: bool) -> bool {
        self.valid && (self.carry.is_empty() || cut_at_end)
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Err(error) = std::str::from_utf8(bytes) {
            match error.error_len() {
                Some(_) => self.valid = false,
                None => self.carry.extend_from_slice(&bytes[error.valid_up_to()..]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], chunk: usize, cut: (bool, bool)) -> bool {
        let mut check = Utf8Check::new(cut.0);
        bytes.chunks(chunk).for_each(|chunk| check.update(chunk));
        check.finish(cut.1)
    }

    #[test]
    fn chunk_boundaries_do_not_matter() {
        let text = "aü€𝄞\n".as_bytes();
        let broken = b"a\xc3(b";
        for chunk in 1..8 {
            assert!(check(text, chunk, (false, false)), "{chunk}");
            assert!(!check(broken, chunk, (false, false)), "{chunk}");
            assert!(!check(b"\xff\xfe", chunk, (true, true)), "{chunk}");
        }
    }

    #[test]
    fn a_cut_character_is_tolerated_only_where_the_stream_was_cut() {
        let text = "𝄞x𝄞".as_bytes();
        for chunk in 1..4 {
            assert!(check(&text[2..], chunk, (true, false)));
            assert!(!check(&text[2..], chunk, (false, false)));
            assert!(check(&text[..7], chunk, (false, true)));
            assert!(!check(&text[..7], chunk, (false, false)));
        }
    }
}
