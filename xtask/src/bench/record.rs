//! One measured row as it is committed: what was found, how often, where and on what.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::timing::Pair;
use crate::error::{AtPath, TaskError};
use crate::files;

const RECORDS: &str = "docs/performance";

/// What a comparison has to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// At most so many times what it is compared with.
    Ratio(f64),
    /// At most so many milliseconds more.
    ExtraMilliseconds(f64),
    /// At most so many MiB.
    Mebibytes(f64),
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Medians of times.
    Times(Pair),
    /// Memory, in bytes, of the product and of what it is compared with.
    Memory(u64, Option<u64>),
}

/// The outcome of measuring one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What was found.
    pub finding: Finding,
    /// How often each side was run.
    pub runs: u32,
    /// What `--verbose` says about where the time goes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phases: Option<String>,
}

/// Where and on what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The commit, with a mark when the working copy differs from it.
    pub commit: String,
    /// Processor, memory and kernel.
    pub machine: String,
    /// Engine and JDK.
    pub engine: String,
    /// Limits of both sides.
    pub limits: String,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Name of the row.
    pub name: String,
    /// What was found.
    pub measured: Measured,
    /// Where and on what.
    pub setting: Setting,
}

impl Goal {
    /// Whether it is met.
    pub fn met(self, finding: Finding) -> bool {
        match (finding, self) {
            (Finding::Times(pair), Self::Ratio(limit)) => pair.ratio() <= limit,
            (Finding::Times(pair), Self::ExtraMilliseconds(limit)) => pair.extra_milliseconds() <= limit,
            (Finding::Memory(ours, Some(theirs)), Self::Ratio(limit)) => {
                mebibytes(ours) <= mebibytes(theirs) * limit
            }
            (Finding::Memory(ours, _), Self::Mebibytes(limit)) => mebibytes(ours) <= limit,
            _ => false,
        }
    }
}

impl Record {
    /// Writes the record to its file.
    pub fn publish(&self, root: &Path) -> Result<(), TaskError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| TaskError::Refused(format!("cannot write a record: {error}")))?;
        let path = root.join(RECORDS).join(format!("{}.json", self.name));
        files::publish(&path, format!("{text}\n").as_bytes())
    }
}

/// Every record there is.
pub fn all(root: &Path) -> Result<Vec<Record>, TaskError> {
    let directory = root.join(RECORDS);
    let entries = fs::read_dir(&directory).at("read", &directory)?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Record, TaskError> {
    let bytes = fs::read(path).at("read", path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| TaskError::Damaged { what: path.display().to_string(), reason: error.to_string() })
}

/// This machine in one line.
pub fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor =
        value(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = value(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{processor}, {cores} cores, {memory} of memory, Linux {}", kernel.trim())
}

/// A size in MiB.
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn times(ours: f64, theirs: f64) -> Finding {
        Finding::Times(Pair { ours_milliseconds: ours, theirs_milliseconds: theirs })
    }

    #[test]
    fn a_goal_is_met_up_to_its_limit() {
        assert!(Goal::Ratio(0.5).met(times(50.0, 100.0)));
        assert!(!Goal::Ratio(0.5).met(times(51.0, 100.0)));
        assert!(Goal::ExtraMilliseconds(20.0).met(times(25.0, 5.0)));
        assert!(!Goal::ExtraMilliseconds(20.0).met(times(26.0, 5.0)));
        assert!(Goal::Mebibytes(32.0).met(Finding::Memory(32 << 20, None)));
        assert!(!Goal::Mebibytes(32.0).met(Finding::Memory((32 << 20) + 1, None)));
        assert!(!Goal::Ratio(1.0).met(Finding::Memory(1, None)));
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let root = std::env::temp_dir().join(format!("ghidr-bench-record-{}", std::process::id()));
        files::create_public_directory(&root.join(RECORDS)).unwrap();
        let setting =
            || Setting { commit: "c".into(), machine: machine(), engine: "e".into(), limits: "l".into() };
        let record = |name: &str, finding, phases| Record {
            name: name.into(),
            measured: Measured { finding, runs: 5, phases },
            setting: setting(),
        };
        let records = [
            record("a", times(1.5, 2.25), Some("worker query".into())),
            record("b", Finding::Memory(3, None), None),
        ];
        records.iter().for_each(|record| record.publish(&root).unwrap());
        assert_eq!(all(&root).unwrap(), records);
        files::remove(&root).unwrap();
    }
}
