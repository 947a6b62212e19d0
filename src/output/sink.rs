//! The only place that writes to stdout and stderr.
//!
//! A stdout that takes nothing is a failure the caller sees; a closed stderr is nothing anybody could be
//! told about.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::fs::{OFlags, fcntl_getfl};

/// The two output streams of the process, or buffers in tests.
pub struct Sink<'streams> {
    stdout: &'streams mut dyn Write,
    stderr: &'streams mut dyn Write,
    is_stdout_read_only: bool,
}

impl<'streams> Sink<'streams> {
    /// Writes to these streams.
    pub fn new(stdout: &'streams mut dyn Write, stderr: &'streams mut dyn Write) -> Self {
        Self { stdout, stderr, is_stdout_read_only: false }
    }

    /// The same, whose stdout is known to take nothing when `is_read_only`.
    pub fn with_read_only_stdout(self, is_read_only: bool) -> Self {
        Self { is_stdout_read_only: is_read_only, ..self }
    }

    /// Whether stdout can take anything at all, before there is anything to write.
    ///
    /// # Errors
    ///
    /// When it is open for reading only.
    pub fn check_stdout(&self) -> io::Result<()> {
        if self.is_stdout_read_only {
            return Err(io::Error::other("it is not open for writing"));
        }
        Ok(())
    }

    /// Writes all of `bytes` to stdout.
    ///
    /// # Errors
    ///
    /// When stdout does not take them, for example because its reader is gone.
    pub fn write_stdout(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.check_stdout()?;
        self.stdout.write_all(bytes)?;
        self.stdout.flush()
    }

    /// Writes `bytes` to stderr as far as possible.
    pub fn write_stderr(&mut self, bytes: &[u8]) {
        let _ = self.stderr.write_all(bytes).and_then(|()| self.stderr.flush());
    }
}

/// The descriptor of `stream` itself, whose every failed write is seen: the standard library takes a bad
/// descriptor for a success. Its second part says whether it is open for reading only.
///
/// # Errors
///
/// When there is no such descriptor, or no more descriptors.
pub fn descriptor(stream: &impl AsFd) -> io::Result<(File, bool)> {
    let descriptor = stream.as_fd().try_clone_to_owned()?;
    let access = fcntl_getfl(&descriptor)? & OFlags::RWMODE;
    Ok((File::from(descriptor), access == OFlags::RDONLY))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_opened_for_reading_is_told_from_one_that_takes_output() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let written = File::create(&path).unwrap();
        assert!(!descriptor(&written).unwrap().1);
        let (mut read, is_read_only) = descriptor(&File::open(&path).unwrap()).unwrap();
        assert!(is_read_only);
        let mut stderr = Vec::new();
        let mut sink = Sink::new(&mut read, &mut stderr).with_read_only_stdout(is_read_only);
        assert_eq!(sink.check_stdout().unwrap_err().to_string(), "it is not open for writing");
        assert!(sink.write_stdout(b"answer").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
