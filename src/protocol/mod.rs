//! The private protocol between the harness and its worker: one request file, one response
//! file, and a file of answers, strict on both sides because the two ship together.

pub mod answers;
mod bounds;
pub mod decode;
pub mod encode;
pub mod limits;
pub mod receive;
pub mod registry;
pub mod request;
pub mod response;
pub mod violation;
