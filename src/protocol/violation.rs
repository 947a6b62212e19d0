//! A broken protocol: what was expected and what came instead.

use std::io;
use std::path::{Path, PathBuf};

/// The worker's side of the exchange is not what the protocol allows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: expected {expected}, received {received}")]
pub struct ProtocolViolation {
    /// The part of the exchange that is wrong.
    pub field: String,
    /// What was expected.
    pub expected: String,
    /// What was received; bounded.
    pub received: String,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// What the worker left is not what the protocol allows.
    #[error(transparent)]
    Violation(#[from] ProtocolViolation),
    /// The system failed to read what the worker left.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ReceiveError {
    /// What a failure to read this file is.
    pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::Unreadable { path: path.to_owned(), source }
    }
}

const MAX_RECEIVED_CHARS: usize = 200;

impl ProtocolViolation {
    /// Describes a violation; `received` is cut to a bounded length.
    pub fn new(field: &str, expected: impl ToString, received: impl ToString) -> Self {
        let received = received.to_string();
        let mut bounded: String = received.chars().take(MAX_RECEIVED_CHARS).collect();
        if bounded.len() < received.len() {
            bounded.push('…');
        }
        Self { field: field.to_owned(), expected: expected.to_string(), received: bounded }
    }
}
