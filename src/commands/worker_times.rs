//! What one worker spent its time on, for `--verbose`.
//!
//! Information for people: no answer and no JSON document depends on it.

use std::fmt::Write as _;
use std::time::Duration;

use super::worker::Reply;
use crate::output::escape;

/// Durations of one worker, in the order in which its phases ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerTimes {
    operation: &'static str,
    total: Duration,
    phases: Vec<(String, Duration)>,
}

impl WorkerTimes {
    /// The times of the worker that gave `reply`.
    pub fn of(reply: &Reply) -> Self {
        let phases = reply.response.phases.iter();
        Self {
            operation: reply.run.operation,
            total: reply.run.outcome.elapsed,
            phases: phases
                .map(|phase| (phase.name.clone(), Duration::from_millis(phase.milliseconds)))
                .collect(),
        }
    }

    /// How long the phase of this name took; nothing when there was none.
    pub fn phase(&self, name: &str) -> Duration {
        self.phases.iter().filter(|(phase, _)| phase == name).map(|(_, duration)| *duration).sum()
    }

    /// What no phase accounts for: starting the process in its sandbox, its end, and a phase that it did not end.
    pub fn unaccounted(&self) -> Duration {
        self.phases.iter().fold(self.total, |rest, (_, duration)| rest.saturating_sub(*duration))
    }

    /// One line: the total, each phase, and what is left.
    pub fn describe(&self) -> String {
        let mut text = format!("worker {}: {} ms (", self.operation, self.total.as_millis());
        for (name, duration) in &self.phases {
            let _ = write!(text, "{} {}, ", escape::line(name), duration.as_millis());
        }
        let _ = writeln!(text, "process {})", self.unaccounted().as_millis());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_phase_accounts_for_belongs_to_the_process() {
        let times = WorkerTimes {
            operation: "query",
            total: Duration::from_millis(1_000),
            phases: vec![
                ("application".to_owned(), Duration::from_millis(600)),
                ("op\x1ben".to_owned(), Duration::from_millis(250)),
            ],
        };
        let expected = "worker query: 1000 ms (application 600, op\\u{1b}en 250, process 150)\n";
        assert_eq!(times.describe(), expected);
    }
}
