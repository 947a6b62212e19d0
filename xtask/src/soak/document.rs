//! The results section of `docs/reliability.md`, between two marks; the rest of the document is prose.

use std::fmt::Write as _;

use super::record::Record;
use crate::error::TaskError;

const BEGIN: &str = "<!-- results: written by `cargo xtask soak` -->\n";
const END: &str = "<!-- end of results -->\n";

/// `text` with its results section replaced.
pub fn with_results(text: &str, records: &[Record]) -> Result<String, TaskError> {
    let refused = || TaskError::Refused("the document lost the marks of its results section".to_owned());
    let (before, rest) = text.split_once(BEGIN).ok_or_else(refused)?;
    let (_, after) = rest.split_once(END).ok_or_else(refused)?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", results(records)))
}

fn results(records: &[Record]) -> String {
    let mut text = String::from("\n| sweep | cases | seed | duration | commit |\n|---|--:|--:|--:|---|\n");
    for record in records {
        let cases = record.counts.get("cases").copied().unwrap_or_default();
        let Record { sweep, seed, commit, duration_seconds, .. } = record;
        let _ =
            writeln!(text, "| `{sweep}` | {cases} | {seed} | {} | {commit} |", duration(*duration_seconds));
    }
    for record in records {
        let _ = writeln!(text, "\n### `{}`\n\n{}\n\n| | |\n|---|--:|", record.sweep, record.about);
        for (name, count) in &record.counts {
            let _ = writeln!(text, "| {name} | {count} |");
        }
    }
    text.push('\n');
    text
}

fn duration(seconds: u64) -> String {
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_the_section_between_the_marks_changes() {
        let record = Record {
            sweep: "s".to_owned(),
            about: "Shows it.".to_owned(),
            seed: 1,
            commit: "abc".to_owned(),
            duration_seconds: 61,
            counts: [("cases".to_owned(), 5), ("killed".to_owned(), 4)].into(),
        };
        let text = format!("prose\n{BEGIN}old\n{END}more\n");
        let written = with_results(&text, &[record]).unwrap();
        assert!(written.starts_with("prose\n") && written.ends_with(&format!("{END}more\n")));
        assert!(written.contains("| `s` | 5 | 1 | 1 min 01 s | abc |\n"), "{written}");
        assert!(written.contains("| killed | 4 |\n") && !written.contains("old"), "{written}");
        assert!(with_results("prose", &[]).is_err());
    }
}
