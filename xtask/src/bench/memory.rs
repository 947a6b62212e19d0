//! Peak memory of a process, and of the processes below it, by looking often.
//!
//! The kernel keeps a process's own peak until it ends, so the last look before the end tells it. A tree has no such
//! counter: its peak is the largest sum of proportional set sizes that was seen.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::command;
use crate::error::TaskError;

const LOOK: Duration = Duration::from_millis(10);
/// Proportional sizes cost a walk through page tables, so they are read less often.
const LOOKS_PER_TREE_LOOK: u32 = 10;

/// What one run needed at most, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Resident memory of the started process alone.
    pub process_bytes: u64,
    /// Summed proportional set size of everything below it.
    pub descendants_bytes: u64,
    /// The same with the started process.
    pub tree_bytes: u64,
}

/// Runs `command` to its end, whatever its exit status.
pub fn peak(command: &mut Command) -> Result<Peak, TaskError> {
    let quiet = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let mut child = command::spawned(command, quiet)?;
    let mut peak = Peak::default();
    let mut looks: u32 = 0;
    let ended = loop {
        peak.process_bytes =
            peak.process_bytes.max(field(&format!("/proc/{}/status", child.id()), "VmHWM:").unwrap_or(0));
        if looks.is_multiple_of(LOOKS_PER_TREE_LOOK) {
            let below: u64 = descendants(child.id()).into_iter().filter_map(proportional).sum();
            peak.descendants_bytes = peak.descendants_bytes.max(below);
            peak.tree_bytes = peak.tree_bytes.max(below + proportional(child.id()).unwrap_or(0));
        }
        looks = looks.wrapping_add(1);
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK),
            ended => break ended,
        }
    };
    match ended {
        Ok(_) => Ok(peak),
        Err(source) => {
            Err(TaskError::File { action: "wait for", path: command.get_program().into(), source })
        }
    }
}

fn proportional(pid: u32) -> Option<u64> {
    field(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

/// A size in a file of `/proc`, in bytes.
fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes.saturating_mul(1_024))
}

fn descendants(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = pid.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut waiting = vec![root];
    while let Some(pid) = waiting.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        waiting.extend(&below);
        found.extend(below);
    }
    found
}

fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_and_its_child_are_told_apart() {
        let peak = peak(Command::new("sh").args(["-c", "sleep 0.3; exit 7"])).unwrap();
        assert!(peak.process_bytes > 0 && peak.descendants_bytes > 0, "{peak:?}");
        assert!(peak.tree_bytes > peak.descendants_bytes, "{peak:?}");
    }
}
