//! Progress of one download: a redrawn line on a terminal, one line per tenth in a log.

use std::time::Instant;

use crate::report;

/// Progress towards a known size.
#[derive(Debug)]
pub struct Progress {
    subject: &'static str,
    total_bytes: u64,
    started: Instant,
    tenths_shown: u64,
}

impl Progress {
    /// Starts the clock.
    pub fn new(subject: &'static str, total_bytes: u64) -> Self {
        Self { subject, total_bytes, started: Instant::now(), tenths_shown: 0 }
    }

    /// Shows that `done_bytes` have arrived.
    pub fn show(&mut self, done_bytes: u64) {
        let tenths = self.tenths(done_bytes);
        if report::is_terminal() {
            report::redraw(self.text(done_bytes));
        } else if tenths > self.tenths_shown {
            self.tenths_shown = tenths;
            report::say(self.text(done_bytes));
        }
    }

    /// Clears the redrawn line.
    pub fn finish(&self) {
        report::end_redraw();
    }

    fn tenths(&self, done_bytes: u64) -> u64 {
        done_bytes.min(self.total_bytes).saturating_mul(10) / self.total_bytes.max(1)
    }

    fn text(&self, done_bytes: u64) -> String {
        format!(
            "{}: {} of {} after {} s",
            self.subject,
            report::human_bytes(done_bytes),
            report::human_bytes(self.total_bytes),
            self.started.elapsed().as_secs()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_never_pass_ten() {
        let progress = Progress::new("x", 200);
        assert_eq!(progress.tenths(0), 0);
        assert_eq!(progress.tenths(19), 0);
        assert_eq!(progress.tenths(20), 1);
        assert_eq!(progress.tenths(500), 10);
        assert_eq!(Progress::new("x", 0).tenths(0), 0);
    }
}
