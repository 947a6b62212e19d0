//! A fault between every two steps of a command: each system call that touches the store or the
//! Sample fails with `EIO`, `ENOSPC`, `EACCES` and `EROFS`, and the process is killed before it.
//!
//! After a failed call the answer is right or a typed refusal, never an internal error. After either,
//! the next command succeeds with the right answer, and the store holds nothing that an undisturbed
//! store would not. The worker is scripted; faults in it are faults of the worker, so only death is
//! tried while it runs.

use super::scenario::{SCENARIOS, Stage, judge};
use crate::support::strace::{self, Fault, Point};
use crate::support::sweep::{Counts, Ledger, Sweep, count};

const SWEEP: Sweep = Sweep {
    name: "faults",
    about: "Every system call of a command that touches the store or the Sample, in turn: it fails with EIO, \
            ENOSPC, EACCES, EROFS, or the process is killed before it. The answer is right or a typed refusal; the \
            next command succeeds, and nothing is left behind. Scripted worker.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

const FAULTS: [Fault; 5] =
    [Fault::Error("EIO"), Fault::Error("ENOSPC"), Fault::Error("EACCES"), Fault::Error("EROFS"), Fault::Kill];
/// Codes that would mean a defect of ghidr or of the worker, neither of which a file system can cause.
const NEVER: [&str; 4] = ["internal_error", "protocol_violation", "worker_failed", "analysis_busy"];

fn cases(ledger: &mut Ledger) {
    for scenario in &SCENARIOS {
        let mut stage = Stage::new(scenario);
        let is_long = ledger.is_long();
        let wanted = ledger.many(14, usize::MAX);
        let mut pairs = Vec::new();
        for (point, in_worker) in points(&mut stage) {
            let faults = if in_worker { &FAULTS[4..] } else { &FAULTS };
            pairs.extend(faults.iter().map(|fault| (point.clone(), *fault)));
        }
        for (point, fault) in ledger.random(scenario.name).some(pairs, wanted) {
            let id = format!("{}: {fault:?} at {} {}", scenario.name, point.call, point.number);
            ledger.case(id, |_, counts| disturb(&mut stage, &point, fault, is_long, counts));
        }
    }
}

/// The calls that touch the store or the Sample, and whether the worker makes them.
fn points(stage: &mut Stage) -> Vec<(Point, bool)> {
    stage.prepare(&stage.world.path("traced"));
    let (run, points) = strace::points(&stage.command(), &stage.world.path("strace.log"));
    assert_eq!(judge(&run), stage.expected, "{run}");
    let places = [stage.world.store(), stage.world.path("samples")];
    let mut in_worker = false;
    let mut found = Vec::new();
    for point in points {
        if point.text.contains("ghidr-scripted-worker-") {
            in_worker = point.text.contains("begins");
        } else if places.iter().any(|place| point.text.contains(place.to_str().unwrap())) {
            found.push((point, in_worker));
        }
    }
    found
}

fn disturb(stage: &mut Stage, point: &Point, fault: Fault, is_long: bool, counts: &mut Counts) {
    // Of the same length as the place of the traced run, so that every call is the same.
    stage.prepare(&stage.world.path("broken"));
    let run = strace::disturbed(&stage.command(), &stage.world.path("strace.log"), point, fault);
    let what = format!("{}: {fault:?} at {}", stage.scenario.name, point.text);
    if fault == Fault::Kill {
        assert_eq!(run.status, None, "{what}: {run}");
        count(counts, "killed");
    } else {
        let outcome = judge(&run);
        match &outcome {
            Ok(_) => assert_eq!(outcome, stage.expected, "{what}: a wrong answer"),
            Err(code) => {
                let allowed = !NEVER.contains(&code.as_str()) || is_the_workers(point, fault);
                assert!(allowed, "{what}: {run}");
            }
        }
        count(counts, "a call failed");
        if is_long {
            count(counts, outcome.map_or_else(|code| format!("refused: {code}"), |_| "answered".to_owned()));
        }
    }
    stage.recovers(&what);
    count(counts, "the next command succeeded and nothing was left behind");
}

/// A worker can forbid its response, its answers, and what it made of the Analysis, to be read.
fn is_the_workers(point: &Point, fault: Fault) -> bool {
    let says = |name| point.text.contains(name);
    let is_said = point.call.starts_with("open") && (says("/response.json\"") || says("/answers.jsonl\""));
    let is_staged = says("/staging/") && says("/analysis/");
    fault == Fault::Error("EACCES") && (is_said || is_staged)
}
