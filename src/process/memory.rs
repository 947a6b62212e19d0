//! Measures the memory of a process tree and of its memory file systems.
//!
//! The measure is the summed proportional set size, so pages that members share count once. Reading it walks page tables,
//! so it is read only when the cheap upper bound, the summed resident size, is above the limit: the verdict is the same.
//! A member whose proportional size cannot be read counts with its resident size. A member whose first thread has ended shows
//! its memory only through its other threads. Pages of a memory file system that are
//! also mapped count twice: the measure may exceed the truth, never hide from it.

use std::fs;
use std::path::{Path, PathBuf};

use super::launch::MemoryFileSystem;
use super::tree::Process;

/// Memory of `members` in bytes, plus what the file systems hold as the process `worker` sees them.
pub(super) fn tree_bytes(
    members: &[Process],
    worker: Option<i32>,
    file_systems: &[MemoryFileSystem],
    limit_bytes: u64,
) -> u64 {
    let files: u64 = worker.map_or(0, |worker| {
        let worker = living(worker);
        file_systems.iter().map(|found| used_bytes(&worker, found)).sum()
    });
    let members: Vec<PathBuf> = members.iter().map(|member| living(member.pid)).collect();
    let resident: u64 = members.iter().filter_map(|member| resident_bytes(member)).sum();
    if resident.saturating_add(files) <= limit_bytes {
        return resident.saturating_add(files);
    }
    let proportional: u64 = members
        .iter()
        .filter_map(|member| proportional_bytes(member).or_else(|| resident_bytes(member)))
        .sum();
    proportional.saturating_add(files)
}

/// The directory in which the kernel shows what the process has: its own, or that of a thread that still runs.
fn living(pid: i32) -> PathBuf {
    let own = PathBuf::from(format!("/proc/{pid}"));
    let has_memory = |directory: &Path| resident_bytes(directory).is_some_and(|bytes| bytes > 0);
    if has_memory(&own) {
        return own;
    }
    let threads = fs::read_dir(own.join("task")).into_iter().flatten().flatten();
    threads.map(|thread| thread.path()).find(|thread| has_memory(thread)).unwrap_or(own)
}

fn resident_bytes(process: &Path) -> Option<u64> {
    let statm = fs::read_to_string(process.join("statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

fn proportional_bytes(process: &Path) -> Option<u64> {
    let rollup = fs::read_to_string(process.join("smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes.saturating_mul(1024))
}

/// Zero while the path is not yet the file system that was asked for: the worker's root is set up step by step, and before
/// that its paths are those of the host.
fn used_bytes(worker: &Path, file_system: &MemoryFileSystem) -> u64 {
    let below_root = file_system.path.strip_prefix("/").unwrap_or(Path::new(""));
    let path = worker.join("root").join(below_root);
    let Ok(found) = rustix::fs::statvfs(&path) else { return 0 };
    let size = found.f_blocks.saturating_mul(found.f_frsize);
    if size.abs_diff(file_system.size_bytes) >= rustix::param::page_size() as u64 {
        return 0;
    }
    found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(found.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::tree;

    #[test]
    fn the_proportional_size_is_used_only_above_the_limit_and_never_exceeds_the_resident_size() {
        let own = tree::read(rustix::process::getpid().as_raw_pid());
        let members: Vec<Process> = own.into_iter().collect();
        let resident = tree_bytes(&members, None, &[], u64::MAX);
        let proportional = tree_bytes(&members, None, &[], 0);
        assert!(proportional > 64 * 1024, "{proportional} bytes is no process");
        // Other test threads allocate between the two readings.
        assert!(proportional <= resident + 64 * 1024 * 1024, "{proportional} > {resident}");
    }

    #[test]
    fn a_path_that_is_not_the_expected_file_system_counts_nothing() {
        let own = Path::new("/proc/self");
        let other = MemoryFileSystem { path: PathBuf::from("/"), size_bytes: 4096 };
        assert_eq!(used_bytes(own, &other), 0);
    }
}
