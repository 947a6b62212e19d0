//! Everything a command takes from outside itself, so that tests can give it something else.
//!
//! The environment is a closed list: no other variable can change an answer.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use time::OffsetDateTime;

use crate::domain::invocation_id::InvocationId;
use crate::domain::limits::STORE_RESERVE_BYTES;
use crate::engine::bundle::Bundle;
use crate::process::{Interrupts, Launcher};
use crate::protocol::limits::MAX_RESPONSE_BYTES;
use crate::store::CleanupStep;

/// Puts a question to the person at the terminal; `None` when there is no answer.
pub type Ask<'process> = dyn Fn(&str) -> io::Result<Option<String>> + 'process;

/// The environment variables that ghidr reads. An empty value counts as unset, except for
/// `GHIDR_STORE`, whose empty value is invalid like any other relative path.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `GHIDR_STORE`.
    pub ghidr_store: Option<OsString>,
    /// `GHIDR_GHIDRA`.
    pub ghidr_ghidra: Option<OsString>,
    /// `GHIDR_JAVA_HOME`.
    pub ghidr_java_home: Option<OsString>,
    /// `GHIDRA_INSTALL_DIR`.
    pub ghidra_install_dir: Option<OsString>,
    /// `JAVA_HOME`.
    pub java_home: Option<OsString>,
    /// `XDG_CACHE_HOME`.
    pub xdg_cache_home: Option<OsString>,
    /// `HOME`.
    pub home: Option<OsString>,
    /// `NO_COLOR`. Output is never coloured, so it holds by itself; listed because it is
    /// part of the contract.
    pub no_color: Option<OsString>,
}

impl Environment {
    /// Reads the listed variables through `variable`.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            ghidr_store: variable("GHIDR_STORE"),
            ghidr_ghidra: set("GHIDR_GHIDRA"),
            ghidr_java_home: set("GHIDR_JAVA_HOME"),
            ghidra_install_dir: set("GHIDRA_INSTALL_DIR"),
            java_home: set("JAVA_HOME"),
            xdg_cache_home: set("XDG_CACHE_HOME"),
            home: set("HOME"),
            no_color: set("NO_COLOR"),
        }
    }
}

/// What a command runs on.
pub struct Host<'process> {
    /// This executable, which is also the worker.
    pub executable: PathBuf,
    /// What set-up installed beside it.
    pub bundle: Bundle,
    /// The closed environment.
    pub environment: Environment,
    /// Starts workers.
    pub launcher: &'process dyn Launcher,
    /// The user's interruptions.
    pub interrupts: &'process Interrupts,
    /// The present time, for records only; no answer depends on it.
    pub now: fn() -> OffsetDateTime,
    /// A fresh random identity.
    pub new_invocation_id: fn() -> std::io::Result<InvocationId>,
    /// Whether stderr is a terminal.
    pub stderr_is_terminal: bool,
    /// Asks the person at the terminal, when there is one.
    pub ask: Option<&'process Ask<'process>>,
    /// Asked before each step of a cleanup, which it can refuse.
    pub before_cleanup_step: &'process dyn Fn(&CleanupStep) -> io::Result<()>,
    /// Opens standard input.
    pub standard_input: fn() -> io::Result<OwnedFd>,
    /// Free space the store keeps beyond a Sample, in bytes.
    pub store_reserve_bytes: u64,
    /// Largest response accepted from a worker, in bytes.
    pub max_response_bytes: u64,
}

impl<'process> Host<'process> {
    /// The production host of the process whose executable this is, with nobody to ask.
    pub fn of_process(
        executable: PathBuf,
        launcher: &'process dyn Launcher,
        interrupts: &'process Interrupts,
        stderr_is_terminal: bool,
    ) -> Self {
        Self {
            bundle: Bundle::beside(&executable),
            executable,
            environment: Environment::read(|name| std::env::var_os(name)),
            launcher,
            interrupts,
            now: OffsetDateTime::now_utc,
            new_invocation_id: random_invocation_id,
            stderr_is_terminal,
            ask: None,
            before_cleanup_step: &unhindered,
            standard_input,
            store_reserve_bytes: STORE_RESERVE_BYTES,
            max_response_bytes: MAX_RESPONSE_BYTES,
        }
    }
}

fn standard_input() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}

fn unhindered(_: &CleanupStep) -> io::Result<()> {
    Ok(())
}

fn random_invocation_id() -> std::io::Result<InvocationId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(InvocationId::from_bytes(bytes))
}
