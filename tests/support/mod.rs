//! What several modules of the integration tests share.

pub mod committed;
pub mod contract;
pub mod ghidr;
pub mod schema_samples;
pub mod worker_run;
