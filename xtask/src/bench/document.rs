//! `docs/performance.md`: where and on what it was measured, the comparisons, and which goals were met.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use super::timing::{Pair, RUNS};

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// Times.
    Times(Pair),
    /// Memory, in bytes, of the product and of what it is compared with.
    Memory(u64, Option<u64>),
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the product did.
    pub what: &'static str,
    /// What it is compared with.
    pub against: &'static str,
    /// What was found.
    pub finding: Finding,
    /// What it has to show.
    pub goal: Goal,
}

/// Where and on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The commit, with a mark when the working copy differs from it.
    pub commit: String,
    /// Engine and JDK.
    pub engine: String,
    /// Limits of both sides.
    pub limits: String,
}

impl Row {
    /// Whether the goal is met.
    pub fn met(&self) -> bool {
        match (self.finding, self.goal) {
            (Finding::Times(pair), Goal::Ratio(limit)) => pair.ratio() <= limit,
            (Finding::Times(pair), Goal::ExtraMilliseconds(limit)) => pair.extra_milliseconds() <= limit,
            (Finding::Memory(ours, Some(theirs)), Goal::Ratio(limit)) => {
                mebibytes(ours) <= mebibytes(theirs) * limit
            }
            (Finding::Memory(ours, _), Goal::Mebibytes(limit)) => mebibytes(ours) <= limit,
            _ => false,
        }
    }

    fn line(&self) -> String {
        let (ours, theirs, claim) = match self.finding {
            Finding::Times(pair) => {
                let claim = match self.goal {
                    Goal::ExtraMilliseconds(_) => {
                        format!("{:+.1} ms, {:.2} ×", pair.extra_milliseconds(), pair.ratio())
                    }
                    _ => format!("{:.2} ×", pair.ratio()),
                };
                (milliseconds(pair.ours), milliseconds(pair.theirs), claim)
            }
            Finding::Memory(ours, theirs) => {
                let claim = theirs.map_or(String::from("–"), |theirs| {
                    format!("{:.2} ×", mebibytes(ours) / mebibytes(theirs))
                });
                let size = |bytes| format!("{:.1} MiB", mebibytes(bytes));
                (size(ours), theirs.map_or(String::from("–"), size), claim)
            }
        };
        let goal = match self.goal {
            Goal::Ratio(limit) => format!("≤ {limit:.1} ×"),
            Goal::ExtraMilliseconds(limit) => format!("≤ +{limit:.0} ms"),
            Goal::Mebibytes(limit) => format!("≤ {limit:.0} MiB"),
        };
        let verdict = if self.met() { "met" } else { "**missed**" };
        let Self { what, against, .. } = self;
        format!("| {what} | {against} | {ours} | {theirs} | {claim} | {goal} | {verdict} |\n")
    }
}

/// The whole document.
pub fn render(setting: &Setting, rows: &[Row], phases: &str) -> String {
    let mut text = String::from(
        "# Performance\n\n\
        Written by `cargo xtask bench`. The claims are the last columns: comparisons within one session on one \
        machine, never the times themselves.\n\n",
    );
    let _ = writeln!(text, "- Machine: {}", machine());
    let _ = writeln!(text, "- Commit: {}", setting.commit);
    let _ = writeln!(text, "- Engine: {}", setting.engine);
    let _ = writeln!(text, "- Both sides: {}", setting.limits);
    let _ = writeln!(
        text,
        "- Each time is the median of {RUNS} runs, alternated with those of the other side, after one that does not count\n"
    );
    text.push_str(
        "| ghidr | compared with | ghidr | other | claim | goal | |\n|---|---|--:|--:|--:|--:|---|\n",
    );
    for row in rows {
        text.push_str(&row.line());
    }
    text.push_str(
        "\n`JarRun` is the engine's own command-line tool (`ghidra.JarRun` of the same jar). It runs with a home that \
        earlier runs have filled, outside any sandbox; `ghidr` runs in its sandbox, copies or hashes what it reads, and \
        checks and stores what it found.\n\n\
        ## Where a cached decompilation spends its time\n\n```text\n",
    );
    text.push_str(phases.trim_end());
    text.push_str("\n```\n");
    text
}

fn machine() -> String {
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

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn milliseconds(duration: Duration) -> String {
    if duration < Duration::from_millis(100) {
        format!("{:.1} ms", duration.as_secs_f64() * 1_000.0)
    } else {
        format!("{} ms", duration.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: u64, theirs: u64, goal: Goal) -> Row {
        let pair = Pair { ours: Duration::from_millis(ours), theirs: Duration::from_millis(theirs) };
        Row { what: "a", against: "b", finding: Finding::Times(pair), goal }
    }

    #[test]
    fn a_goal_is_met_up_to_its_limit() {
        assert!(row(50, 100, Goal::Ratio(0.5)).met());
        assert!(!row(51, 100, Goal::Ratio(0.5)).met());
        assert!(row(25, 5, Goal::ExtraMilliseconds(20.0)).met());
        assert!(!row(26, 5, Goal::ExtraMilliseconds(20.0)).met());
        let memory = |ours, theirs, goal| Row { finding: Finding::Memory(ours, theirs), ..row(1, 1, goal) };
        assert!(memory(32 << 20, None, Goal::Mebibytes(32.0)).met());
        assert!(!memory((32 << 20) + 1, None, Goal::Mebibytes(32.0)).met());
        assert!(!memory(1, None, Goal::Ratio(1.0)).met());
    }

    #[test]
    fn a_missed_goal_is_written_all_the_same() {
        let line = row(2_000, 1_000, Goal::Ratio(0.8)).line();
        assert_eq!(line, "| a | b | 2000 ms | 1000 ms | 2.00 × | ≤ 0.8 × | **missed** |\n");
        let line = row(25, 5, Goal::ExtraMilliseconds(20.0)).line();
        assert_eq!(line, "| a | b | 25.0 ms | 5.0 ms | +20.0 ms, 5.00 × | ≤ +20 ms | met |\n");
    }
}
