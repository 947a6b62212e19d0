//! What a launch is made of: the plan a sandbox backend writes, and the supervision a command asks for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::ProcessError;
use super::interrupts::Interrupts;
use super::outcome::Outcome;

/// The grace a worker gets between the polite request to end and the kill.
pub const GRACE: Duration = Duration::from_secs(10);

/// A complete description of one child process; nothing is inherited from the caller but the user and group.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// An executable that answers [`GUARD`](super::guard::GUARD): it runs the program and ends it when this process dies.
    pub guard: PathBuf,
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// Its arguments, without the program itself.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub current_directory: PathBuf,
    /// How the program reports about the worker it starts; `None` when the program is itself the worker.
    pub status_channel: Option<StatusChannel>,
    /// Files that exist for the program alone, such as system call filters.
    pub handed_files: Vec<HandedFile>,
    /// File systems of the worker that live in memory and therefore count as its memory.
    pub memory_file_systems: Vec<MemoryFileSystem>,
    /// Directories on this side that the worker can write to, counted against the disk quota.
    pub writable_directories: Vec<PathBuf>,
}

/// A file in memory that the program reads from a descriptor it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedFile {
    /// The option that precedes the descriptor number; both are put in front of the plan's arguments.
    pub option: &'static str,
    /// What the file holds; it is open at its beginning.
    pub content: Vec<u8>,
}

/// A memory file system that exists only in the worker's mount namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFileSystem {
    /// Where the worker sees it.
    pub path: PathBuf,
    /// The size it was created with, by which it is told from whatever the path means before it is mounted.
    pub size_bytes: u64,
}

/// A file in which the program reports, one line at a time, what becomes of the worker.
#[derive(Clone, Copy, Debug)]
pub struct StatusChannel {
    /// The option that precedes the descriptor number; both are put in front of the plan's arguments.
    pub option: &'static str,
    /// Reads one line; `None` for a line that says nothing of interest.
    pub decode: fn(&[u8]) -> Option<StatusEvent>,
}

/// What a line on the status channel said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusEvent {
    /// The worker exists under this process id of the caller's namespace.
    Started {
        /// The process id.
        pid: u32,
    },
    /// The worker ended with this status in the shell's encoding.
    Exited {
        /// `n`, or `128 + n` after signal `n`.
        status: i32,
    },
}

/// The limits and observers of one run.
pub struct Supervision<'a> {
    /// Time after which the worker is ended, whatever it is doing.
    pub watchdog: Duration,
    /// Time between the polite request and the kill; [`GRACE`] outside tests.
    pub grace: Duration,
    /// The caller's own interruptions.
    pub interrupts: &'a Interrupts,
    /// An existing private directory that receives the captured streams.
    pub capture_directory: &'a Path,
    /// Bound of the memory of the whole worker tree.
    pub max_memory_bytes: Option<u64>,
    /// Bound of the processes of the whole worker tree, each counted with all of its threads.
    pub max_tasks: Option<u64>,
    /// Bound of the disk space taken by the plan's writable directories together.
    pub max_disk_bytes: Option<u64>,
    /// Called about twenty times a second with the time since the start; must not block, draining waits for it.
    pub on_tick: &'a mut dyn FnMut(Duration),
}

/// Runs a plan to its end; the seam at which commands are tested without a child process.
pub trait Launcher {
    /// Starts the plan, blocks until the whole worker tree is gone, and says how it ended.
    ///
    /// # Errors
    ///
    /// A [`ProcessError`] when the program could not be started or supervised. A worker that was started and ended, in
    /// whatever way, is an `Ok`.
    fn run(&self, plan: &LaunchPlan, supervision: &mut Supervision<'_>) -> Result<Outcome, ProcessError>;
}
