//! The command line and its documents, without any worker.

mod framing;
mod surface;
