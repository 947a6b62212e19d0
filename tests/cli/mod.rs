//! The command line and its documents, without Ghidra.

mod arguments;
mod batches;
mod cleaning;
mod discovery;
mod engines;
mod environment;
mod framing;
mod memory;
mod presentation;
mod progress;
mod samples;
mod stores;
mod surface;
