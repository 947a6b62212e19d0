//! The life of a worker, with real processes in every sandbox mode.

mod lifecycle;
mod worker;
