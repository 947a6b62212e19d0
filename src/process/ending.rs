//! Decides when a worker must end and by which means; knows no process and no clock.
//!
//! Running → asked to end (watchdog, first interruption) → killed (grace over, another interruption). A breached bound of
//! memory, tasks or disk kills at once: during a grace period it would go on growing.

use std::time::{Duration, Instant};

use super::outcome::{EndedBy, Termination};

/// The polite request is repeated at this distance: one that arrives before the worker has a handler is lost, because a
/// first process of a PID namespace ignores signals it does not handle.
const REPEAT: Duration = Duration::from_millis(500);

/// What to do to the worker now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Wait,
    Ask,
    Kill,
}

/// What was seen since the last step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Observation {
    pub new_interrupts: usize,
    pub first_signal: Option<i32>,
    pub memory_excess_bytes: Option<u64>,
    pub excess_tasks: Option<u64>,
    pub disk_excess_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Running,
    Asked { kill_at: Instant, ask_again_at: Instant },
    Killed,
}

#[derive(Debug)]
pub(super) struct Ending {
    watchdog_at: Instant,
    grace: Duration,
    phase: Phase,
    ended_by: EndedBy,
}

impl Ending {
    pub fn new(started: Instant, watchdog: Duration, grace: Duration) -> Self {
        // A watchdog too far away to be represented never expires within the life of a process; a century stands for it.
        let century = Duration::from_secs(100 * 365 * 24 * 3600);
        let watchdog_at = started.checked_add(watchdog).unwrap_or(started + century);
        Self { watchdog_at, grace, phase: Phase::Running, ended_by: EndedBy::Finished }
    }

    pub fn step(&mut self, now: Instant, seen: Observation) -> Step {
        let breach = seen
            .memory_excess_bytes
            .map(|observed_bytes| EndedBy::MemoryLimit { observed_bytes })
            .or(seen.excess_tasks.map(|observed_tasks| EndedBy::TaskLimit { observed_tasks }))
            .or(seen.disk_excess_bytes.map(|observed_bytes| EndedBy::DiskQuota { observed_bytes }));
        match self.phase {
            Phase::Killed => Step::Wait,
            Phase::Running => {
                if let Some(breach) = breach {
                    self.kill(breach)
                } else if let (1.., Some(signal)) = (seen.new_interrupts, seen.first_signal) {
                    let reason = EndedBy::Interrupted { signal };
                    if seen.new_interrupts > 1 { self.kill(reason) } else { self.ask(now, reason) }
                } else if now >= self.watchdog_at {
                    self.ask(now, EndedBy::Watchdog)
                } else {
                    Step::Wait
                }
            }
            Phase::Asked { kill_at, ask_again_at } => {
                if breach.is_some() || seen.new_interrupts > 0 || now >= kill_at {
                    self.kill(self.ended_by)
                } else if now >= ask_again_at {
                    self.phase = Phase::Asked { kill_at, ask_again_at: now + REPEAT };
                    Step::Ask
                } else {
                    Step::Wait
                }
            }
        }
    }

    fn ask(&mut self, now: Instant, reason: EndedBy) -> Step {
        self.ended_by = reason;
        self.phase = Phase::Asked { kill_at: now + self.grace, ask_again_at: now + REPEAT };
        Step::Ask
    }

    fn kill(&mut self, reason: EndedBy) -> Step {
        self.ended_by = reason;
        self.phase = Phase::Killed;
        Step::Kill
    }

    pub fn ended_by(&self) -> EndedBy {
        self.ended_by
    }

    pub fn termination(&self) -> Option<Termination> {
        match self.phase {
            Phase::Running => None,
            Phase::Asked { .. } => Some(Termination::Graceful),
            Phase::Killed => Some(Termination::Forced),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(10);

    fn ending(started: Instant) -> Ending {
        Ending::new(started, Duration::from_secs(60), GRACE)
    }

    fn interrupted(times: usize) -> Observation {
        Observation { new_interrupts: times, first_signal: Some(2), ..Observation::default() }
    }

    #[test]
    fn nothing_happens_before_the_watchdog() {
        let start = Instant::now();
        let mut ending = ending(start);
        assert_eq!(ending.step(start + Duration::from_secs(59), Observation::default()), Step::Wait);
        assert_eq!(ending.ended_by(), EndedBy::Finished);
        assert_eq!(ending.termination(), None);
    }

    #[test]
    fn the_watchdog_asks_repeats_and_kills_after_the_grace() {
        let start = Instant::now();
        let mut ending = ending(start);
        let expiry = start + Duration::from_secs(60);
        assert_eq!(ending.step(expiry, Observation::default()), Step::Ask);
        assert_eq!(ending.step(expiry + Duration::from_millis(100), Observation::default()), Step::Wait);
        assert_eq!(ending.step(expiry + REPEAT, Observation::default()), Step::Ask);
        assert_eq!(ending.termination(), Some(Termination::Graceful));
        assert_eq!(ending.step(expiry + GRACE, Observation::default()), Step::Kill);
        assert_eq!(ending.step(expiry + GRACE * 2, Observation::default()), Step::Wait);
        assert_eq!(ending.ended_by(), EndedBy::Watchdog);
        assert_eq!(ending.termination(), Some(Termination::Forced));
    }

    #[test]
    fn a_second_interrupt_kills_at_once_and_the_reason_stays() {
        let start = Instant::now();
        let mut ending = ending(start);
        assert_eq!(ending.step(start, interrupted(1)), Step::Ask);
        assert_eq!(ending.step(start + Duration::from_millis(1), interrupted(1)), Step::Kill);
        assert_eq!(ending.ended_by(), EndedBy::Interrupted { signal: 2 });
    }

    #[test]
    fn two_interrupts_seen_together_kill_at_once() {
        let start = Instant::now();
        assert_eq!(ending(start).step(start, interrupted(2)), Step::Kill);
    }

    #[test]
    fn an_interrupt_during_the_watchdog_grace_kills_but_stays_a_timeout() {
        let start = Instant::now();
        let mut ending = ending(start);
        assert_eq!(ending.step(start + Duration::from_secs(61), Observation::default()), Step::Ask);
        assert_eq!(ending.step(start + Duration::from_secs(62), interrupted(1)), Step::Kill);
        assert_eq!(ending.ended_by(), EndedBy::Watchdog);
    }

    #[test]
    fn a_breached_bound_kills_without_grace() {
        let start = Instant::now();
        let mut ending = ending(start);
        let seen = Observation { memory_excess_bytes: Some(7), ..Observation::default() };
        assert_eq!(ending.step(start, seen), Step::Kill);
        assert_eq!(ending.ended_by(), EndedBy::MemoryLimit { observed_bytes: 7 });
    }

    #[test]
    fn an_endless_watchdog_is_accepted() {
        let start = Instant::now();
        let mut ending = Ending::new(start, Duration::MAX, GRACE);
        assert_eq!(ending.step(start + Duration::from_secs(1), Observation::default()), Step::Wait);
    }
}
