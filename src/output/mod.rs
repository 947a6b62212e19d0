//! Turns answers and failures into bytes, and is the only writer of stdout and stderr.

pub mod batch;
pub mod budget;
pub mod envelope;
pub mod error_document;
pub mod escape;
pub mod human;
pub mod human_error;
mod page_notice;
pub mod progress;
pub mod sink;
pub mod storage;
