//! Runs named steps, times them, and sums up.

use std::time::{Duration, Instant};

use crate::error::TaskError;
use crate::report;

/// The steps run so far.
#[derive(Debug, Default)]
pub struct Steps {
    finished: Vec<Finished>,
}

#[derive(Debug)]
struct Finished {
    name: &'static str,
    duration: Duration,
    succeeded: bool,
}

impl Steps {
    /// Runs one step and returns its result, or reports its failure and remembers it.
    pub fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T, TaskError>) -> Option<T> {
        report::say(format!("\n==> {name}"));
        let started = Instant::now();
        let result = step();
        let duration = started.elapsed();
        if let Err(error) = &result {
            report::complain(format!("xtask: {name}: {error}"));
        }
        let finished = Finished { name, duration, succeeded: result.is_ok() };
        report::say(finished.line());
        self.finished.push(finished);
        result.ok()
    }

    /// Prints the summary; failed if any step was.
    pub fn finish(self) -> Result<(), TaskError> {
        report::say("\n==> summary");
        for step in &self.finished {
            report::say(step.line());
        }
        let failed: Vec<String> =
            self.finished.iter().filter(|step| !step.succeeded).map(|step| step.name.to_owned()).collect();
        if failed.is_empty() {
            report::say(format!("all {} steps passed", self.finished.len()));
            Ok(())
        } else {
            Err(TaskError::Steps(failed))
        }
    }
}

impl Finished {
    fn line(&self) -> String {
        let outcome = if self.succeeded { "ok" } else { "FAILED" };
        let tenths = self.duration.as_millis() / 100;
        format!("{outcome:<6} {:>5}.{} s  {}", tenths / 10, tenths % 10, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_the_whole_and_does_not_stop_it() {
        let mut steps = Steps::default();
        assert_eq!(steps.run("one", || Ok(1)), Some(1));
        let failing = || Err::<u8, _>(TaskError::Refused("no".to_owned()));
        assert_eq!(steps.run("two", failing), None);
        assert_eq!(steps.run("three", || Ok(3)), Some(3));
        let error = steps.finish().err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("failed: two"));
    }

    #[test]
    fn a_run_without_failure_passes() {
        let mut steps = Steps::default();
        steps.run("one", || Ok(()));
        assert!(steps.finish().is_ok());
    }

    #[test]
    fn durations_are_aligned() {
        let line = |milliseconds, succeeded| {
            Finished { name: "x", duration: Duration::from_millis(milliseconds), succeeded }.line()
        };
        assert_eq!(line(1_290, true), "ok         1.2 s  x");
        assert_eq!(line(754_000, false), "FAILED   754.0 s  x");
    }
}
