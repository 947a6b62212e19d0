//! The terminal: its width, one question to the person at it, and the line that answers it.
//!
//! Waits on the terminal and on signals alike, so that an interrupt ends the waiting. Knows no
//! question and no answer.

use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::interrupts::Interrupts;

/// Longest answer that is read, in bytes.
const MOST_BYTES: usize = 1_024;

/// Writes `question` to stderr and reads one line from stdin; `None` at its end, and when a
/// signal comes first.
///
/// # Errors
///
/// When either stream fails.
pub fn ask(question: &str, interrupts: &Interrupts) -> io::Result<Option<String>> {
    let mut stderr = io::stderr();
    stderr.write_all(question.as_bytes())?;
    stderr.flush()?;
    let stdin = io::stdin();
    let mut line = Vec::new();
    while wait(stdin.as_fd(), interrupts)? {
        let mut byte = [0];
        match rustix::io::read(&stdin, &mut byte) {
            Ok(0) if line.is_empty() => break,
            Ok(0) => return Ok(Some(text(&line))),
            Ok(_) if byte == *b"\n" => return Ok(Some(text(&line))),
            Ok(_) if line.len() < MOST_BYTES => line.extend(byte),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // The cursor still stands behind the question.
    stderr.write_all(b"\n")?;
    Ok(None)
}

/// How many columns the terminal has, when `stream` is one that tells.
pub fn columns(stream: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Waits until there is something to read; false when a signal came.
pub(super) fn wait(stdin: std::os::fd::BorrowedFd<'_>, interrupts: &Interrupts) -> io::Result<bool> {
    loop {
        if interrupts.first().is_some() {
            return Ok(false);
        }
        let mut descriptors = vec![PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
        descriptors.extend(interrupts.descriptors().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        match poll(&mut descriptors, None) {
            Ok(_) if !descriptors[0].revents().is_empty() => return Ok(true),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}
