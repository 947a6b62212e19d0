//! The Analysis Store: everything ghidr keeps between invocations, and how it is kept intact.
//!
//! Owns layout, locks, staging, promotion, verification, Artifacts, Diagnostic Logs and cleanup. Knows
//! no process, no worker protocol and no command. Nothing incomplete is ever reachable under
//! a final name, and nothing that fails its digest is ever served.

mod analysis;
mod artifact;
mod cleanup;
mod denied;
mod diagnostics;
mod dir;
mod document;
mod error;
mod facts;
mod function_blocks;
mod function_table;
mod ghidra_path;
mod hashing;
mod inventory;
mod io;
mod kept_result;
mod layout;
mod lines;
mod list;
mod lock;
mod manifest;
mod open;
mod project_copy;
mod promotion;
mod quarantine;
#[cfg(test)]
mod read_only_tests;
mod resolve;
mod sample;
mod snapshot;
mod staging;
#[cfg(test)]
mod testing;
mod tree;
mod usage;
mod utf8;

pub use analysis::StoredAnalysis;
pub use artifact::{ArtifactScope, ArtifactWriter, PendingArtifact};
pub use cleanup::{CleanLock, CleanupError, CleanupScope, CleanupStep, CleanupStepKind, Leftovers};
pub use diagnostics::{
    CapturedSegment, CapturedStream, DIAGNOSTICS_VERSION, DiagnosticInput, DiagnosticInvocation,
    DiagnosticManifest, DiagnosticScope, DiagnosticSegment, DiagnosticStream, DiagnosticTermination,
    StreamEncoding, TerminationMode, TerminationReason,
};
pub use error::StoreError;
pub use facts::{FactsClaim, FileClaim};
pub use function_blocks::{BlockTally, FunctionBlock};
pub use function_table::FunctionTable;
pub use ghidra_path::GhidraPathViolation;
pub use io::Operation;
pub use lock::{
    AnalysisLock, BuildGuard, HoldsAnalysisLock, HoldsStoreLock, LockScope, ReadGuard, SampleLock, StoreLock,
};
pub use manifest::{
    AnalysisManifest, AnalysisState, InventoryEntry, MANIFEST_VERSION, ManifestBasis, ManifestCreator,
    ManifestFacts, ManifestProfile, ManifestProject, ManifestSample,
};
pub use open::{LAYOUT_VERSION, Store, StoreRecord, StoreRecordKind};
pub use promotion::PromotionInput;
pub use resolve::{InvalidPathReason, StoreEnvironment, StoreLocation};
pub use sample::{OpenedSample, SampleError, SampleIdentity};
pub use staging::Staging;
