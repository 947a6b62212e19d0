//! Whether the process is what it should be, alone, and without anything of the caller's.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use rustix::process::{Resource, Signal};

use super::{Attempt, expect};
use crate::sandbox::environment as granted;

/// Bubblewrap adds the working directory to what the launcher sets.
const ADDED_VARIABLE: &str = "PWD";
const USER_ID: u32 = 1000;
const OPEN_FILES: u64 = 1024;

pub(super) fn user() -> Attempt {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    expect("the user", user.as_raw(), USER_ID)?;
    expect("the group", group.as_raw(), USER_ID)
}

pub(super) fn processes() -> Attempt {
    let own = std::process::id().to_string();
    for entry in fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != own && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("process {name} is visible"));
        }
    }
    Ok(())
}

pub(super) fn host_name() -> Attempt {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").map_err(|error| error.to_string())?;
    expect("the host name", name.trim(), "localhost")
}

pub(super) fn first_process() -> Attempt {
    expect("the process id", std::process::id(), 1)
}

/// Read from the kernel's table, where a session of another namespace has the number 0.
pub(super) fn own_session() -> Attempt {
    const AFTER_NAME: usize = 3;
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields.split_ascii_whitespace());
    let session = fields.and_then(|mut fields| fields.nth(AFTER_NAME)).unwrap_or("missing");
    expect("the session", session, std::process::id().to_string().as_str())
}

pub(super) fn ends_with_parent() -> Attempt {
    match rustix::process::parent_process_death_signal() {
        Ok(Some(Signal::KILL)) => Ok(()),
        Ok(_) => Err("the end of the parent is not noticed".to_owned()),
        Err(error) => Err(format!("the parent's death signal: {error}")),
    }
}

pub(super) fn capabilities() -> Attempt {
    let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim).unwrap_or("missing")
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        expect(set, field(set), "0000000000000000")?;
    }
    expect("NoNewPrivs", field("NoNewPrivs"), "1")
}

pub(super) fn variables() -> Attempt {
    let allowed: BTreeSet<&str> = granted::NAMES.into_iter().chain([ADDED_VARIABLE]).collect();
    let found = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    match found.into_iter().find(|name| !allowed.contains(name.as_str())) {
        Some(name) => Err(format!("the variable {name} is set")),
        None => Ok(()),
    }
}

/// The descriptor that reads the list is in it, and closed when its own entry is looked at.
pub(super) fn descriptors() -> Attempt {
    let entries = fs::read_dir("/proc/self/fd").map_err(|error| format!("/proc/self/fd: {error}"))?;
    let names: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    for path in names {
        let Ok(found) = fs::metadata(&path) else { continue };
        let number = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match number.as_str() {
            "0" | "1" | "2" if found.file_type().is_fifo() => {}
            "0" | "1" | "2" => return Err(format!("standard stream {number} is no pipe")),
            _ => return Err(format!("descriptor {number} is open")),
        }
    }
    Ok(())
}

pub(super) fn file_limits(file_size_bytes: u64) -> Attempt {
    let at_most = |what: &str, resource, most: u64| match rustix::process::getrlimit(resource).maximum {
        Some(limit) if limit <= most => Ok(()),
        Some(limit) => Err(format!("{what} is {limit} instead of {most}")),
        None => Err(format!("{what} does not exist")),
    };
    at_most("the bound of a file", Resource::Fsize, file_size_bytes)?;
    at_most("the bound of open files", Resource::Nofile, OPEN_FILES)?;
    at_most("the bound of a core dump", Resource::Core, 0)
}
