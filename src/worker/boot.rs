//! Reads from the request how to boot the virtual machine; all else in it is the adapter's to check.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ghidr::process::worker_arguments::WorkerArguments;
use ghidr::protocol::decode::{DecodeError, decode};
use ghidr::protocol::limits::MAX_REQUEST_BYTES;
use jvm_bridge::BridgeConfig;

const ADAPTER_CLASS: &str = "io.ghidr.adapter.Main";
const ADAPTER_METHOD: &str = "run";
/// Address space is cheap, but a mistaken size must not look like a failure of the machine.
const MAIN_STACK_MIB: std::ops::RangeInclusive<u32> = 1..=4096;

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("cannot read the request {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Invalid(#[from] DecodeError),
    #[error("a main stack of {0} MiB is not possible")]
    StackSize(u32),
    #[error("a path of the request is not UTF-8")]
    PathNotUtf8,
}

/// What the bridge is asked to do for the request that `arguments` name.
pub(super) fn read(arguments: &WorkerArguments) -> Result<BridgeConfig, RequestError> {
    let boot = decode(&bounded(&arguments.request)?)?.boot;
    if !MAIN_STACK_MIB.contains(&boot.main_stack_mib) {
        return Err(RequestError::StackSize(boot.main_stack_mib));
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or(RequestError::PathNotUtf8);
    Ok(BridgeConfig {
        libjvm: boot.libjvm.into(),
        jvm_options: boot.jvm_options,
        class_path: boot.class_path.into_iter().map(PathBuf::from).collect(),
        main_stack_bytes: (boot.main_stack_mib as usize) << 20,
        main_class: ADAPTER_CLASS.to_owned(),
        method: ADAPTER_METHOD.to_owned(),
        arguments: vec![text(&arguments.request)?, text(&arguments.response)?],
    })
}

/// One byte past the ceiling is enough for the decoder to refuse.
fn bounded(path: &Path) -> Result<Vec<u8>, RequestError> {
    let unreadable = |source| RequestError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_REQUEST_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    Ok(bytes)
}
