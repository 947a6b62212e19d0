//! Starts the program of a plan, below its guard, with exactly the descriptors it is meant to have.
//!
//! The child gets three pipes as its standard streams, the file it reports to and the plan's handed files, and nothing else
//! the caller may have left open. It leads a process group of its own, so a terminal's Ctrl-C reaches only this process.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Access, MemfdFlags, OFlags};
use rustix::io::FdFlags;

use super::error::ProcessError;
use super::guard;
use super::launch::{HandedFile, LaunchPlan};

/// While close-on-exec is cleared on what the child is given, no other thread may start a program.
static SPAWNING: Mutex<()> = Mutex::new(());

/// A started guard and this side of its pipes.
#[derive(Debug)]
pub(super) struct Spawned {
    pub child: Child,
    /// Held for its closing: the guard ends, and with it all below, when this end is gone.
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    pub status: StatusFile,
}

/// Starts `plan` from the calling thread, which must outlive the child: parent-death signals follow the thread.
pub(super) fn spawn(plan: &LaunchPlan) -> Result<Spawned, ProcessError> {
    let refused = |source: io::Error| ProcessError::Spawn { program: plan.guard.clone(), source };
    let status = StatusFile::create().map_err(refused)?;
    let handed: Vec<File> =
        plan.handed_files.iter().map(in_memory).collect::<io::Result<_>>().map_err(refused)?;

    let mut command = without_crash_handlers(&plan.guard).map_err(refused)?;
    command.args(guard::arguments(status.number(), plan.status_channel.is_some())).arg(&plan.program);
    if let Some(channel) = plan.status_channel {
        command.args([channel.option.to_owned(), status.number().to_string()]);
    }
    for (file, held) in plan.handed_files.iter().zip(&handed) {
        command.args([file.option.to_owned(), held.as_raw_fd().to_string()]);
    }
    command
        .args(&plan.arguments)
        .env_clear()
        .envs(plan.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&plan.current_directory)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());

    let guard = SPAWNING.lock().unwrap_or_else(PoisonError::into_inner);
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    let given = || std::iter::once(status.file.as_fd()).chain(handed.iter().map(AsFd::as_fd));
    given()
        .try_for_each(|file| rustix::io::fcntl_setfd(file, FdFlags::empty()))
        .map_err(|error| refused(error.into()))?;
    let child = command.spawn();
    // The next spawn sets this flag on every descriptor again, so a failure here lets nothing through.
    for file in given() {
        let _ = rustix::io::fcntl_setfd(file, FdFlags::CLOEXEC);
    }
    drop(guard);

    let mut child = child.map_err(refused)?;
    Ok(Spawned {
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
        status,
        child,
    })
}

/// A Rust program takes over these two signals, unless they are ignored when it starts; and a virtual machine in it then
/// leaves a crash to what it found, and writes no report of it. What is ignored here is so in everything below. A true
/// fault ends a process that ignores it all the same, and the virtual machine's own handlers replace this.
///
/// Only a shell does it without `unsafe`; where there is none, there is no report.
fn without_crash_handlers(program: &Path) -> io::Result<Command> {
    const SHELL: &str = "/bin/sh";
    const IGNORING: &str = r#"trap "" SEGV BUS; exec "$0" "$@""#;
    if rustix::fs::access(SHELL, Access::EXEC_OK).is_err() {
        return Ok(Command::new(program));
    }
    // The shell would say so in words alone.
    rustix::fs::access(program, Access::EXEC_OK)?;
    let mut command = Command::new(SHELL);
    command.args(["-c", IGNORING]).arg(program);
    Ok(command)
}

/// The guard reads nothing of it, so the program finds the shared position at the beginning.
fn in_memory(file: &HandedFile) -> io::Result<File> {
    let mut held = File::from(rustix::fs::memfd_create(c"handed", MemfdFlags::CLOEXEC)?);
    held.write_all(&file.content)?;
    held.rewind()?;
    Ok(held)
}

/// Makes a reading end return at once when nothing is there; affects this side of the pipe only.
pub(super) fn set_nonblocking(descriptor: impl AsFd) -> rustix::io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&descriptor)?;
    rustix::fs::fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK)
}

/// Where guard and program report to: a file in memory, read from this side at its own offset.
///
/// A pipe would be a trap: when this process dies before bubblewrap's first report, the report fails, and bubblewrap gives
/// up while the process it has already made waits for it for ever.
#[derive(Debug)]
pub(super) struct StatusFile {
    file: OwnedFd,
    read_bytes: u64,
}

impl StatusFile {
    fn create() -> io::Result<Self> {
        let file = rustix::fs::memfd_create(c"status", MemfdFlags::CLOEXEC)?;
        // Guard and program write through openings of their own, and neither may overwrite the other.
        let flags = rustix::fs::fcntl_getfl(&file)?;
        rustix::fs::fcntl_setfl(&file, flags | OFlags::APPEND)?;
        Ok(Self { file, read_bytes: 0 })
    }

    fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Bytes that were added since the last call; none when they cannot be read.
    pub fn read_new(&mut self, buffer: &mut [u8]) -> usize {
        let count = rustix::io::pread(&self.file, buffer, self.read_bytes).unwrap_or(0);
        self.read_bytes += count as u64;
        count
    }
}
