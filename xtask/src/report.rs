//! The only writer to this program's standard output.
//!
//! Task progress is meant for a person or a CI log, so it is line-oriented and flushed at once. A closed
//! output (`cargo xtask demo | head`) must not stop a half-finished set-up, so write errors are ignored here
//! and only here. Unit tests run tasks too; there nothing is written, for it would drown the results.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// Writes one line.
pub fn say(line: impl Display) {
    if cfg!(test) {
        return;
    }
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{line}");
    let _ = stdout.flush();
}

/// Writes one line to standard error: for the reason a task stopped.
pub fn complain(line: impl Display) {
    if cfg!(test) {
        return;
    }
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{line}");
    let _ = stderr.flush();
}

/// Replaces the current terminal line; does nothing when standard output is not a terminal.
pub fn redraw(line: impl Display) {
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() {
        let _ = write!(stdout, "\r\x1b[K{line}");
        let _ = stdout.flush();
    }
}

/// Ends a line begun by [`redraw`].
pub fn end_redraw() {
    redraw("");
}

/// Whether [`redraw`] has an effect.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A byte count as a person reads it, with the exact count where rounding would hide it.
pub fn human_bytes(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes >= MIB {
        let tenths = bytes.saturating_mul(10) / MIB;
        format!("{}.{} MiB", tenths / 10, tenths % 10)
    } else {
        format!("{bytes} bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::human_bytes;

    #[test]
    fn sizes_are_rounded_down_to_a_tenth() {
        assert_eq!(human_bytes(222_576_146), "212.2 MiB");
        assert_eq!(human_bytes(1_048_575), "1048575 bytes");
        assert_eq!(human_bytes(1_048_576), "1.0 MiB");
    }
}
