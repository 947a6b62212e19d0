//! The Diagnostic Log that a failure refers to.

use crate::domain::diagnostic_log::DiagnosticLogDescriptor;
use crate::domain::warning::Warning;

/// A Diagnostic Log that was kept.
#[derive(Debug, Clone)]
pub struct RetainedLog {
    /// Where it is.
    pub descriptor: DiagnosticLogDescriptor,
    /// Whether a stream was longer than what is kept of it.
    pub truncated: bool,
}

impl RetainedLog {
    /// What a document that refers to this log has to say about it.
    pub fn warning(&self) -> Option<Warning> {
        self.truncated.then(|| Warning::DiagnosticsTruncated { diagnostic_log: self.descriptor.clone() })
    }
}
