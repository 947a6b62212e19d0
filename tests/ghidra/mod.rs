//! The product through real Ghidra, a real JVM and real bubblewrap.

mod audit;
mod batch;
mod boot_data;
mod cleaning;
mod concurrency;
mod corruption;
mod doctor;
mod egress;
mod endings;
mod environment;
mod faults;
mod golden;
mod hostile;
mod installation;
mod limits;
mod modes;
mod more;
mod processors;
mod profile;
mod readme;
mod refusals;
mod result_size;
mod reuse;
mod selectors;
mod truth;
mod unchanged;
