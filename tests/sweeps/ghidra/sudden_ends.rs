//! SIGKILL of the command just before system calls of the phases in which no worker runs: snapshot,
//! copy, promotion, spill, quarantine and cleanup, with the real engine.
//!
//! `strace` kills at a chosen call, so the phase is what the call belongs to. A worker may run before
//! it, and what supervision calls meanwhile varies; after a worker only calls are chosen that
//! supervision never makes.

use std::collections::BTreeMap;
use std::process::Command;

use super::Stage;
use super::full_store::FullStore;
use crate::support::boots;
use crate::support::ghidr::Run;
use crate::support::residue;
use crate::support::strace::{self, Fault, Point};
use crate::support::sweep::{Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "sudden_ends",
    about: "SIGKILL of the command just before a system call of snapshot, project copy, promotion, spill, \
            quarantine, or of the cleanup of a Sample or of everything. No incomplete Analysis is visible, no \
            process and no temporary file survives, the next command succeeds, a cleanup that died is finished \
            by the next one, and everything can be removed. Real engine.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

/// Calls that change the store and that supervision never makes.
const NEVER_WHILE_WAITING: [&str; 6] = ["mkdirat", "renameat", "renameat2", "unlinkat", "fsync", "fchmod"];

/// What the store holds before the command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    Nothing,
    Analysis,
    DamagedAnalysis,
    Everything,
}

/// A phase, and the command and store that go through it.
struct Phase {
    name: &'static str,
    before: Before,
    arguments: &'static [&'static str],
    /// Which calls of a trace belong to it.
    points: fn(Vec<Point>) -> Vec<Point>,
}

const CLEAN_EVERYTHING: &[&str] = &["clean", "--all", "--yes"];

const PHASES: [Phase; 7] = [
    Phase { name: "snapshot", before: Before::Nothing, arguments: &["inspect"], points: before_the_worker },
    Phase {
        name: "copy",
        before: Before::Analysis,
        arguments: &["decompile", "--name", "main"],
        points: before_the_worker,
    },
    Phase { name: "promotion", before: Before::Nothing, arguments: &["inspect"], points: after_the_worker },
    Phase {
        name: "spill",
        before: Before::Analysis,
        arguments: &["functions", "--all", "--max-inline-bytes", "2500"],
        points: from_staging_on,
    },
    Phase {
        name: "quarantine",
        before: Before::DamagedAnalysis,
        arguments: &["functions"],
        points: around_the_quarantine,
    },
    Phase {
        name: "clean",
        before: Before::Everything,
        arguments: &["clean"],
        points: during_the_transaction,
    },
    Phase {
        name: "clean --all",
        before: Before::Everything,
        arguments: CLEAN_EVERYTHING,
        points: during_the_transaction,
    },
];

fn cases(ledger: &mut Ledger) {
    let _boot = boots::take();
    let stage = Stage::new();
    let full = FullStore::make(&stage);
    let is_long = ledger.is_long();
    let mut traces = BTreeMap::new();
    for phase in &PHASES {
        let name = phase.name;
        // A trace is shared by the phases of one command.
        let points =
            traces.entry((phase.arguments, phase.before)).or_insert_with(|| trace(&stage, &full, phase));
        let points = (phase.points)(points.clone());
        let wanted = ledger.many(1, 25);
        assert!(points.len() >= 25, "{name}: {} calls", points.len());
        for (number, point) in ledger.random(name).some(points, wanted).into_iter().enumerate() {
            ledger.case(format!("{name} {number}"), |_, counts| {
                prepare(&stage, &full, phase.before);
                let log = stage.ghidr.root().join("strace.log");
                let run = strace::disturbed(&command(&stage, phase), &log, &point, Fault::Kill);
                let what = format!("{name}: killed before {}", point.text);
                assert_eq!(run.status, None, "{what}: {run}");
                count(counts, format!("killed in {name}"));
                if phase.before == Before::Everything {
                    let removal = full.removal(&stage.store());
                    if is_long {
                        count(counts, format!("killed in {name}: {removal:?}").to_lowercase());
                    }
                    cleanup_recovers(&stage, &full, phase, number, &what);
                } else {
                    stage.recovers(&["artifacts", "quarantine"], &what);
                }
            });
        }
    }
}

