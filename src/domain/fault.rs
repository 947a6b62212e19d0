//! Faults inside the engine and what they say about an Analysis (decisions D7 and D11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most faults an Analysis records; the total is always recorded.
pub const FAULT_LIMIT: usize = 64;
/// Fewest analyzers that must have run for an Analysis to count as complete.
pub const MINIMUM_COMPLETED_ANALYZERS: usize = 20;

/// A throwable that Ghidra logged and swallowed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EngineFault {
    /// It was raised while an analyzer ran.
    AnalyzerFailed {
        /// Name of the analyzer.
        analyzer: String,
        /// Java class of the throwable.
        exception_class: String,
        /// Its bounded message.
        message: String,
    },
    /// It was raised anywhere else.
    EngineFault {
        /// Ghidra component that logged it.
        component: String,
        /// Java class of the throwable.
        exception_class: String,
        /// Its bounded message.
        message: String,
    },
}

/// All faults of one Analysis, bounded, with their total.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultList {
    /// How many throwables were logged.
    pub total: u64,
    /// The first of them.
    #[schemars(extend("maxItems" = FAULT_LIMIT))]
    pub items: Vec<EngineFault>,
}

/// How one analyzer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalyzerStatus {
    /// It ran and threw nothing.
    Completed,
    /// It threw.
    Failed,
    /// It did not run.
    NotRun,
}

/// One analyzer's record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalyzerRun {
    /// Ghidra's analyzer name.
    pub name: String,
    /// Whether the default options enable it for this Program.
    pub enabled: bool,
    /// How it ended.
    pub status: AnalyzerStatus,
    /// Its own run time, in milliseconds.
    pub milliseconds: u64,
}

/// Whether the analysis behind an answer finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completeness {
    /// Every enabled analyzer ran, at least 20 of them, none failed, and the engine logged no
    /// fault.
    pub complete: bool,
    /// Analyzers the default options enable.
    pub enabled: u64,
    /// Enabled analyzers that completed.
    pub completed: u64,
    /// Enabled analyzers that had nothing to do and so did not run.
    pub not_run: u64,
    /// Their names, bytewise sorted; absent when all ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run_analyzers: Vec<String>,
    /// Names of analyzers that failed, bytewise sorted.
    pub failed: Vec<String>,
}

impl Completeness {
    /// Judges the records of one Analysis.
    pub fn judge(analyzers: &[AnalyzerRun], faults: &FaultList) -> Self {
        let count = |status| analyzers.iter().filter(|run| run.enabled && run.status == status).count();
        let completed = count(AnalyzerStatus::Completed);
        let names = |judged: &dyn Fn(&AnalyzerRun) -> bool| {
            let mut names: Vec<String> =
                analyzers.iter().filter(|run| judged(run)).map(|run| run.name.clone()).collect();
            names.sort_unstable();
            names
        };
        let failed = names(&|run| run.status == AnalyzerStatus::Failed);
        let not_run = names(&|run| run.enabled && run.status == AnalyzerStatus::NotRun);
        Self {
            complete: completed >= MINIMUM_COMPLETED_ANALYZERS
                && not_run.is_empty()
                && failed.is_empty()
                && faults.total == 0,
            enabled: analyzers.iter().filter(|run| run.enabled).count() as u64,
            completed: completed as u64,
            not_run: not_run.len() as u64,
            not_run_analyzers: not_run,
            failed,
        }
    }
}

/// A sign that an Analysis which finished may still mean little; declared in the order of the names, in
/// which the adapter lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suspicion {
    /// Headers point past the end of the file: a truncated Sample imports "successfully".
    HeadersPastEndOfFile,
    /// No Function in a Program that has executable memory.
    NoFunctionInExecutableProgram,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, status: AnalyzerStatus) -> AnalyzerRun {
        AnalyzerRun { name: name.into(), enabled: true, status, milliseconds: 1 }
    }

    #[test]
    fn complete_needs_every_enabled_analyzer_twenty_at_least_no_failure_and_no_fault() {
        let mut runs: Vec<_> =
            (0..20).map(|index| run(&format!("a{index}"), AnalyzerStatus::Completed)).collect();
        assert!(Completeness::judge(&runs, &FaultList::default()).complete);
        assert!(!Completeness::judge(&runs[1..], &FaultList::default()).complete);
        assert!(!Completeness::judge(&runs, &FaultList { total: 1, items: vec![] }).complete);
        let idle = [&runs[..], &[run("idle", AnalyzerStatus::NotRun)]].concat();
        let verdict = Completeness::judge(&idle, &FaultList::default());
        assert!(!verdict.complete);
        assert_eq!((verdict.not_run, verdict.not_run_analyzers), (1, vec!["idle".to_owned()]));
        runs.push(run("Z", AnalyzerStatus::Failed));
        runs.push(run("B", AnalyzerStatus::Failed));
        let verdict = Completeness::judge(&runs, &FaultList::default());
        assert!(!verdict.complete);
        assert_eq!(verdict.failed, ["B", "Z"]);
    }
}
