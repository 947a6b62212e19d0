//! The results section of `docs/performance.md`, between two marks; the rest of the document is prose.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::measurements::{MEASUREMENTS, Measurement};
use super::record::{Finding, Goal, Record, Setting, mebibytes};
use crate::error::TaskError;

const BEGIN: &str = "<!-- results: written by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of results -->\n";

/// `text` with its results section replaced.
pub fn with_results(text: &str, records: &[Record]) -> Result<String, TaskError> {
    let refused = || TaskError::Refused("the document lost the marks of its results section".to_owned());
    let (before, rest) = text.split_once(BEGIN).ok_or_else(refused)?;
    let (_, after) = rest.split_once(END).ok_or_else(refused)?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", results(records)?))
}

fn results(records: &[Record]) -> Result<String, TaskError> {
    if let Some(foreign) =
        records.iter().find(|record| MEASUREMENTS.iter().all(|row| row.name != record.name))
    {
        return Err(TaskError::Refused(format!("a record of '{}', which is no row", foreign.name)));
    }
    let rows: Vec<(&Measurement, &Record)> = MEASUREMENTS
        .iter()
        .filter_map(|row| Some((row, records.iter().find(|record| record.name == row.name)?)))
        .collect();
    let mut text = String::from("\n");
    for (label, part) in [
        ("Machine", (|setting| &setting.machine) as fn(&Setting) -> &String),
        ("Engine", |setting| &setting.engine),
        ("Both sides", |setting| &setting.limits),
    ] {
        let distinct: BTreeSet<&String> = rows.iter().map(|(_, record)| part(&record.setting)).collect();
        for value in distinct {
            let _ = writeln!(text, "- {label}: {value}");
        }
    }
    text.push_str(
        "\n| ghidr | compared with | ghidr | other | claim | goal | | runs | commit |\n\
        |---|---|--:|--:|--:|--:|---|--:|---|\n",
    );
    for (row, record) in &rows {
        text.push_str(&line(row, record));
    }
    text.push_str("\n## Where the time goes\n");
    for (row, record) in &rows {
        if let Some(phases) = &record.measured.phases {
            let _ = write!(text, "\n{}:\n\n```text\n{}\n```\n", row.what, phases.trim_end());
        }
    }
    text.push('\n');
    Ok(text)
}

/// The table's line about one row.
pub fn line(row: &Measurement, record: &Record) -> String {
    let finding = record.measured.finding;
    let (ours, theirs, claim) = match finding {
        Finding::Times(pair) => {
            let claim = match row.goal {
                Goal::ExtraMilliseconds(_) => {
                    format!("{:+.1} ms, {:.2} ×", pair.extra_milliseconds(), pair.ratio())
                }
                _ => format!("{:.2} ×", pair.ratio()),
            };
            (milliseconds(pair.ours_milliseconds), milliseconds(pair.theirs_milliseconds), claim)
        }
        Finding::Memory(ours, theirs) => {
            let claim = theirs.map_or(String::from("–"), |theirs| {
                format!("{:.2} ×", mebibytes(ours) / mebibytes(theirs))
            });
            let size = |bytes| format!("{:.1} MiB", mebibytes(bytes));
            (size(ours), theirs.map_or(String::from("–"), size), claim)
        }
    };
    let goal = match row.goal {
        Goal::Ratio(limit) => format!("≤ {limit:.1} ×"),
        Goal::ExtraMilliseconds(limit) => format!("≤ +{limit:.0} ms"),
        Goal::Mebibytes(limit) => format!("≤ {limit:.0} MiB"),
    };
    let verdict = if row.goal.met(finding) { "met" } else { "**missed**" };
    let (what, against, runs, commit) = (row.what, row.against, record.measured.runs, &record.setting.commit);
    format!("| {what} | {against} | {ours} | {theirs} | {claim} | {goal} | {verdict} | {runs} | {commit} |\n")
}

fn milliseconds(milliseconds: f64) -> String {
    if milliseconds < 100.0 { format!("{milliseconds:.1} ms") } else { format!("{milliseconds:.0} ms") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bench::record::Measured;
    use crate::bench::timing::Pair;

    fn record(name: &str, ours: f64, theirs: f64) -> Record {
        let pair = Pair { ours_milliseconds: ours, theirs_milliseconds: theirs };
        Record {
            name: name.into(),
            measured: Measured { finding: Finding::Times(pair), runs: 5, phases: Some("p".into()) },
            setting: Setting {
                commit: "abc".into(),
                machine: "m".into(),
                engine: "e".into(),
                limits: "l".into(),
            },
        }
    }

    #[test]
    fn a_missed_goal_is_written_all_the_same_and_rows_keep_their_order() {
        let records = [record("cold-elf", 2_000.0, 1_000.0), record("inspect-cached", 25.0, 5.0)];
        let written = with_results(&format!("prose\n{BEGIN}stale\n{END}more\n"), &records).unwrap();
        assert!(written.starts_with("prose\n") && written.ends_with(&format!("{END}more\n")), "{written}");
        let rows: Vec<&str> = written.lines().filter(|line| line.ends_with("| 5 | abc |")).collect();
        assert_eq!(
            rows,
            [
                "| cached `inspect`, 1 MB sample | `ghidr --version` | 25.0 ms | 5.0 ms | +20.0 ms, 5.00 × | ≤ +20 ms | met | 5 | abc |",
                "| cold `inspect`, small ELF | `JarRun -import` | 2000 ms | 1000 ms | 2.00 × | ≤ 0.8 × | **missed** | 5 | abc |",
            ]
        );
        assert!(written.contains("small ELF:\n\n```text\np\n```\n") && !written.contains("stale"));
        assert!(with_results("prose", &[]).is_err());
        assert!(with_results(&format!("{BEGIN}{END}"), &[record("unknown", 1.0, 1.0)]).is_err());
    }
}
