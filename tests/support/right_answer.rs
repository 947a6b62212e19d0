//! What is the same in every right answer to a question, however the command came by it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ghidr::Run;
use super::tree;

/// The data of a successful run without what legitimately differs: how the Analysis came about, and
/// where an Artifact is. Of a spilled answer, what the Artifact holds, which is verified.
pub fn of(run: &Run) -> Value {
    let mut data = run.success()["data"].clone();
    if data["spilled"] == true {
        let path = PathBuf::from(data["artifact"]["path"]["value"].as_str().unwrap());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, data["artifact"]["bytes"].as_u64().unwrap(), "{run}");
        assert_eq!(tree::sha256(&path), data["artifact"]["sha256"].as_str().unwrap(), "{run}");
        data = serde_json::from_slice::<Value>(&bytes).unwrap()["data"].clone();
    }
    if let Some(analysis) = data.get_mut("analysis") {
        analysis["disposition"] = Value::Null;
    }
    if let Some(store) = data.pointer_mut("/components/analysis_store") {
        store["path"] = Value::Null;
        store["usage"] = Value::Null;
    }
    data
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
