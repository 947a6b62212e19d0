//! SIGKILL of the command just before system calls of the phases in which no worker runs: snapshot,
//! copy, promotion, spill and quarantine, with the real engine.
//!
//! `strace` kills at a chosen call, so the phase is what the call belongs to. A worker may run before
//! it, and what supervision calls meanwhile varies; after a worker only calls are chosen that
//! supervision never makes.

use std::collections::BTreeMap;
use std::process::Command;

use super::Stage;
use crate::support::boots;
use crate::support::strace::{self, Fault, Point};
use crate::support::sweep::{Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "sudden_ends",
    about: "SIGKILL of the command just before a system call of snapshot, project copy, promotion, spill or \
            quarantine. No incomplete Analysis is visible, no process and no temporary file survives, and the next \
            command succeeds. Real engine.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

/// Calls that change the store and that supervision never makes.
const NEVER_WHILE_WAITING: [&str; 6] = ["mkdirat", "renameat", "renameat2", "unlinkat", "fsync", "fchmod"];

/// A phase, and the command and store that go through it.
struct Phase {
    name: &'static str,
    with_analysis: bool,
    damaged: bool,
    arguments: &'static [&'static str],
    /// Which calls of a trace belong to it.
    points: fn(Vec<Point>) -> Vec<Point>,
}

const PHASES: [Phase; 5] = [
    Phase {
        name: "snapshot",
        with_analysis: false,
        damaged: false,
        arguments: &["inspect"],
        points: before_the_worker,
    },
    Phase {
        name: "copy",
        with_analysis: true,
        damaged: false,
        arguments: &["decompile", "--name", "main"],
        points: before_the_worker,
    },
    Phase {
        name: "promotion",
        with_analysis: false,
        damaged: false,
        arguments: &["inspect"],
        points: after_the_worker,
    },
    Phase {
        name: "spill",
        with_analysis: true,
        damaged: false,
        arguments: &["functions", "--all", "--max-inline-bytes", "2500"],
        points: from_staging_on,
    },
    Phase {
        name: "quarantine",
        with_analysis: true,
        damaged: true,
        arguments: &["functions"],
        points: around_the_quarantine,
    },
];

fn cases(ledger: &mut Ledger) {
    let _boot = boots::take();
    let stage = Stage::new();
    let mut traces = BTreeMap::new();
    for phase in &PHASES {
        let name = phase.name;
        // A trace is shared by the phases of one command.
        let points = traces.entry((phase.arguments, phase.damaged)).or_insert_with(|| trace(&stage, phase));
        let points = (phase.points)(points.clone());
        let wanted = ledger.many(1, 25);
        assert!(points.len() >= 25, "{name}: {} calls", points.len());
        for (number, point) in ledger.random(name).some(points, wanted).into_iter().enumerate() {
            ledger.case(format!("{name} {number}"), |_, counts| {
                prepare(&stage, phase);
                let log = stage.ghidr.root().join("strace.log");
                let run = strace::disturbed(&command(&stage, phase), &log, &point, Fault::Kill);
                let what = format!("{name}: killed before {}", point.text);
                assert_eq!(run.status, None, "{what}: {run}");
                stage.recovers(&["artifacts", "quarantine"], &what);
                count(counts, format!("killed in {name}"));
            });
        }
    }
}

fn prepare(stage: &Stage, phase: &Phase) {
    stage.reset(phase.with_analysis);
    if phase.damaged {
        let analyses = stage.store().join("analyses");
        tree::flip_byte(&super::grandchildren(&analyses)[0].join("facts/functions.jsonl"));
    }
}

fn command(stage: &Stage, phase: &Phase) -> Command {
    stage.ghidr.command(stage.line(phase.arguments))
}

/// Every call of the undisturbed command on the store.
fn trace(stage: &Stage, phase: &Phase) -> Vec<Point> {
    prepare(stage, phase);
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
