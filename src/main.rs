//! The `ghidr` executable: the trusted command, or, inside the sandbox, the worker it starts.

mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use ghidr::process::worker_arguments::WORKER;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == WORKER) {
        return worker::main(&arguments);
    }
    // The command line of the public commands joins here.
    ExitCode::FAILURE
}
