//! Whole commands in this process, on a scripted worker: no JVM, no child process.

mod answers;
mod batch;
mod budget;
mod cleaning;
mod corruption;
mod endings;
mod exchange;
mod failures;
mod listing;
mod packaging;
mod selectors;
mod tampering;
mod worker_ends;
