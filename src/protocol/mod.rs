//! The private protocol between the harness and its worker: one request file, one response
//! file, strict on both sides because the two ship together.

mod bounds;
pub mod decode;
pub mod encode;
pub mod limits;
pub mod receive;
pub mod registry;
pub mod request;
pub mod response;
pub mod violation;
