//! What several modules of the integration tests share.

pub mod worker_run;
