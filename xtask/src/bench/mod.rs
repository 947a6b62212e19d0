//! `cargo xtask bench`: compares `ghidr` with the engine's own tool, row by row, and writes what it found.
//!
//! Each row becomes `docs/performance/NAME.json`, with the commit and the machine it was measured on, and
//! `docs/performance.md` is written from those files: a row can be measured again without the others. Fails when a goal is
//! missed, after both are written. Not part of any test: times depend on the machine.

mod batch;
mod document;
mod measurements;
mod memory;
mod official;
mod record;
mod stage;
mod synthetic;
mod timing;

use std::path::Path;
use std::process::Command;

use ghidr::domain::limits::{DEFAULT_MAX_CPU, DEFAULT_MAX_HEAP_MIB};

use crate::error::{AtPath, TaskError};
use crate::project::{Profile, Project};
use crate::setup::Setup;
use crate::{command, files, report, setup};
use measurements::{MEASUREMENTS, Measurement};
use record::{Record, Setting};
use stage::Stage;

const DOCUMENT: &str = "docs/performance.md";

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct BenchOptions {
    /// Names of rows; all but the slow ones when none is given
    names: Vec<String>,
    /// Measure the slow rows too, which take a minute or more for each run
    #[arg(long)]
    large: bool,
    /// How often each side is timed; the row says so
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Only list the rows
    #[arg(long, conflicts_with = "names")]
    list: bool,
    /// Only write the document from the records there are
    #[arg(long, conflicts_with_all = ["names", "list"])]
    document: bool,
}

/// Measures what was chosen; each finished row is recorded even if a later one fails.
pub fn run(project: &Project, options: &BenchOptions) -> Result<(), TaskError> {
    if options.list {
        MEASUREMENTS.iter().for_each(|row| report::say(format!("{}: {}", row.name, row.what)));
        return Ok(());
    }
    if options.document {
        return write_document(&project.root);
    }
    let chosen = chosen(options)?;
    let setup = setup::run(project, Profile::Release)?;
    let directory = std::env::temp_dir().join(format!("ghidr-bench-{}", std::process::id()));
    let missed = measure(project, &setup, &directory, &chosen, options.runs);
    files::remove(&directory)?;
    let missed = missed?;
    if missed.is_empty() { Ok(()) } else { Err(TaskError::Steps(missed)) }
}

/// Gives the goals that were missed.
fn measure(
    project: &Project,
    setup: &Setup,
    directory: &Path,
    chosen: &[&Measurement],
    runs: u32,
) -> Result<Vec<String>, TaskError> {
    let setting = setting(project, setup)?;
    let stage = Stage::new(project, setup, directory)?;
    let mut missed = Vec::new();
    for row in chosen {
        report::say(format!("measuring: {}", row.what));
        let measured = (row.measure)(&stage, runs)?;
        let record = Record { name: row.name.to_owned(), measured, setting: setting.clone() };
        report::say(document::line(row, &record).trim_end());
        if !row.goal.met(record.measured.finding) {
            missed.push(format!("goal missed: {}", row.what));
        }
        record.publish(&project.root)?;
        write_document(&project.root)?;
    }
    report::say(format!("written: {DOCUMENT}"));
    Ok(missed)
}

fn chosen(options: &BenchOptions) -> Result<Vec<&'static Measurement>, TaskError> {
    let known = |name: &String| MEASUREMENTS.iter().any(|row| row.name == name);
    if let Some(unknown) = options.names.iter().find(|name| !known(name)) {
        let names: Vec<&str> = MEASUREMENTS.iter().map(|row| row.name).collect();
        return Err(TaskError::Refused(format!("no row '{unknown}'; there are: {}", names.join(", "))));
    }
    let wanted = |row: &&Measurement| match options.names.as_slice() {
        [] => options.large || !row.slow,
        names => names.iter().any(|name| name == row.name),
    };
    Ok(MEASUREMENTS.iter().filter(wanted).collect())
}

fn write_document(root: &Path) -> Result<(), TaskError> {
    let path = root.join(DOCUMENT);
    let text = std::fs::read_to_string(&path).at("read", &path)?;
    files::publish(&path, document::with_results(&text, &record::all(root)?)?.as_bytes())
}

fn setting(project: &Project, setup: &Setup) -> Result<Setting, TaskError> {
    let git =
        |arguments: &[&str]| command::output(Command::new("git").current_dir(&project.root).args(arguments));
    let mut commit = git(&["rev-parse", "--short=12", "HEAD"])?.trim().to_owned();
    // The rows measured before this one are changes too, and change nothing that runs.
    if !git(&["status", "--porcelain", "--untracked-files=no", "--", ":!docs"])?.trim().is_empty() {
        commit.push_str(" with changes");
    }
    Ok(Setting {
        commit,
        machine: record::machine(),
        engine: format!("Ghidra {} (single jar), Java {}", setup.facts.version, setup.jdk.feature),
        limits: format!(
            "the same JDK, Java heap of at most {DEFAULT_MAX_HEAP_MIB} MiB, {DEFAULT_MAX_CPU} cores"
        ),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn options(names: &[&str], large: bool) -> BenchOptions {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        BenchOptions { names, large, runs: 5, list: false, document: false }
    }

    #[test]
    fn slow_rows_are_measured_when_they_are_asked_for() {
        let names = |given: &[&str], large| -> Vec<&str> {
            chosen(&options(given, large)).unwrap().iter().map(|row| row.name).collect()
        };
        assert!(!names(&[], false).contains(&"cold-libc"));
        assert_eq!(names(&[], true).len(), MEASUREMENTS.len());
        assert_eq!(names(&["cold-libc"], false), ["cold-libc"]);
        let unknown = chosen(&options(&["cold"], false)).unwrap_err().to_string();
        assert!(unknown.contains("'cold'") && unknown.contains("cold-libc"), "{unknown}");
    }

    #[test]
    fn the_committed_document_shows_the_committed_records() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = std::fs::read_to_string(root.join(DOCUMENT)).unwrap();
        let expected = document::with_results(&text, &record::all(root).unwrap()).unwrap();
        assert!(
            text == expected,
            "{DOCUMENT} does not show the records; `cargo xtask bench --document` does"
        );
    }
}
