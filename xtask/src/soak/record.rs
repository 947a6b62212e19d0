//! What a sweep leaves behind: the state file of its run, and the record that is committed of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::TaskError;

/// How often each thing happened.
pub type Counts = BTreeMap<String, u64>;

/// The state file that the sweep itself writes.
#[derive(Debug, Deserialize)]
pub struct State {
    sweep: String,
    about: String,
    seed: u64,
    seconds: f64,
    finished: bool,
    cases: BTreeMap<String, Counts>,
}

/// The committed result of a long form.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Name of the sweep.
    pub sweep: String,
    /// What it shows.
    pub about: String,
    /// Seed of its choices.
    pub seed: u64,
    /// The commit it ran on.
    pub commit: String,
    /// How long it ran, all its parts together.
    pub duration_seconds: u64,
    /// What happened, over all cases.
    pub counts: Counts,
}

impl Record {
    /// Sums up a finished run.
    pub fn new(state: State, commit: String) -> Result<Self, TaskError> {
        let State { sweep, about, seed, seconds, finished, cases } = state;
        if !finished || cases.is_empty() {
            return Err(TaskError::Refused(format!("the sweep '{sweep}' did not run to its end")));
        }
        let mut counts = Counts::new();
        for (name, count) in cases.into_values().flatten() {
            *counts.entry(name).or_default() += count;
        }
        Ok(Self { sweep, about, seed, commit, duration_seconds: seconds.round() as u64, counts })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn state(finished: bool) -> State {
        serde_json::from_value(serde_json::json!({
            "sweep": "s", "about": "a", "seed": 3, "seconds": 1.6, "finished": finished,
            "cases": {"one": {"cases": 1, "killed": 1}, "two": {"cases": 1}}
        }))
        .unwrap()
    }

    #[test]
    fn a_record_sums_up_the_cases_of_a_finished_run() {
        let record = Record::new(state(true), "c".to_owned()).unwrap();
        assert_eq!((record.duration_seconds, record.counts["cases"], record.counts["killed"]), (2, 2, 1));
        assert!(Record::new(state(false), "c".to_owned()).is_err());
    }
}
