//! The language of the product: identities, values and documents, with no I/O.

pub mod address;
pub mod candidates;
pub mod canonical_json;
pub mod diagnostic_log;
pub mod digest;
pub mod doctor_report;
pub mod documents;
pub mod error;
pub mod exit_status;
pub mod fault;
pub mod function;
pub mod invocation_id;
pub mod limits;
pub mod page;
pub mod path_value;
pub mod profile;
pub mod program;
pub mod provenance;
pub mod sample_header;
pub mod sandbox_mode;
pub mod selector;
pub mod store_source;
pub mod target;
pub mod usage;
pub mod warning;
pub mod worker_error;
