//! One file per command, and what commands share.

mod analysis;
mod answer;
mod batch;
mod boot;
pub mod boot_data;
mod boot_files;
mod boot_mode;
mod clean;
mod confirmation;
pub mod context;
mod crash_report;
mod decompilation;
mod decompile;
mod diagnostics;
mod doctor;
pub mod failure;
mod functions;
pub mod host;
mod inspect;
mod kept;
mod path_text;
mod retained_log;
mod run;
pub mod schemas;
mod store_list;
mod wanted;
mod worker;
mod worker_times;
mod workplace;

pub use run::{refuse, run};
