//! Finds, kills and reaps the processes of one run.
//!
//! The tree is the started program, its descendants, and every process that became this process's child while the program
//! ran: the harness is a subreaper, so orphans of the tree arrive here. Children this process had before (a shell may have
//! `exec`ed it) are bystanders. It follows that a caller must not start other children while a run is going on.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use signal_hook::consts::SIGCHLD;

use super::error::ProcessError;

/// How long killed processes may take to disappear; a kill is prompt unless the kernel holds the process.
pub(super) const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// Identity and parentage of a process; the start time tells a reused process id from the process it once named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process {
    pub pid: i32,
    pub start_ticks: u64,
    /// Threads, the leader included.
    pub threads: u32,
    parent: i32,
    /// Ended, and waiting to be reaped. A leader that has ended while other threads go on looks the same but for their number,
    /// and such a process lives.
    dead: bool,
}

#[derive(Debug)]
pub(super) struct Tree {
    own_pid: i32,
    root: Pid,
    bystanders: BTreeSet<(i32, u64)>,
}

/// Makes this process the parent of its orphaned descendants that is told how they end, and notes the children it already has.
///
/// Where SIGCHLD is ignored, as a caller may have left it, the kernel reaps children itself and their ends are never seen. Any
/// handler undoes that; the children start with the default.
pub(super) fn prepare() -> Result<BTreeSet<(i32, u64)>, ProcessError> {
    let own = rustix::process::getpid();
    signal_hook::flag::register(SIGCHLD, Arc::default())
        .map_err(ProcessError::supervise("be told of the end of children"))?;
    rustix::process::set_child_subreaper(Some(own)).map_err(ProcessError::supervise("become a subreaper"))?;
    Ok(children_of(own.as_raw_pid())
        .iter()
        .filter_map(|&pid| read(pid))
        .map(|found| (found.pid, found.start_ticks))
        .collect())
}

impl Tree {
    pub fn new(root: Pid, bystanders: BTreeSet<(i32, u64)>) -> Self {
        Self { own_pid: rustix::process::getpid().as_raw_pid(), root, bystanders }
    }

    /// The living members, found by following children; cheap enough for every poll, but a process that is born or
    /// orphaned meanwhile may be missed.
    pub fn members(&self) -> Vec<Process> {
        let mut found = Vec::new();
        let mut waiting: Vec<i32> = children_of(self.own_pid);
        while let Some(pid) = waiting.pop() {
            let Some(process) = read(pid) else { continue };
            if self.bystanders.contains(&(process.pid, process.start_ticks)) {
                continue;
            }
            waiting.extend(children_of(pid));
            if !process.dead {
                found.push(process);
            }
        }
        found
    }

    /// Kills the root's process group and every member until two looks in a row find none alive; reaps what was adopted.
    ///
    /// The root itself stays as a zombie for its owner, which also keeps its group id from being reused meanwhile. One look
    /// is not enough: what a dying member starts while the table is read is in it under no known parent.
    pub fn kill(&self) -> Result<(), ProcessError> {
        let give_up_at = Instant::now() + KILL_PATIENCE;
        let mut empty_looks = 0;
        loop {
            self.kill_root_group();
            let alive = self.kill_found();
            self.reap_adopted();
            empty_looks = if alive.is_empty() { empty_looks + 1 } else { 0 };
            if empty_looks == 2 {
                return Ok(());
            }
            pause_until(give_up_at, &alive)?;
        }
    }

    /// Kills and reaps until this process has no child left, and tells `reaped` of each.
    ///
    /// Exact where there are no bystanders: a subreaper without children has no descendants.
    pub fn kill_until_childless(&self, mut reaped: impl FnMut(Pid, WaitStatus)) -> Result<(), ProcessError> {
        let give_up_at = Instant::now() + KILL_PATIENCE;
        let mut root_reaped = false;
        loop {
            // Once the root is reaped its id may name another group.
            if !root_reaped {
                self.kill_root_group();
            }
            let alive = self.kill_found();
            loop {
                match rustix::process::wait(WaitOptions::NOHANG) {
                    Ok(Some((pid, status))) => {
                        root_reaped |= pid == self.root;
                        reaped(pid, status);
                    }
                    Ok(None) => break,
                    Err(rustix::io::Errno::INTR) => {}
                    Err(rustix::io::Errno::CHILD) => return Ok(()),
                    Err(error) => return Err(ProcessError::supervise("reap the worker")(error)),
                }
            }
            pause_until(give_up_at, &alive)?;
        }
    }

