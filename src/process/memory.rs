//! Measures the memory of a process tree and of its memory file systems.
//!
//! The measure is the summed proportional set size, so pages that members share count once, and the page tables. Reading it
//! walks page tables, which the members can make as slow as they like: it is read beside the supervision, and only while the
//! cheap upper bound, the summed resident size, is above the limit. The verdict is the same, and a measurement that does not
//! come in time is one.
//! A member whose proportional size cannot be read counts with its resident size. A member whose first thread has ended shows
//! its memory only through its other threads. Pages of a memory file system that are
//! also mapped count twice: the measure may exceed the truth, never hide from it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::launch::MemoryFileSystem;
use super::tree::Process;

/// Longest that a measurement is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes the measurements of one run.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// Made for the first slow measurement.
    beside: Option<Beside>,
    ordered_at: Option<Instant>,
    /// The highest that was found, in bytes.
    pub peak_bytes: u64,
}

/// A thread that reads proportional sizes; it ends when this is dropped.
#[derive(Debug)]
struct Beside {
    orders: Sender<Vec<PathBuf>>,
    readings: Receiver<u64>,
}

impl Meter {
    /// Memory of `members` in bytes, plus what the file systems hold as the process `worker` sees them, if it is known to
    /// be above the limit. Never waits.
    pub fn excess(
        &mut self,
        members: &[Process],
        worker: Option<i32>,
        file_systems: &[MemoryFileSystem],
        limit_bytes: u64,
    ) -> Option<u64> {
        let files: u64 = worker.map_or(0, |worker| {
            let worker = living(worker);
            file_systems.iter().map(|found| used_bytes(&worker, found)).sum()
        });
        let members: Vec<PathBuf> = members.iter().map(|member| living(member.pid)).collect();
        let bound =
            members.iter().filter_map(|member| resident_bytes(member)).sum::<u64>().saturating_add(files);
        let used =
            if bound <= limit_bytes { bound } else { self.slow(members, bound)?.saturating_add(files) };
        self.peak_bytes = self.peak_bytes.max(used);
        (used > limit_bytes).then_some(used)
    }

    /// The last measurement that has arrived, and the order for the next; `bound` when none can be had, or none came in time.
    fn slow(&mut self, members: Vec<PathBuf>, bound: u64) -> Option<u64> {
        if self.beside.is_none() {
            self.beside = Beside::start().ok();
        }
        let Some(beside) = &self.beside else { return Some(bound) };
        let reading = beside.readings.try_recv().ok();
        match (reading, self.ordered_at) {
            (None, Some(ordered_at)) => (ordered_at.elapsed() > PATIENCE).then_some(bound),
            _ => {
                self.ordered_at = beside.orders.send(members).ok().map(|()| Instant::now());
                reading
            }
        }
    }
}

impl Beside {
    fn start() -> io::Result<Self> {
        let (orders, taken) = mpsc::channel::<Vec<PathBuf>>();
        let (reported, readings) = mpsc::channel();
        thread::Builder::new().name("memory".to_owned()).spawn(move || {
            taken.iter().map(|members| proportional(&members)).try_for_each(|bytes| reported.send(bytes))
        })?;
        Ok(Self { orders, readings })
    }
}

fn proportional(members: &[PathBuf]) -> u64 {
    let sizes =
        members.iter().filter_map(|member| proportional_bytes(member).or_else(|| resident_bytes(member)));
    sizes.fold(0, u64::saturating_add)
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

/// With its page tables, which can be far larger than what they lead to.
fn resident_bytes(process: &Path) -> Option<u64> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    Some(kibibytes(&status, "VmRSS:")?.saturating_add(kibibytes(&status, "VmPTE:")?))
}

fn proportional_bytes(process: &Path) -> Option<u64> {
    let rollup = fs::read_to_string(process.join("smaps_rollup")).ok()?;
    let status = fs::read_to_string(process.join("status")).ok()?;
    Some(kibibytes(&rollup, "Pss:")?.saturating_add(kibibytes(&status, "VmPTE:")?))
}

/// The value of a line `NAME   N kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::process::tree;

    fn own() -> Vec<Process> {
        tree::read(rustix::process::getpid().as_raw_pid()).into_iter().collect()
    }

    #[test]
    fn the_proportional_size_is_used_only_above_the_limit_and_never_exceeds_the_resident_size() {
        let mut meter = Meter::default();
        assert_eq!(meter.excess(&own(), None, &[], u64::MAX), None);
        assert!(meter.beside.is_none(), "the upper bound is enough");
        let resident = meter.peak_bytes;
        let began = Instant::now();
        let proportional = loop {
            match meter.excess(&own(), None, &[], 1) {
                Some(bytes) => break bytes,
                None => assert!(began.elapsed() < PATIENCE * 2),
            }
        };
        assert!(proportional > 64 * 1024, "{proportional} bytes is no process");
        // Other test threads allocate between the two readings.
        assert!(proportional <= resident + 64 * 1024 * 1024, "{proportional} > {resident}");
    }

    #[test]
    fn a_measurement_that_does_not_come_is_a_breach_once_patience_is_over() {
        let (orders, _taken) = mpsc::channel();
        let (_reported, readings) = mpsc::channel();
        let mut meter = Meter { beside: Some(Beside { orders, readings }), ..Meter::default() };
        assert_eq!(meter.excess(&own(), None, &[], 1), None);
        assert_eq!(meter.excess(&own(), None, &[], 1), None);
        meter.ordered_at = Instant::now().checked_sub(PATIENCE + Duration::from_secs(1));
        assert!(meter.excess(&own(), None, &[], 1) > Some(64 * 1024));
    }

    #[test]
    fn page_tables_count_although_nothing_is_resident_behind_them() {
        let text = "Name:\tx\nVmRSS:\t       4 kB\nVmPTE:\t 2805568 kB\n";
        assert_eq!(kibibytes(text, "VmPTE:"), Some(2_805_568 * 1024));
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("status"), text).unwrap();
        fs::write(directory.path().join("smaps_rollup"), "00-ff ---p 0 0:0 0 [rollup]\nPss:   3 kB\n")
            .unwrap();
        assert_eq!(resident_bytes(directory.path()), Some(2_805_572 * 1024));
        assert_eq!(proportional(&[directory.path().to_owned()]), 2_805_571 * 1024);
    }

    #[test]
    fn a_path_that_is_not_the_expected_file_system_counts_nothing() {
        let own = Path::new("/proc/self");
        let other = MemoryFileSystem { path: PathBuf::from("/"), size_bytes: 4096 };
        assert_eq!(used_bytes(own, &other), 0);
    }
}
