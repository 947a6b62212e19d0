//! The `ghidr` executable: the trusted command, or one of the two parts it starts itself as:
//! the guard, and inside the sandbox the worker.

mod worker;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use ghidr::commands;
use ghidr::commands::host::{Ask, Host};
use ghidr::output::sink::{self, Sink};
use ghidr::process::worker_arguments::WORKER;
use ghidr::process::{ChildLauncher, Interrupts, guard, terminal};
use rustix::fs::Mode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == WORKER) {
        return worker::main(&arguments[1..]);
    }
    if arguments.get(1).is_some_and(|first| first == guard::GUARD) {
        return guard::main(&arguments[1..]);
    }
    // What is created is private, and usable by its owner, whatever mask the caller has.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let mut stderr = std::io::stderr();
    let stderr_is_terminal = stderr.is_terminal();
    let (mut stdout, is_read_only) = match sink::descriptor(&std::io::stdout()) {
        Ok(opened) => opened,
        Err(error) => {
            let mut nothing = std::io::empty();
            let mut sink = Sink::new(&mut nothing, &mut stderr).with_read_only_stdout(true);
            return commands::refuse(&arguments, error, &mut sink).into();
        }
    };
    let mut sink = Sink::new(&mut stdout, &mut stderr).with_read_only_stdout(is_read_only);
    let prepared = std::env::current_exe().and_then(|executable| Ok((executable, Interrupts::install()?)));
    let (executable, interrupts) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let reason =
                format!("this process cannot look at itself or listen to signals (is /proc there?): {error}");
            return commands::refuse(&arguments, reason, &mut sink).into();
        }
    };
    let ask = |question: &str| terminal::ask(question, &interrupts);
    let is_attended = stderr_is_terminal && std::io::stdin().is_terminal();
    let ask = is_attended.then_some(&ask as &Ask<'_>);
    let host = Host { ask, ..Host::of_process(executable, &ChildLauncher, &interrupts, stderr_is_terminal) };
    commands::run(&arguments, &host, &mut sink).into()
}
