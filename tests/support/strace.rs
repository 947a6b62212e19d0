//! Faults from the kernel's side: `strace` makes the n-th call of a system call fail, or kills the
//! process just before it. Nothing in the process knows.
//!
//! The ordinal of a call counts the calls of the same name, so a point is found by tracing a command
//! once undisturbed. That needs a command that makes the same calls each time: one process, one
//! thread, no waiting.

use std::path::Path;
use std::process::Command;

use super::ghidr::Run;

/// Every call by which a command reads or changes files.
const CALLS: &str = "open,openat,openat2,mkdir,mkdirat,renameat,renameat2,unlinkat,newfstatat,fstat,statx,fstatfs,statfs,\
                     getdents64,read,pread64,write,pwrite64,fsync,fchmod,ftruncate,flock,lseek,ioctl,symlinkat";

/// One call of a traced command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Name of the system call.
    pub call: String,
    /// Its number among the calls of that name, from 1.
    pub number: u32,
    /// The call as traced, descriptors with their paths.
    pub text: String,
}

/// What is done at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does not happen; it fails with this error.
    Error(&'static str),
    /// The process is killed before the call.
    Kill,
}

/// Traces a command to its end; every file call in order.
pub fn points(command: &Command, log: &Path) -> (Run, Vec<Point>) {
    let run = Run::from(strace(command, log, &[]).output().expect("strace is installed"));
    let text = String::from_utf8_lossy(&std::fs::read(log).unwrap()).into_owned();
    let mut numbers = std::collections::BTreeMap::<String, u32>::new();
    let mut points = Vec::new();
    for line in text.lines() {
        let Some((call, _)) = line.split_once('(') else { continue };
        if !call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let number = numbers.entry(call.to_owned()).or_default();
        *number += 1;
        points.push(Point { call: call.to_owned(), number: *number, text: line.to_owned() });
    }
    assert!(!points.is_empty(), "nothing was traced: {run}");
    (run, points)
}

/// Runs a command with a fault at a point; fails when the fault did not happen.
pub fn disturbed(command: &Command, log: &Path, point: &Point, fault: Fault) -> Run {
    let what = match fault {
        Fault::Error(name) => format!("error={name}"),
        Fault::Kill => "signal=KILL".to_owned(),
    };
    let inject = format!("inject={}:{what}:when={}", point.call, point.number);
    let run = Run::from(strace(command, log, &["-e", &inject]).output().expect("strace is installed"));
    let text = String::from_utf8_lossy(&std::fs::read(log).unwrap()).into_owned();
    let happened = match fault {
        Fault::Error(_) => text.contains("(INJECTED)"),
        // `strace` ends as the process that it traced did.
        Fault::Kill => run.status.is_none(),
    };
    assert!(happened, "{inject} did not happen at {}: {run}", point.text);
    run
}

fn strace(command: &Command, log: &Path, more: &[&str]) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-y", "-s", "200", "-e", &format!("trace={CALLS}"), "-e", "signal=none"]);
    strace.args(more).arg("-o").arg(log).arg(command.get_program()).args(command.get_args());
    strace.env_clear().stdin(std::process::Stdio::null());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    strace
}
