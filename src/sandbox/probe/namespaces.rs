//! Whether namespaces are the worker's own.

use std::collections::BTreeMap;
use std::fs;

use super::Attempt;

const KINDS: [&str; 7] = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];

/// The identities of this process's namespaces; a kind that the kernel does not have is missing.
pub(super) fn own() -> BTreeMap<String, String> {
    KINDS.iter().filter_map(|kind| Some(((*kind).to_owned(), identity(kind)?))).collect()
}

fn identity(kind: &str) -> Option<String> {
    let link = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
    link.into_os_string().into_string().ok()
}

pub(super) fn differ(kind: &str, of_the_harness: &BTreeMap<String, String>) -> Attempt {
    match (of_the_harness.get(kind), identity(kind)) {
        (Some(outer), Some(inner)) if *outer == inner => Err(format!("the {kind} namespace is the caller's")),
        (None, None) if kind == "cgroup" => Ok(()),
        (Some(_), Some(_)) => Ok(()),
        _ => Err(format!("the {kind} namespace cannot be told")),
    }
}

/// Every network interface has a line after the two of the heading.
pub(super) fn interfaces() -> Attempt {
    let table = fs::read_to_string("/proc/net/dev").map_err(|error| format!("/proc/net/dev: {error}"))?;
    let names = table.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim);
    match names.into_iter().find(|name| *name != "lo") {
        Some(name) => Err(format!("the network interface {name} is there")),
        None => Ok(()),
    }
}