/// After the death of a cleanup the same cleanup finishes it, or a Query succeeds beside what is left.
fn cleanup_recovers(stage: &Stage, full: &FullStore, phase: &Phase, number: usize, what: &str) {
    let store = stage.store();
    let of_one_sample = phase.arguments != CLEAN_EVERYTHING;
    if number.is_multiple_of(2) {
        Run::from(command(stage, phase).output().unwrap()).success();
        full.is_without_the_sample(&store, what);
        if !of_one_sample {
            residue::check(&store, what);
        }
    }
    stage.answers_again(&["artifacts", "cleanup", "diagnostics", "quarantine", "results"], what);
    if of_one_sample {
        full.has_the_other(&store, what);
    }
    stage.leaves_nothing(what);
}

fn prepare(stage: &Stage, full: &FullStore, before: Before) {
    match before {
        Before::Nothing => stage.reset(false),
        Before::Analysis => stage.reset(true),
        Before::DamagedAnalysis => {
            stage.reset(true);
            let analyses = stage.store().join("analyses");
            tree::flip_byte(&super::grandchildren(&analyses)[0].join("facts/functions.jsonl"));
        }
        Before::Everything => full.copy(stage),
    }
}

fn command(stage: &Stage, phase: &Phase) -> Command {
    if phase.arguments == CLEAN_EVERYTHING {
        return stage.ghidr.command(CLEAN_EVERYTHING);
    }
    stage.ghidr.command(stage.line(phase.arguments))
}

/// Every call of the undisturbed command on the store.
fn trace(stage: &Stage, full: &FullStore, phase: &Phase) -> Vec<Point> {
    prepare(stage, full, phase.before);
    let (run, points) = strace::points(&command(stage, phase), &stage.ghidr.root().join("strace.log"));
    run.success();
    points.into_iter().filter(|point| point.text.contains(stage.store().to_str().unwrap())).collect()
}

fn position(points: &[Point], text: &str) -> usize {
    points.iter().position(|point| point.text.contains(text)).unwrap_or_else(|| panic!("no call on {text}"))
}

/// From the making of the staging directory to the last call before the request is complete.
fn before_the_worker(points: Vec<Point>) -> Vec<Point> {
    points[position(&points, "\"staging\"")..=position(&points, "\"request.json\"")].to_vec()
}

fn after_the_worker(points: Vec<Point>) -> Vec<Point> {
    let request = position(&points, "\"request.json\"");
    let after = points.into_iter().skip(request + 1);
    after.filter(|point| NEVER_WHILE_WAITING.contains(&point.call.as_str())).collect()
}

fn from_staging_on(points: Vec<Point>) -> Vec<Point> {
    points[position(&points, "\"staging\"")..].to_vec()
}

/// From the second look at the Analysis to the staging directory of the rebuild.
fn around_the_quarantine(points: Vec<Point>) -> Vec<Point> {
    let first = position(&points, "\"quarantine\"");
    let end = points.iter().rposition(|point| point.text.contains("/quarantine/")).unwrap();
    points[first.saturating_sub(24)..=end].to_vec()
}

/// From the first call after the making of the transaction's directory to its removal.
fn during_the_transaction(points: Vec<Point>) -> Vec<Point> {
    let in_cleanup = |call: &str, point: &Point| point.call == call && point.text.contains("/cleanup>, ");
    let made = points.iter().position(|point| in_cleanup("mkdirat", point)).unwrap();
    let removed = points.iter().rposition(|point| in_cleanup("unlinkat", point)).unwrap();
    points[made + 1..=removed].to_vec()
}
