//! Reads what somebody sends, bounded, until it ends or a signal comes.

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::interrupts::Interrupts;
use super::terminal::wait;

/// Opens what may be a FIFO without waiting for somebody to write to it: the waiting is for [`read`], which a signal ends.
///
/// # Errors
///
/// When it cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Everything there is to read, but not more than one byte beyond `most_bytes`; what was read so
/// far when a signal comes.
///
/// # Errors
///
/// When reading fails.
pub fn read(source: BorrowedFd<'_>, most_bytes: u64, interrupts: &Interrupts) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8_192];
    while bytes.len() as u64 <= most_bytes && wait(source, interrupts)? {
        match rustix::io::read(source, &mut buffer) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}
