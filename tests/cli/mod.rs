//! The command line and its documents, without any worker.

mod arguments;
mod cleaning;
mod discovery;
mod engines;
mod environment;
mod framing;
mod memory;
mod presentation;
mod samples;
mod stores;
mod surface;
