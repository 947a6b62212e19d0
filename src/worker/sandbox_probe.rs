//! Answers what can be reached from inside the sandbox. No virtual machine is involved, and nothing of a Sample is there.

use std::fs::File;
use std::io::{self, Read as _};

use ghidr::process::worker_arguments::WorkerArguments;
use ghidr::protocol::limits::MAX_REQUEST_BYTES;
use ghidr::sandbox::probe::{self, Questions};

/// Runs before anything else of the process has opened a file or started a thread.
pub(super) fn answer(arguments: &WorkerArguments) -> io::Result<()> {
    let mut bytes = Vec::new();
    File::open(&arguments.request)?.take(MAX_REQUEST_BYTES as u64).read_to_end(&mut bytes)?;
    let questions: Questions = serde_json::from_slice(&bytes)?;
    std::fs::write(&arguments.response, serde_json::to_vec(&probe::run(&questions))?)
}
