//! The published contract: schemas, registries, generated documents, conformance of the two sides.

mod blessed;
mod codes;
mod compatibility;
mod conformance;
mod registry;
mod schemas;
mod strictness;
