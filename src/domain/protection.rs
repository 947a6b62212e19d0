//! What the sandbox protects against, by name, and whether it does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One protection of the bubblewrap sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// The caller's home, the store and the machine's own files are not there.
    HiddenFiles,
    /// What is granted for reading, and the machine's settings, cannot be written.
    ReadOnlyFiles,
    /// Modes, times, owners and attributes of the machine's devices cannot be changed.
    DeviceAttributes,
    /// Every memory file system that can be written has the size it was given.
    SizedFileSystems,
    /// A user namespace of its own, as a user without privileges.
    UserNamespace,
    /// A mount namespace of its own.
    MountNamespace,
    /// A process namespace of its own, in which no other process is seen.
    ProcessNamespace,
    /// A network namespace of its own, with nothing but an unconnected loopback.
    NetworkNamespace,
    /// A namespace of its own for shared memory, semaphores and message queues.
    IpcNamespace,
    /// A host name of its own.
    HostNameNamespace,
    /// A control group namespace of its own, where the kernel has them.
    ControlGroupNamespace,
    /// The worker is the first process of its namespace, so everything in it ends with it.
    FirstProcess,
    /// A session of its own, without the caller's terminal.
    OwnSession,
    /// The kernel ends the worker when what started it ends.
    EndsWithParent,
    /// No capability, and no way to gain privileges.
    Capabilities,
    /// Nothing of the caller's environment.
    Environment,
    /// No descriptor but the three standard streams, which are pipes.
    Descriptors,
    /// Bounded files, a bounded number of open ones, and no core dumps.
    FileLimits,
    /// No socket can be made.
    Sockets,
    /// Calls that reach beyond the sandbox are refused.
    SystemCalls,
    /// Calls that no filter can look into, or that nobody has considered, do not exist.
    NewSystemCalls,
    /// No further user namespace can be made inside, even without the filter.
    NestedUserNamespaces,
}

impl Protection {
    /// Every protection that a worker can judge from inside, in the order of reports.
    pub const PROBED: [Self; 21] = [
        Self::HiddenFiles,
        Self::ReadOnlyFiles,
        Self::DeviceAttributes,
        Self::SizedFileSystems,
        Self::UserNamespace,
        Self::MountNamespace,
        Self::ProcessNamespace,
        Self::NetworkNamespace,
        Self::IpcNamespace,
        Self::HostNameNamespace,
        Self::ControlGroupNamespace,
        Self::FirstProcess,
        Self::OwnSession,
        Self::EndsWithParent,
        Self::Capabilities,
        Self::Environment,
        Self::Descriptors,
        Self::FileLimits,
        Self::Sockets,
        Self::SystemCalls,
        Self::NewSystemCalls,
    ];
}

/// Whether a protection holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtectionStatus {
    /// It was tried and it held. Nested user namespaces are not tried: bubblewrap was told to forbid them, and would have
    /// ended otherwise.
    Active,
    /// This machine cannot provide it; the others hold without it.
    Unavailable,
    /// It was tried and it did not hold.
    Breached,
}

/// What is known of one protection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtectionReport {
    /// Which one.
    pub protection: Protection,
    /// Whether it holds.
    pub status: ProtectionStatus,
    /// What is wrong, in words.
    pub problem: Option<String>,
}
