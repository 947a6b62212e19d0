//! The trusted harness of ghidr.
//!
//! Layers, never upward: `main → cli → commands → {engine, store, sandbox, protocol, output,
//! process} → domain`.

pub mod cli;
pub mod commands;
pub mod domain;
pub mod engine;
pub mod output;
pub mod process;
pub mod protocol;
pub mod sandbox;
pub mod store;
