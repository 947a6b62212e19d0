//! What is the same in every right answer to a question, however the command came by it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ghidr::Run;
use super::tree;

/// The data of a successful run without what legitimately differs: how the Analysis came about, where an
/// Artifact is, and what a file system allocates. In the place of an Artifact stands what it holds, which is
/// verified.
pub fn of(run: &Run) -> Value {
    let mut data = run.success()["data"].clone();
    if data["spilled"] == true {
        let document: Value = serde_json::from_slice(&artifact(&data["artifact"], run)).unwrap();
        data = document["data"].clone();
    }
    if let Some(lines) = data.get_mut("decompilations") {
        let bytes = artifact(lines, run);
        let found: Vec<Value> = bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect();
        assert_eq!(found.len() as u64, lines["lines"].as_u64().unwrap(), "{run}");
        *lines = found.into();
    }
    if let Some(analysis) = data.get_mut("analysis") {
        analysis["disposition"] = Value::Null;
    }
    if let Some(store) = data.pointer_mut("/components/analysis_store") {
        store["path"] = Value::Null;
        store["usage"] = Value::Null;
    }
    for counts in ["/matched/usage", "/removed/usage"] {
        if let Some(usage) = data.pointer_mut(counts) {
            usage["allocated_bytes"] = Value::Null;
        }
    }
    data
}

/// The bytes of an Artifact, which are what its descriptor says.
fn artifact(descriptor: &Value, run: &Run) -> Vec<u8> {
    let path = PathBuf::from(descriptor["path"]["value"].as_str().unwrap());
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, descriptor["bytes"].as_u64().unwrap(), "{run}");
    assert_eq!(tree::sha256(&path), descriptor["sha256"].as_str().unwrap(), "{run}");
    bytes
}

fn line(bytes: &[u8]) -> Value {
    let text = bytes.strip_suffix(b"\n").expect("a whole line");
    serde_json::from_slice(text).unwrap()
}

/// A path inside a store with digests and random names replaced by `ID`.
pub fn anonymous(entry: &Path) -> String {
    let part = |part: &std::ffi::OsStr| match part.to_str().unwrap().split_once('.') {
        None if part.len() >= 32 => "ID".to_owned(),
        Some((stem, suffix)) if stem.len() >= 32 => format!("ID.{suffix}"),
        _ => part.to_str().unwrap().to_owned(),
    };
    entry.iter().map(part).collect::<Vec<_>>().join("/")
}
