//! The trusted harness of ghidr.

pub mod process;
pub mod sandbox;
