//! What the kernel says about processes: who belongs to a test's store, and what they map.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::tree;

/// Numbers of the running processes that have `marker` in their command line or among their
/// mounts. A worker inside the sandbox shows its store only in its mounts.
pub fn marked(marker: &Path) -> Vec<u32> {
    let marker = marker.to_str().unwrap().as_bytes();
    let holds = |pid: u32, file: &str| {
        std::fs::read(format!("/proc/{pid}/{file}"))
            .is_ok_and(|bytes| bytes.windows(marker.len()).any(|window| window == marker))
    };
    all()
        .into_iter()
        .filter(|pid| ["cmdline", "mountinfo", "environ"].iter().any(|file| holds(*pid, file)))
        .collect()
}

/// Waits until no process has the marker; says which were left when that takes too long.
pub fn wait_until_gone(marker: &Path) {
    let started = Instant::now();
    loop {
        let left = marked(marker);
        if left.is_empty() {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "processes survive: {}", describe(&left));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Descendants of a process.
pub fn descendants(ancestor: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = all().into_iter().filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
    let mut family = vec![ancestor];
    let mut next = 0;
    while next < family.len() {
        let parent = family[next];
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    family.split_off(1)
}

/// Whether a process maps a file whose path contains `name`. A process that is gone maps nothing.
pub fn maps(pid: u32, name: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains(name))
}

/// Whether a process exists and runs the program of this name.
pub fn is_named(pid: u32, name: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|found| found.trim_end() == name)
}

/// What a worker on this store has written so far to a file of its invocation directory.
pub fn exchanged(store: &Path, name: &str) -> Option<Vec<u8>> {
    let staging = store.join("staging");
    let mut invocations = tree::names(&staging).into_iter();
    invocations.find_map(|id| std::fs::read(staging.join(id).join("invocation").join(name)).ok())
}

/// Sends a signal to a process that exists.
pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Repeats `observe` until it gives something.
pub fn wait_for<T>(what: &str, mut observe: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = observe() {
            return value;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "{what} never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn all() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything, so the fields are counted from its end.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn describe(pids: &[u32]) -> String {
    let line = |pid: &u32| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("{pid}: {}", String::from_utf8_lossy(&command).replace('\0', " "))
    };
    pids.iter().map(line).collect::<Vec<_>>().join("\n")
}
