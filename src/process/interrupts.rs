//! Counts SIGINT, SIGTERM and SIGHUP of this process.
//!
//! Installed once, by `main`. A signal that was ignored when the process began (`nohup`, a background job of a
//! non-interactive shell) stays ignored. Each signal is a byte in a pipe: counted exactly, and able to wake a poll.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The interruptions this process has received.
#[derive(Debug, Default)]
pub struct Interrupts {
    pipes: Vec<(i32, UnixStream)>,
    /// The first signal ever received, zero while there was none.
    first: AtomicI32,
    received: AtomicUsize,
    /// How many of the received ones [`Self::take_new`] has told of.
    told: AtomicUsize,
}

impl Interrupts {
    /// Begins to listen, and lets a write beyond the caller's own limit of a file's size fail as any other write does,
    /// instead of ending the process: a handler is enough, and programs that are started from here do not inherit it.
    ///
    /// # Errors
    ///
    /// When the kernel refuses a pipe or a handler.
    pub fn install() -> io::Result<Self> {
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let ignored = ignored_signals();
        let mut pipes = Vec::new();
        for signal in SIGNALS {
            if ignored & (1 << (signal - 1)) != 0 {
                continue;
            }
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            signal_hook::low_level::pipe::register(signal, writer)?;
            pipes.push((signal, reader));
        }
        Ok(Self { pipes, ..Self::default() })
    }

    /// A source that never interrupts, for callers that installed no handler.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The first signal received since the installation, if there was one.
    ///
    /// Sticky: once a signal came, no result may be published any more, and this is what to ask before publishing.
    #[must_use]
    pub fn first(&self) -> Option<i32> {
        self.collect();
        match self.first.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// The number of signals received since this was last asked.
    pub(super) fn take_new(&self) -> usize {
        self.collect();
        let received = self.received.load(Ordering::Relaxed);
        received - self.told.swap(received, Ordering::Relaxed)
    }

    fn collect(&self) {
        for (signal, pipe) in &self.pipes {
            let mut buffer = [0; 64];
            while let Ok(count @ 1..) = io::Read::read(&mut &*pipe, &mut buffer) {
                let _ = self.first.compare_exchange(0, *signal, Ordering::Relaxed, Ordering::Relaxed);
                self.received.fetch_add(count, Ordering::Relaxed);
            }
        }
    }

    /// Descriptors that become readable with the next signal.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_fd())
    }
}

/// The mask of signals this process ignores, as the kernel reports it; empty when it does not.
fn ignored_signals() -> u64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
            u64::from_str_radix(line.trim(), 16).ok()
        })
        .unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn asking_for_the_first_signal_hides_none_from_the_count() {
        let (reader, mut writer) = UnixStream::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        let interrupts = Interrupts { pipes: vec![(SIGTERM, reader)], ..Interrupts::default() };
        assert_eq!((interrupts.first(), interrupts.take_new()), (None, 0));
        writer.write_all(b"xx").unwrap();
        assert_eq!(interrupts.first(), Some(SIGTERM));
        assert_eq!((interrupts.take_new(), interrupts.take_new()), (2, 0));
        assert_eq!(interrupts.first(), Some(SIGTERM));
    }
}
