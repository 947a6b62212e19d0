//! How a run ended, and where its captured output lies.

use std::path::PathBuf;
use std::time::Duration;

/// What the shell's encoding adds to the number of a signal.
const SHELL_SIGNAL_BASE: i32 = 128;
/// Linux numbers signals from 1 to 64.
const LAST_SIGNAL: i32 = 64;

/// Everything that is known once the worker tree is gone.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The worker's status in the shell's encoding (`n`, or `128 + n` after signal `n`, in every sandbox mode alike);
    /// `None` when the worker was never started or nobody could see it end.
    pub worker_status: Option<i32>,
    /// Status of the started program, same encoding; equal to the worker's when the program is the worker, `None` when
    /// an interruption came before the start.
    pub program_status: Option<i32>,
    /// Why it ended.
    pub ended_by: EndedBy,
    /// How it was made to end; `None` when it ended by itself.
    pub termination: Option<Termination>,
    /// Standard output.
    pub stdout: CapturedStream,
    /// Standard error.
    pub stderr: CapturedStream,
    /// The largest memory use seen at a poll.
    pub peak_memory_bytes: u64,
    /// From the start to the end of the whole tree.
    pub elapsed: Duration,
}

/// The signal that a status in the shell's encoding stands for. A status above that of the last signal is one that a
/// program chose: Ghidra gives up with 255 when it cannot start.
#[must_use]
pub fn signal_of_status(status: i32) -> Option<i32> {
    let signal = status - SHELL_SIGNAL_BASE;
    (1..=LAST_SIGNAL).contains(&signal).then_some(signal)
}

/// The reason a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The worker ended by itself, well or badly.
    Finished,
    /// The watchdog expired.
    Watchdog,
    /// The user interrupted with this signal.
    Interrupted {
        /// The signal's number.
        signal: i32,
    },
    /// The tree used more memory than allowed.
    MemoryLimit {
        /// What was seen when it was noticed.
        observed_bytes: u64,
    },
    /// The tree had more processes and threads than allowed.
    TaskLimit {
        /// What was seen when it was noticed.
        observed_tasks: u64,
    },
    /// The writable directories held more than allowed.
    DiskQuota {
        /// What was seen when it was noticed.
        observed_bytes: u64,
    },
}

/// How a worker that did not end by itself was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// It left after the polite request.
    Graceful,
    /// It was killed.
    Forced,
}

/// One captured stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedStream {
    /// All bytes that were read from the stream, kept or not.
    pub observed_bytes: u64,
    /// The kept parts in stream order; empty when nothing was written.
    pub segments: Vec<Segment>,
    /// Whether bytes between the segments were dropped.
    pub truncated: bool,
}

/// A contiguous part of a stream in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where the part begins in the stream, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The file that holds exactly these bytes.
    pub path: PathBuf,
    /// SHA-256 of these bytes.
    pub sha256: [u8; 32],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statuses_of_signals_are_signals() {
        for (status, signal) in [(129, Some(1)), (137, Some(9)), (143, Some(15)), (192, Some(64))] {
            assert_eq!(signal_of_status(status), signal);
        }
        for status in [0, 1, 3, 127, 128, 193, 255] {
            assert_eq!(signal_of_status(status), None, "{status}");
        }
    }
}
