//! Stands between the harness and the program it supervises, and outlives a harness that is killed.
//!
//! The harness can be killed at any moment, and nothing the kernel offers ends a whole tree with it: a parent-death signal
//! reaches one process, and bubblewrap killed by it half-way leaves a process that waits for ever; a worker's own watch of
//! its standard input binds only an honest worker. The guard is the harness's own executable, maps nothing of a Sample, and
//! does two things: it tells the harness how the program ends, and when the program has ended or standard input closes it
//! kills every process below it. It is a subreaper: when it has no child left, nothing below it is left.
//!
//! The program's standard input is a pipe of the guard's own. Whoever holds the reading end of a pipe can open its writing end
//! as well, through `/proc/self/fd`: below the pipe that tells of the harness's death, nothing untrusted may hold either.
//!
//! Command line: `--guard STATUS_DESCRIPTOR keep|close PROGRAM ARGUMENT...`; `keep` hands it and every other open
//! descriptor on, which are those of the plan; `close` none.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, WaitStatus};

use super::tree::{self, Tree};

/// The first argument of a guard; never a public option.
pub const GUARD: &str = "--guard";
const KEEP: &str = "keep";
const CLOSE: &str = "close";
/// What the shell that started the guard may have added to its environment, which is the program's.
const OF_THE_SHELL: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// What the guard says about the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Started { pid: i32 },
    Exited { status: i32 },
    Failed { errno: i32 },
}

impl Report {
    fn line(self) -> String {
        match self {
            Self::Started { pid } => format!("guard: started {pid}\n"),
            Self::Exited { status } => format!("guard: exited {status}\n"),
            Self::Failed { errno } => format!("guard: failed {errno}\n"),
        }
    }

    /// Reads a line; `None` when it is not the guard's.
    pub fn decode(line: &[u8]) -> Option<Self> {
        let (what, number) =
            std::str::from_utf8(line).ok()?.trim_end().strip_prefix("guard: ")?.split_once(' ')?;
        let number = number.parse().ok()?;
        match what {
            "started" => Some(Self::Started { pid: number }),
            "exited" => Some(Self::Exited { status: number }),
            "failed" => Some(Self::Failed { errno: number }),
            _ => None,
        }
    }
}

/// The arguments in front of the program.
pub(super) fn arguments(status_descriptor: i32, keep: bool) -> [OsString; 3] {
    let fate = if keep { KEEP } else { CLOSE };
    [GUARD.into(), status_descriptor.to_string().into(), fate.into()]
}

/// Runs the guard with the arguments that follow its own program's name.
#[must_use]
pub fn main(arguments: &[OsString]) -> ExitCode {
    let [first, descriptor, fate, program, program_arguments @ ..] = arguments else {
        return ExitCode::FAILURE;
    };
    let descriptor = descriptor.to_str().and_then(|text| text.parse::<u32>().ok());
    let (true, Some(descriptor), true) = (first == GUARD, descriptor, fate == KEEP || fate == CLOSE) else {
        return ExitCode::FAILURE;
    };
    // Opened anew: the number cannot become an owned descriptor without `unsafe`.
    let Ok(status) = OpenOptions::new().append(true).open(format!("/proc/self/fd/{descriptor}")) else {
        return ExitCode::FAILURE;
    };
    if fate == CLOSE {
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
    }
    let mut command = Command::new(program);
    command.args(program_arguments);
    for name in OF_THE_SHELL {
        command.env_remove(name);
    }
    match guard(&mut command, &status) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&status, Report::Failed { errno: error.raw_os_error().unwrap_or(0) });
            ExitCode::FAILURE
        }
    }
}

fn guard(command: &mut Command, status: &File) -> io::Result<()> {
    let bystanders = tree::prepare().map_err(io::Error::other)?;
    // Its writing end closes with the child, when everything is gone, or with this process.
    let child = command.process_group(0).stdin(Stdio::piped()).spawn()?;
    let root = Pid::from_child(&child);
    report(status, Report::Started { pid: root.as_raw_pid() });
    wait(root)?;
    let reaped = |pid: Pid, ended: WaitStatus| {
        let shell_status = ended.exit_status().or(ended.terminating_signal().map(|signal| 128 + signal));
        if let (true, Some(shell_status)) = (pid == root, shell_status) {
            report(status, Report::Exited { status: shell_status });
        }
    };
    // INVARIANT(no-process-survives-a-run): the harness takes the guard's end for the end of everything below it.
    Tree::new(root, bystanders).kill_until_childless(reaped).map_err(io::Error::other)
}

/// Waits for the program's end or for the harness's.
fn wait(root: Pid) -> io::Result<()> {
    let exit_notice = rustix::process::pidfd_open(root, PidfdFlags::empty())?;
    let stdin = io::stdin();
    loop {
        // No event is asked of standard input: the end of its other side is always told, and nothing is ever written.
        let mut descriptors = [
            PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::empty()),
            PollFd::new(&exit_notice, PollFlags::IN),
        ];
        match rustix::event::poll(&mut descriptors, None) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A report that cannot be written is missed by the harness, which then knows less but errs on no side.
fn report(mut status: &File, report: Report) {
    let _ = status.write_all(report.line().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_survive_the_round_trip() {
        for report in
            [Report::Started { pid: 7 }, Report::Exited { status: 137 }, Report::Failed { errno: 2 }]
        {
            assert_eq!(Report::decode(report.line().as_bytes()), Some(report));
        }
    }

    #[test]
    fn other_lines_are_not_reports() {
        for line in
            [&b"{ \"child-pid\": 7 }\n"[..], b"guard: started x", b"guard: left 1", b"started 1", b"\xff"]
        {
            assert_eq!(Report::decode(line), None);
        }
    }
}
