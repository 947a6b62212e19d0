//! The integration tests, one module for each part of the harness.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacks;
mod cli;
mod commands;
mod contract;
mod docs;
mod ghidra;
mod hygiene;
mod nix;
mod process;
mod sandbox;
mod support;
mod sweeps;
