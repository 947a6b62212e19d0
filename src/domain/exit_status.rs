//! The coarse exit statuses (ADR 0002).

/// Every status with which `ghidr` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// One success document, or a discovery text, was written.
    Success = 0,
    /// Runtime failure.
    Failure = 1,
    /// Invalid invocation or arguments.
    Usage = 2,
    /// A time limit ended the command.
    Timeout = 124,
    /// The user interrupted the command.
    Interrupted = 130,
}

impl From<ExitStatus> for std::process::ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
