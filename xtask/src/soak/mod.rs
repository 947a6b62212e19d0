//! `cargo xtask soak`: runs the long forms of the reliability sweeps and writes what they found.
//!
//! The sweeps are the tests `sweeps::…::NAME::sweep` of the integration binary, so this task knows none of them. A
//! sweep keeps a state file below `target/soak`; after an interruption `--resume` goes on from there. A finished one
//! becomes `docs/reliability/NAME.json`, and `docs/reliability.md` gets its table from those files.

mod document;
mod record;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{AtPath, TaskError};
use crate::project::{Profile, Project};
use crate::setup::packages;
use crate::{command, files, report, setup};
use record::{Record, State};

/// Where the results are kept.
const RECORDS: &str = "docs/reliability";
const DOCUMENT: &str = "docs/reliability.md";

/// What to run.
#[derive(Debug, clap::Args)]
pub struct SoakOptions {
    /// Names of sweeps; all of them when none is given
    names: Vec<String>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Go on where an earlier run with this seed stopped
    #[arg(long)]
    resume: bool,
    /// Only list the sweeps
    #[arg(long, conflicts_with_all = ["names", "resume"])]
    list: bool,
    /// Only write the document from the records there are
    #[arg(long, conflicts_with_all = ["names", "resume", "list"])]
    document: bool,
}

/// One sweep and the test that is it.
#[derive(Debug, PartialEq, Eq)]
struct Sweep {
    name: String,
    test: String,
}

/// Runs the long forms; each finished one is recorded even if a later one fails.
pub fn run(project: &Project, options: &SoakOptions) -> Result<(), TaskError> {
    if options.document {
        return write_document(&project.root);
    }
    if options.list {
        sweeps(project)?.iter().for_each(|sweep| report::say(&sweep.name));
        return Ok(());
    }
    setup::run(project, Profile::Release)?;
    packages::ensure_tool("strace", "strace")?;
    let mut failed = Vec::new();
    for sweep in &chosen(sweeps(project)?, &options.names)? {
        if let Err(error) = one(project, sweep, options) {
            report::complain(format!("xtask: {}: {error}", sweep.name));
            failed.push(sweep.name.clone());
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(TaskError::Steps(failed)) }
}

fn one(project: &Project, sweep: &Sweep, options: &SoakOptions) -> Result<(), TaskError> {
    let directory = project.target.join("soak");
    files::create_public_directory(&directory)?;
    let state = directory.join(format!("{}.json", sweep.name));
    if !options.resume {
        files::remove(&state)?;
    }
    report::say(format!("\n==> {}, seed {}, state in {}", sweep.name, options.seed, state.display()));
    let knob = serde_json::json!({"seed": options.seed, "state": state}).to_string();
    let mut test = test_binary(project);
    test.args(["--", "--exact", &sweep.test, "--nocapture"]).env("GHIDR_SOAK", knob);
    command::run(&mut test)?;
    let finished: State = read(&state)?;
    let record = Record::new(finished, commit(project)?)?;
    let records = project.root.join(RECORDS);
    let text = serde_json::to_string_pretty(&record)
        .map_err(|error| TaskError::Refused(format!("cannot write a record: {error}")))?;
    files::publish(&records.join(format!("{}.json", sweep.name)), format!("{text}\n").as_bytes())?;
    write_document(&project.root)
}

/// Gives the document the table of all records.
fn write_document(root: &Path) -> Result<(), TaskError> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).at("read", &path)?;
    files::publish(&path, document::with_results(&text, &all_records(root)?)?.as_bytes())
}

/// Every record, by name.
fn all_records(root: &Path) -> Result<Vec<Record>, TaskError> {
    let directory = root.join(RECORDS);
    let mut paths: Vec<PathBuf> = fs::read_dir(&directory)
        .at("read", &directory)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".json") && !name.ends_with(".subset.json")
        })
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, TaskError> {
    let bytes = fs::read(path).at("read", path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| TaskError::Damaged { what: path.display().to_string(), reason: error.to_string() })
}

/// The integration tests on the release build.
fn test_binary(project: &Project) -> Command {
    let mut command = project.cargo();
    command.args(["test", "--release", "--locked", "--package", "ghidr", "--test", "main"]);
    command
}

fn sweeps(project: &Project) -> Result<Vec<Sweep>, TaskError> {
    let listed =
        command::output(test_binary(project).args(["--", "--list", "--format", "terse", "sweeps::"]))?;
    Ok(listed.lines().filter_map(sweep_of).collect())
}

/// The sweep of a line such as `sweeps::ghidra::crashes::sweep: test`.
fn sweep_of(line: &str) -> Option<Sweep> {
    let test = line.strip_suffix(": test")?;
    let name = test.strip_suffix("::sweep")?.rsplit("::").next()?;
    Some(Sweep { name: name.to_owned(), test: test.to_owned() })
}

fn chosen(sweeps: Vec<Sweep>, names: &[String]) -> Result<Vec<Sweep>, TaskError> {
    if let Some(unknown) = names.iter().find(|name| sweeps.iter().all(|sweep| sweep.name != **name)) {
        let known: Vec<&str> = sweeps.iter().map(|sweep| sweep.name.as_str()).collect();
        return Err(TaskError::Refused(format!("no sweep '{unknown}'; there are: {}", known.join(", "))));
    }
    Ok(sweeps.into_iter().filter(|sweep| names.is_empty() || names.contains(&sweep.name)).collect())
}

fn commit(project: &Project) -> Result<String, TaskError> {
    let git =
        |arguments: &[&str]| command::output(Command::new("git").current_dir(&project.root).args(arguments));
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?.trim().to_owned();
    // The records of the sweeps before this one are changes too, and change nothing that runs.
    let code = ["status", "--porcelain", "--untracked-files=no", "--", ":!docs"];
    let changed = !git(&code)?.trim().is_empty();
    Ok(if changed { commit + " with changes" } else { commit })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_found_in_the_list_of_tests() {
        let sweep = sweep_of("sweeps::ghidra::crashes::sweep: test").unwrap();
        assert_eq!((sweep.name.as_str(), sweep.test.as_str()), ("crashes", "sweeps::ghidra::crashes::sweep"));
        assert_eq!(sweep_of("sweeps::crashes::helper_works: test"), None);
        assert_eq!(sweep_of("3 tests, 0 benchmarks"), None);
        let sweeps = || vec![sweep_of("a::b::sweep: test").unwrap(), sweep_of("a::c::sweep: test").unwrap()];
        assert_eq!(chosen(sweeps(), &[]).unwrap().len(), 2);
        assert_eq!(chosen(sweeps(), &["c".to_owned()]).unwrap()[0].test, "a::c::sweep");
        assert!(chosen(sweeps(), &["d".to_owned()]).unwrap_err().to_string().contains("b, c"));
    }

    #[test]
    fn the_committed_document_shows_the_committed_records() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = fs::read_to_string(root.join(DOCUMENT)).unwrap();
        let expected = document::with_results(&text, &all_records(root).unwrap()).unwrap();
        assert!(
            text == expected,
            "{DOCUMENT} does not show what is in {RECORDS}; `cargo xtask soak` writes both"
        );
    }
}
