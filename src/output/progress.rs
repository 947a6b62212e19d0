//! Progress of a worker on a terminal's stderr: one line, rewritten in place.
//!
//! Only in human format and only when stderr is a terminal; never in JSON format.

use std::io::Write;
use std::time::Duration;

use super::escape;

/// Columns of a terminal that does not tell how many it has.
const USUAL_COLUMNS: usize = 80;

/// Shows what a worker is doing.
pub struct ProgressLine<'stream> {
    stream: Option<&'stream mut dyn Write>,
    columns: usize,
    shown: String,
}

impl<'stream> ProgressLine<'stream> {
    /// Shows progress on `stream`, a terminal of so many columns when that is known; `None` shows nothing.
    pub fn new(stream: Option<&'stream mut dyn Write>, columns: Option<usize>) -> Self {
        Self { stream, columns: columns.unwrap_or(USUAL_COLUMNS), shown: String::new() }
    }

    /// Shows the phase, the analyzer that is running, and the time since the start.
    pub fn show(&mut self, phase: &str, analyzer: Option<&str>, elapsed: Duration) {
        let Some(stream) = &mut self.stream else { return };
        let mut text = format!("{} ({} s)", escape::line(phase), elapsed.as_secs());
        if let Some(analyzer) = analyzer {
            text = format!("{}: {} ({} s)", escape::line(phase), escape::line(analyzer), elapsed.as_secs());
        }
        // A line that wraps could not be taken back; the last column is left to the cursor.
        if let Some((end, _)) = text.char_indices().nth(self.columns.saturating_sub(1)) {
            text.truncate(end);
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
        let mut progress = ProgressLine::new(Some(&mut screen), None);
        progress.show("analysis", Some("Stack\x1b"), Duration::from_secs(3));
        progress.show("analysis", Some("Stack\x1b"), Duration::from_secs(3));
        progress.clear();
        assert_eq!(String::from_utf8(screen).unwrap(), "\r\x1b[Kanalysis: Stack\\u{1b} (3 s)\r\x1b[K");
    }

    #[test]
    fn a_narrow_terminal_gets_no_line_that_wraps() {
        let mut screen = Vec::new();
        ProgressLine::new(Some(&mut screen), Some(12)).show("analysis", Some("Größe"), Duration::ZERO);
        assert_eq!(String::from_utf8(screen).unwrap(), "\r\x1b[Kanalysis: G");
    }
}
