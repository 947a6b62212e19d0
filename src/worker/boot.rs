//! Reads from the request how to boot the virtual machine; all else in it is the adapter's to check.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ghidr::process::worker_arguments::WorkerArguments;
use jvm_bridge::BridgeConfig;
use serde::Deserialize;
use serde::de::IgnoredAny;

const MAX_REQUEST_BYTES: u64 = 1024 * 1024;
const PROTOCOL_VERSION: u64 = 1;
/// Address space is cheap, but a mistaken size must not look like a failure of the machine.
const MAIN_STACK_MIB: std::ops::RangeInclusive<usize> = 1..=4096;

/// The `boot` part of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Boot {
    pub libjvm: PathBuf,
    pub class_path: Vec<PathBuf>,
    pub jvm_options: Vec<String>,
    pub main_stack_mib: usize,
}

/// The request as far as the worker reads it; the shape of what it ignores is still required to be there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    protocol_version: u64,
    boot: Boot,
    #[serde(rename = "invocation_id")]
    _invocation_id: IgnoredAny,
    #[serde(rename = "operation")]
    _operation: IgnoredAny,
    #[serde(rename = "engine")]
    _engine: IgnoredAny,
    #[serde(rename = "grants")]
    _grants: IgnoredAny,
    #[serde(rename = "progress_path")]
    _progress_path: IgnoredAny,
    #[serde(rename = "limits")]
    _limits: IgnoredAny,
    #[serde(rename = "arguments")]
    _arguments: IgnoredAny,
}

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("cannot read the request {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the request is larger than {MAX_REQUEST_BYTES} bytes")]
    TooLarge,
    #[error("the request is not valid: {0}")]
    Invalid(#[from] serde_json::Error),
    #[error("the request speaks protocol {0}, not {PROTOCOL_VERSION}")]
    OtherProtocol(u64),
    #[error("a main stack of {0} MiB is not possible")]
    StackSize(usize),
    #[error("a path of the request is not UTF-8")]
    PathNotUtf8,
}

pub(super) fn read(arguments: &WorkerArguments) -> Result<BridgeConfig, RequestError> {
    let request: Request = serde_json::from_slice(&bounded(&arguments.request)?)?;
    if request.protocol_version != PROTOCOL_VERSION {
        return Err(RequestError::OtherProtocol(request.protocol_version));
    }
    if !MAIN_STACK_MIB.contains(&request.boot.main_stack_mib) {
        return Err(RequestError::StackSize(request.boot.main_stack_mib));
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or(RequestError::PathNotUtf8);
    Ok(super::bridge_config(request.boot, text(&arguments.request)?, text(&arguments.response)?))
}

fn bounded(path: &Path) -> Result<Vec<u8>, RequestError> {
    let unreadable = |source| RequestError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_REQUEST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_REQUEST_BYTES { Err(RequestError::TooLarge) } else { Ok(bytes) }
}
