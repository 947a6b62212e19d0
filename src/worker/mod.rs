//! The worker: restricts itself, boots the Java virtual machine its request names, and calls the adapter.
//!
//! It runs in the sandbox and trusts its request as little as it must: the file is bounded and read strictly. It refuses to
//! run without a valid one, so starting it by hand does nothing. The exit status is the only thing it says besides the
//! response, which is the adapter's.

mod boot;
mod sandbox_probe;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use ghidr::process::worker_arguments::{Job, WorkerArguments};
use ghidr::process::worker_life::{self, WorkerEnd};
use jvm_bridge::BridgeError;

/// Exit statuses of the worker. 3 is the virtual machine's own, for an exhausted heap, and never used here.
mod status {
    /// The command line or the request is not valid.
    pub const REFUSED: u8 = 64;
    /// The virtual machine did not start, or the adapter threw.
    pub const BRIDGE_FAILED: u8 = 65;
    /// The parent is gone.
    pub const ABANDONED: u8 = 66;
    /// The adapter returned a number that is not a status.
    pub const ADAPTER_STATUS_INVALID: u8 = 67;
    /// The process could not be restricted or made to watch its parent.
    pub const NOT_SUPERVISED: u8 = 68;
    /// SIGTERM before the virtual machine took over signals; what it uses afterwards as well.
    pub const TERMINATED: u8 = 128 + 15;
    /// Reserved for `-XX:+ExitOnOutOfMemoryError`.
    pub const HEAP_EXHAUSTED: i32 = 3;
}

/// Runs the worker with the arguments that follow the program's name.
pub(crate) fn main(arguments: &[OsString]) -> ExitCode {
    let arguments = match WorkerArguments::decode(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return failed(status::REFUSED, &error),
    };
    if let Err(error) = worker_life::restrict(arguments.file_size_bytes) {
        return failed(status::NOT_SUPERVISED, &error);
    }
    if arguments.job == Job::ProbeSandbox {
        return match sandbox_probe::answer(&arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(status::REFUSED, &error),
        };
    }
    let config = match boot::read(&arguments) {
        Ok(config) => config,
        Err(error) => return failed(status::REFUSED, &error),
    };
    match worker_life::live(move || jvm_bridge::run(&config)) {
        Ok(WorkerEnd::Done(result)) => finished(result),
        Ok(WorkerEnd::Lost) => failed(status::BRIDGE_FAILED, &BridgeError::ThreadLost),
        Ok(WorkerEnd::Terminated) => ExitCode::from(status::TERMINATED),
        Ok(WorkerEnd::Abandoned) => ExitCode::from(status::ABANDONED),
        Err(error) => failed(status::NOT_SUPERVISED, &error),
    }
}

fn finished(result: Result<i32, BridgeError>) -> ExitCode {
    match result {
        Ok(status::HEAP_EXHAUSTED) => ExitCode::from(status::ADAPTER_STATUS_INVALID),
        Ok(number) => ExitCode::from(u8::try_from(number).unwrap_or(status::ADAPTER_STATUS_INVALID)),
        Err(error) => failed(status::BRIDGE_FAILED, &error),
    }
}

/// Standard error is captured for the Diagnostic Log; a failure to write there changes nothing.
fn failed(status: u8, error: &dyn std::error::Error) -> ExitCode {
    let _ = writeln!(io::stderr(), "ghidr worker: {error}");
    ExitCode::from(status)
}
