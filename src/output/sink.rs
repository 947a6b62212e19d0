//! The only place that writes to stdout and stderr.
//!
//! A closed stdout is a failure the caller sees; a closed stderr is nothing anybody could be
//! told about.

use std::io::{self, Write};

/// The two output streams of the process, or buffers in tests.
pub struct Sink<'streams> {
    stdout: &'streams mut dyn Write,
    stderr: &'streams mut dyn Write,
}

impl<'streams> Sink<'streams> {
    /// Writes to these streams.
    pub fn new(stdout: &'streams mut dyn Write, stderr: &'streams mut dyn Write) -> Self {
        Self { stdout, stderr }
    }

    /// Writes all of `bytes` to stdout.
    ///
    /// # Errors
    ///
    /// When stdout does not take them, for example because its reader is gone.
    pub fn write_stdout(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stdout.write_all(bytes)?;
        self.stdout.flush()
    }

    /// Writes `bytes` to stderr as far as possible.
    pub fn write_stderr(&mut self, bytes: &[u8]) {
        let _ = self.stderr.write_all(bytes).and_then(|()| self.stderr.flush());
    }
}
