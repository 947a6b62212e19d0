//! Explicit removal of stored data: one Sample's, or everything (PRD "Clean stored data").
//!
//! In two phases. All that was asked for is first renamed into a directory of its own below
//! `cleanup/`, the *transaction*, and only then deleted there. A rename that fails is undone
//! with all before it. A transaction that a dead or failed command left behind is never served
//! and never put back: the next cleanup that covers its target deletes it first. Nothing
//! follows a link, and nothing outside the target is touched.

#[cfg(test)]
mod cleanup_tests;
mod lock;
mod run;
mod scope;
mod step;
mod survey;
mod transaction;

pub use lock::CleanLock;
pub use run::CleanupError;
pub use scope::CleanupScope;
pub use step::{CleanupStep, CleanupStepKind};
pub use survey::Leftovers;
