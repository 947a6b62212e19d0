//! The trusted harness of ghidr.
//!
//! Layers, never upward: `main → cli → commands → {engine, store, sandbox, protocol, output,
//! process} → domain`.

pub mod domain;
pub mod store;
