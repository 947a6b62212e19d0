//! The reliability sweeps: each a table of cases that finds what a single example would not.
//!
//! One file per sweep, with a `SWEEP` and a test named `sweep`; that is all `cargo xtask soak`
//! needs to know. Those that boot the real engine are below `ghidra`. See docs/reliability.md.

mod arguments;
mod damage;
mod disk_full;
mod faults;
mod ghidra;
mod scenario;
mod upkeep;
