//! Progress of a worker on a terminal's stderr: one line, rewritten in place.
//!
//! Only in human format and only when stderr is a terminal; never in JSON format.

use std::io::Write;
use std::time::Duration;

use super::escape;

/// Shows what a worker is doing.
pub struct ProgressLine<'stream> {
    stream: Option<&'stream mut dyn Write>,
    shown: String,
}

impl<'stream> ProgressLine<'stream> {
    /// Shows progress on `stream`; `None` shows nothing.
    pub fn new(stream: Option<&'stream mut dyn Write>) -> Self {
        Self { stream, shown: String::new() }
    }

    /// Shows the phase, the analyzer that is running, and the time since the start.
    pub fn show(&mut self, phase: &str, analyzer: Option<&str>, elapsed: Duration) {
        let Some(stream) = &mut self.stream else { return };
        let mut text = format!("{} ({} s)", escape::line(phase), elapsed.as_secs());
        if let Some(analyzer) = analyzer {
            text = format!("{}: {} ({} s)", escape::line(phase), escape::line(analyzer), elapsed.as_secs());
        }
        if text != self.shown {
            let _ = write!(stream, "\r\x1b[K{text}").and_then(|()| stream.flush());
            self.shown = text;
        }
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        if let Some(stream) = &mut self.stream
            && !self.shown.is_empty()
        {
            let _ = write!(stream, "\r\x1b[K").and_then(|()| stream.flush());
            self.shown.clear();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn shows_phase_analyzer_and_elapsed_time_and_cleans_up() {
        let mut screen = Vec::new();
        let mut progress = ProgressLine::new(Some(&mut screen));
        progress.show("analysis", Some("Stack\x1b"), Duration::from_secs(3));
        progress.show("analysis", Some("Stack\x1b"), Duration::from_secs(3));
        progress.clear();
        assert_eq!(String::from_utf8(screen).unwrap(), "\r\x1b[Kanalysis: Stack\\u{1b} (3 s)\r\x1b[K");
    }
}
