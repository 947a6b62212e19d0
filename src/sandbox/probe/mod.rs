//! Tries, from inside, to reach what a worker must not reach.
//!
//! `doctor` runs this in the production sandbox, in place of the virtual machine. Every attempt is harmless should it succeed.
//! What must hold is written down here once more, not taken from the launcher, so that a launcher which grants too much is
//! found out. It judges the bubblewrap sandbox only.

mod calls;
mod environment;
mod files;
mod namespaces;
pub mod raw_call;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::grants::{Sizes, WorkerGrants};
use super::paths::inside;
use crate::domain::path_value::PathValue;
use crate::domain::protection::Protection;

/// What a worker needs to know to find out what it can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Questions {
    /// Files and directories of this machine that must not be there.
    pub hidden: Vec<PathValue>,
    /// The harness's own namespaces, which the worker must not share.
    pub namespaces: BTreeMap<String, String>,
    /// Size in bytes of each memory file system that may be written.
    pub sizes_bytes: BTreeMap<String, u64>,
    /// Bound of a single file, in bytes.
    pub file_size_bytes: u64,
}

/// The answer about one protection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Which one.
    pub protection: Protection,
    /// How it did not hold; null when it held.
    pub breach: Option<String>,
}

impl Questions {
    /// The questions for a worker that was given `grants`, with `hidden` from the caller.
    #[must_use]
    pub fn new(grants: &WorkerGrants, hidden: &[PathBuf]) -> Self {
        let Sizes { temporary_mib, home_mib, shared_memory_mib, file_size_bytes } = grants.sizes;
        let sizes = [
            (inside::TEMPORARY, temporary_mib),
            (inside::HOME, home_mib),
            (inside::SHARED_MEMORY, shared_memory_mib),
        ];
        Self {
            hidden: hidden.iter().map(|path| path.as_path().into()).collect(),
            namespaces: namespaces::own(),
            sizes_bytes: sizes.map(|(path, mib)| (path.to_owned(), mib.saturating_mul(1 << 20))).into(),
            file_size_bytes,
        }
    }
}

/// Tries everything; one finding for each of [`Protection::PROBED`], in that order.
#[must_use]
pub fn run(questions: &Questions) -> Vec<Finding> {
    Protection::PROBED
        .into_iter()
        .map(|protection| Finding { protection, breach: attempt(protection, questions).err() })
        .collect()
}

/// What went wrong, in words; an attempt that cannot be made is no proof and counts as a breach.
type Attempt = Result<(), String>;

fn attempt(protection: Protection, questions: &Questions) -> Attempt {
    match protection {
        Protection::HiddenFiles => files::hidden(&questions.hidden),
        Protection::ReadOnlyFiles => files::read_only(),
        Protection::DeviceAttributes => files::devices(),
        Protection::SizedFileSystems => files::sized(&questions.sizes_bytes),
        Protection::UserNamespace => {
            namespaces::differ("user", &questions.namespaces).and_then(|()| environment::user())
        }
        Protection::MountNamespace => namespaces::differ("mnt", &questions.namespaces),
        Protection::ProcessNamespace => {
            namespaces::differ("pid", &questions.namespaces).and_then(|()| environment::processes())
        }
        Protection::NetworkNamespace => {
            namespaces::differ("net", &questions.namespaces).and_then(|()| namespaces::interfaces())
        }
        Protection::IpcNamespace => namespaces::differ("ipc", &questions.namespaces),
        Protection::HostNameNamespace => {
            namespaces::differ("uts", &questions.namespaces).and_then(|()| environment::host_name())
        }
        Protection::ControlGroupNamespace => namespaces::differ("cgroup", &questions.namespaces),
        Protection::FirstProcess => environment::first_process(),
        Protection::OwnSession => environment::own_session(),
        Protection::EndsWithParent => environment::ends_with_parent(),
        Protection::Capabilities => environment::capabilities(),
        Protection::Environment => environment::variables(),
        Protection::Descriptors => environment::descriptors(),
        Protection::FileLimits => environment::file_limits(questions.file_size_bytes),
        Protection::Sockets => calls::sockets(Path::new(inside::TEMPORARY)),
        Protection::SystemCalls => calls::refused(Path::new(inside::TEMPORARY)),
        Protection::NewSystemCalls => calls::nonexistent(Path::new(inside::TEMPORARY)),
        // The filter refuses the attempt first; whether bubblewrap set the limit is the harness's to say.
        Protection::NestedUserNamespaces => Err("cannot be judged from inside".to_owned()),
    }
}

fn expect<T: PartialEq + std::fmt::Display>(what: &str, found: T, expected: T) -> Attempt {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found} instead of {expected}")) }
}
