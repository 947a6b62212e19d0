//! Many decompilations with one worker, compared with what one of them costs and the decompiler's own time for all.
//!
//! That time is what the adapter measures around Ghidra's `decompileFunction`. Whatever a further answer costs besides, the
//! search for its Function, what Ghidra marks up, writing and keeping it, makes the batch slower than what it is compared with.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::record::{Finding, Measured};
use super::stage::{self, PE, Stage};
use super::timing::{Pair, Subject, median_milliseconds};
use crate::command;
use crate::error::{AtPath, TaskError};

/// The phase of the decompiler alone.
const DECOMPILER: &str = "decompiler";

/// Decompiles the first `count` Functions in one batch, and the first of them alone.
pub fn measure(stage: &Stage<'_>, runs: u32, count: usize) -> Result<Measured, TaskError> {
    let (store, sample) = (stage.kept()?, stage.fixture(PE));
    let entries = entries(stage, &store, &sample, count)?;
    let queries = stage.file(&format!("queries-{count}.jsonl"));
    let text = entries.iter().fold(String::new(), |mut text, entry| {
        let _ = writeln!(text, r#"{{"op":"decompile","address":"{entry}"}}"#);
        text
    });
    fs::write(&queries, text).at("write", &queries)?;
    let sample_name = sample.to_string_lossy();
    let batch = ["batch", &sample_name];
    let single = ["decompile", "--address", entries.first().map_or("", String::as_str)];

    let mut own_times = Vec::new();
    for _ in 0..runs {
        stage::forget_results(&store)?;
        let phases = stage.phases(&store, &batch, &queries)?;
        own_times.push(own_time(&phases).ok_or_else(|| unknown("phases", &phases))?);
    }
    let forgetful = |command: &[&str], last: &Path| {
        stage::forget_results(&store)?;
        Ok(stage.ghidr(&store, command, last))
    };
    let pair = Pair::measure(
        runs,
        &mut Subject::new(|| forgetful(&batch, &queries)),
        &mut Subject::new(|| forgetful(&single, &sample)),
    )?;
    let theirs_milliseconds = pair.theirs_milliseconds + median_milliseconds(&mut own_times);
    Ok(Measured { finding: Finding::Times(Pair { theirs_milliseconds, ..pair }), runs, phases: None })
}

/// Canonical entries of the first `count` Functions that can be decompiled.
fn entries(stage: &Stage<'_>, store: &Path, sample: &Path, count: usize) -> Result<Vec<String>, TaskError> {
    let said = command::output(&mut stage.ghidr(store, &["functions", "--limit", "1000"], sample))?;
    let page: serde_json::Value = serde_json::from_str(&said).map_err(|_| unknown("functions", &said))?;
    let items = page["data"]["items"].as_array().ok_or_else(|| unknown("functions", &said))?;
    let entries: Vec<String> = items
        .iter()
        .filter(|item| item["decompilable"] == true)
        .filter_map(|item| {
            let entry = &item["entry"];
            Some(format!("{}:{}", entry["space"].as_str()?, entry["offset"].as_str()?))
        })
        .take(count)
        .collect();
    if entries.len() == count { Ok(entries) } else { Err(unknown("functions", &said)) }
}

fn own_time(phases: &str) -> Option<std::time::Duration> {
    let mut words = phases.split(['(', ',', ')']).filter_map(|phase| phase.trim().rsplit_once(' '));
    let (_, milliseconds) = words.find(|(name, _)| *name == DECOMPILER)?;
    milliseconds.parse().ok().map(std::time::Duration::from_millis)
}

fn unknown(what: &str, said: &str) -> TaskError {
    TaskError::Refused(format!("`ghidr` did not say the {what} as expected: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decompilers_own_time_is_found_among_the_phases() {
        let phases = "worker query: 900 ms (application 600, open 29, query 7, decompiler 101, process 163)";
        assert_eq!(own_time(phases), Some(std::time::Duration::from_millis(101)));
        assert_eq!(own_time("worker analyze: 900 ms (open 1)"), None);
    }
}
