//! Runs two commands in turn and compares medians.
//!
//! Alternation is what makes a comparison fair on a machine that others use too: what slows one side down slows the
//! other down as well. Only the comparison is a claim, never a time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::command;
use crate::error::TaskError;

/// One thing to be timed: makes each run's command anew, and cleans up after it.
pub struct Subject<'a> {
    /// Makes the command of one run.
    pub prepare: Box<dyn FnMut() -> Result<Command, TaskError> + 'a>,
}

impl<'a> Subject<'a> {
    /// A subject whose runs are prepared by `prepare`.
    pub fn new(prepare: impl FnMut() -> Result<Command, TaskError> + 'a) -> Self {
        Self { prepare: Box::new(prepare) }
    }

    /// Runs it once and returns how long that took.
    pub fn run(&mut self) -> Result<Duration, TaskError> {
        let mut prepared = (self.prepare)()?;
        let started = Instant::now();
        let output = command::spawned(&mut prepared, |prepared| prepared.stdin(Stdio::null()).output())?;
        let elapsed = started.elapsed();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        command::check(&prepared, output.status, command::tail(&said))?;
        Ok(elapsed)
    }
}

/// Medians of two subjects run in turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Of the product.
    pub ours_milliseconds: f64,
    /// Of what it is compared with.
    pub theirs_milliseconds: f64,
}

impl Pair {
    /// Runs both so often in turn, after one run each that does not count.
    pub fn measure(runs: u32, ours: &mut Subject<'_>, theirs: &mut Subject<'_>) -> Result<Self, TaskError> {
        ours.run()?;
        theirs.run()?;
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            our_times.push(ours.run()?);
            their_times.push(theirs.run()?);
        }
        Ok(Self {
            ours_milliseconds: median_milliseconds(&mut our_times),
            theirs_milliseconds: median_milliseconds(&mut their_times),
        })
    }

    /// How many times as long the product takes.
    pub fn ratio(self) -> f64 {
        self.ours_milliseconds / self.theirs_milliseconds
    }

    /// How much longer the product takes, in milliseconds; negative when it is faster.
    pub fn extra_milliseconds(self) -> f64 {
        self.ours_milliseconds - self.theirs_milliseconds
    }
}

/// To a hundredth, which is more than a run repeats.
pub fn median_milliseconds(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    (median.as_secs_f64() * 100_000.0).round() / 100.0
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_not_moved_by_one_slow_run() {
        let mut times = [5, 900, 4, 6, 5].map(Duration::from_millis);
        assert_eq!(median_milliseconds(&mut times).to_bits(), 5.0_f64.to_bits());
    }

    #[test]
    fn both_are_run_in_turn_and_equally_often() {
        let order = std::cell::RefCell::new(String::new());
        let subject = |name: char| {
            let order = &order;
            Subject::new(move || {
                order.borrow_mut().push(name);
                Ok(Command::new("true"))
            })
        };
        Pair::measure(3, &mut subject('a'), &mut subject('b')).unwrap();
        assert_eq!(order.into_inner(), "ab".repeat(4));
    }

    #[test]
    fn a_failing_run_is_no_measurement() {
        assert!(Subject::new(|| Ok(Command::new("false"))).run().is_err());
    }
}
