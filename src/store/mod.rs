//! The Analysis Store: everything ghidr keeps between invocations, and how it is kept intact.
//!
//! Owns layout, locks, staging, promotion, verification, Artifacts and Diagnostic Logs. Knows
//! no process, no worker protocol and no command. Nothing incomplete is ever reachable under
//! a final name, and nothing that fails its digest is ever served.

mod dir;
mod error;
mod ghidra_path;
mod hashing;
mod io;
mod layout;
mod lock;
mod open;
mod resolve;
mod sample;
mod snapshot;
mod staging;
#[cfg(test)]
mod testing;
mod tree;

pub use error::StoreError;
pub use ghidra_path::GhidraPathViolation;
pub use io::Operation;
pub use lock::{
    AnalysisLock, BuildGuard, HoldsAnalysisLock, HoldsStoreLock, LockScope, ReadGuard, SampleLock, StoreLock,
};
pub use open::{LAYOUT_VERSION, Store, StoreRecord, StoreRecordKind};
pub use resolve::{InvalidPathReason, StoreEnvironment, StoreLocation};
pub use sample::{OpenedSample, SampleError, SampleIdentity};
pub use staging::Staging;
