//! The `ghidr` executable: the trusted command, or one of the two parts it starts itself as: the guard, and inside
//! the sandbox the worker.

mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use ghidr::process::guard;
use ghidr::process::worker_arguments::WORKER;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == WORKER) {
        return worker::main(&arguments);
    }
    if arguments.first().is_some_and(|first| first == guard::GUARD) {
        return guard::main(&arguments);
    }
    // The command line of the public commands joins here.
    ExitCode::FAILURE
}
