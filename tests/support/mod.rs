//! What several modules of the integration tests share.

pub mod arguments;
pub mod boots;
pub mod committed;
pub mod contract;
pub mod damage;
pub mod fake_answer;
pub mod fake_engine;
pub mod fake_process;
pub mod fixtures;
pub mod ghidr;
pub mod golden;
pub mod hostile;
pub mod installed;
pub mod normalize;
pub mod processes;
pub mod random;
pub mod residue;
pub mod right_answer;
pub mod schema_samples;
pub mod scripted_worker;
pub mod shared;
pub mod small_disk;
pub mod strace;
pub mod sweep;
pub mod tree;
pub mod worker_run;
