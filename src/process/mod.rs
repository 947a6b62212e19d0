//! Runs one worker process and answers for its end.
//!
//! [`launch`] says what is started and under which limits, [`ChildLauncher`] starts it below a [`guard`], drains it and ends it,
//! and [`outcome`] says how it ended. [`worker_arguments`] and [`worker_life`] are the worker's side. Nothing here knows
//! Ghidra, bubblewrap or the worker's protocol: a sandbox backend hands over a finished [`LaunchPlan`].
//!
//! Invariants, whatever the worker does:
//! - When [`Launcher::run`] returns `Ok`, no process of the worker's tree is alive.
//! - When this process is killed, no process of the tree is alive shortly after: its death closes a pipe of which it holds
//!   the one end and the guard the other, nobody else either, and the guard kills everything below itself.
//! - Nothing waits for the end of a pipe: a process that outlives the worker may hold it open.
//! - Memory used for captured output is bounded, and pipes are drained until the tree is gone.

mod capture;
mod ending;
pub mod error;
pub mod guard;
pub mod input;
pub mod interrupts;
pub mod launch;
mod memory;
pub mod outcome;
mod quota;
mod spawn;
mod supervise;
pub mod terminal;
mod tree;
pub mod worker_arguments;
pub mod worker_life;

pub use error::ProcessError;
pub use interrupts::Interrupts;
pub use launch::{
    GRACE, HandedFile, LaunchPlan, Launcher, MemoryFileSystem, StatusChannel, StatusEvent, Supervision,
};
pub use outcome::{CapturedStream, EndedBy, Outcome, Segment, Termination, signal_of_status};
pub use supervise::ChildLauncher;