    fn kill_root_group(&self) {
        let _ = rustix::process::kill_process_group(self.root, Signal::KILL);
    }

    fn kill_found(&self) -> Vec<Process> {
        let alive = self.scan();
        alive.iter().for_each(|process| signal(*process, Signal::KILL));
        alive
    }

    /// The living members by a full look at the process table, which misses none that is not just being born.
    fn scan(&self) -> Vec<Process> {
        let table: Vec<Process> = process_ids().into_iter().filter_map(read).collect();
        let mut members: BTreeSet<i32> = BTreeSet::new();
        loop {
            let before = members.len();
            for process in &table {
                let adopted = process.parent == self.own_pid
                    && !self.bystanders.contains(&(process.pid, process.start_ticks));
                if adopted || members.contains(&process.parent) {
                    members.insert(process.pid);
                }
            }
            if members.len() == before {
                break;
            }
        }
        table.into_iter().filter(|process| members.contains(&process.pid) && !process.dead).collect()
    }

    fn reap_adopted(&self) {
        for pid in children_of(self.own_pid) {
            let Some(process) = read(pid) else { continue };
            if process.dead
                && pid != self.root.as_raw_pid()
                && !self.bystanders.contains(&(pid, process.start_ticks))
            {
                let _ = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
            }
        }
    }
}

/// Pauses before the next look, unless there is to be none.
fn pause_until(give_up_at: Instant, alive: &[Process]) -> Result<(), ProcessError> {
    if Instant::now() >= give_up_at {
        return Err(ProcessError::Survivors { pids: alive.iter().map(|process| process.pid).collect() });
    }
    std::thread::sleep(Duration::from_millis(1));
    Ok(())
}

/// Signals exactly the process that was found, never one that took over its id.
pub(super) fn signal(process: Process, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    let Ok(descriptor) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    if read(process.pid).is_some_and(|now| now.start_ticks == process.start_ticks) {
        let _ = rustix::process::pidfd_send_signal(descriptor, signal);
    }
}

/// The process with this id, if there is one.
pub(super) fn read(pid: i32) -> Option<Process> {
    parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The command name in parentheses may hold anything, parentheses included: fields are counted from the last one.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let end_of_name = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end_of_name + 2..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // `parent` is field 4 of the table in proc(5), the number of threads field 20, the start time field 22.
    let threads = fields.nth(15)?.parse().ok()?;
    let start_ticks = fields.nth(1)?.parse().ok()?;
    Some(Process { pid, start_ticks, threads, parent, dead: matches!(state, "Z" | "X") && threads <= 1 })
}

/// Children by the per-thread lists, or by the whole table on a kernel built without them.
fn children_of(pid: i32) -> Vec<i32> {
    let mut children = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return children };
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                children.extend(list.split_ascii_whitespace().filter_map(|id| id.parse::<i32>().ok()))
            }
            Err(_) if !thread.path().exists() => {}
            Err(_) => {
                let table = process_ids().into_iter().filter_map(read);
                return table.filter(|process| process.parent == pid).map(|process| process.pid).collect();
            }
        }
    }
    children
}

fn process_ids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_cannot_forge_fields() {
        let stat = b"42 (evil) Z 1 1 (x) S 7 42 42 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9876 0 0";
        let process = parse_stat(42, stat);
        let expected = Process { pid: 42, start_ticks: 9876, threads: 1, parent: 7, dead: false };
        assert_eq!(process, Some(expected));
    }

    #[test]
    fn a_leader_that_has_ended_is_alive_as_long_as_one_of_its_threads() {
        let dead = |threads: u32| {
            let stat = format!("42 (x) Z 7 42 42 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 {threads} 0 9876 0 0");
            parse_stat(42, stat.as_bytes()).map(|process| process.dead)
        };
        assert_eq!([1, 2, 900].map(dead), [Some(true), Some(false), Some(false)]);
    }

    #[test]
    fn this_process_reads_itself() {
        let own = rustix::process::getpid().as_raw_pid();
        let process = read(own);
        assert_eq!(process.map(|found| (found.pid, found.dead)), Some((own, false)));
    }
}
