//! A fault between every two steps of a command: each system call that touches the store or the
//! Sample fails with `EIO`, `ENOSPC`, `EACCES` and `EROFS`, and the process is killed before it.
//!
//! After a failed call the answer is right or a typed refusal, never an internal error. After either,
//! the next command succeeds with the right answer, and the store holds nothing that an undisturbed
//! store would not. The worker is scripted; faults in it are faults of the worker, so only death is
//! tried while it runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::damage::{copy_tree, entries_below};
use crate::support::fake_engine::World;
use crate::support::ghidr::Run;
use crate::support::right_answer;
use crate::support::strace::{self, Fault, Point};
use crate::support::sweep::{Counts, Ledger, Sweep, count};
use crate::support::tree;

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

/// One command on a store in a known state.
struct Scenario {
    name: &'static str,
    /// Brings the store into that state.
    prepare: fn(&World),
    /// What the worker does.
    script: &'static str,
    /// The command; the Sample is added.
    arguments: &'static [&'static str],
}

const DIAGNOSTIC_LOG: [&str; 6] = [
    "diagnostics",
    "diagnostics/ID",
    "diagnostics/ID/ID",
    "diagnostics/ID/ID/manifest.json",
    "diagnostics/ID/ID/stderr.log",
    "diagnostics/ID/ID/stdout.log",
];

const FUNCTIONS: &[&str] = &["functions", "--all"];
const SPILLED: &[&str] = &["functions", "--all", "--max-inline-bytes", "2200"];
const DECOMPILE: &[&str] = &["decompile", "--name", "main"];
/// Of no scenario, so no result is kept of it and the project has to be opened.
const VERIFY: &[&str] = &["decompile", "--name", "_init"];

const SCENARIOS: [Scenario; 7] = [
    Scenario { name: "first command", prepare: |_| {}, script: "honest", arguments: &["inspect"] },
    Scenario { name: "facts query", prepare: analyzed, script: "honest", arguments: FUNCTIONS },
    Scenario { name: "spill", prepare: analyzed, script: "honest", arguments: SPILLED },
    Scenario { name: "decompilation", prepare: analyzed, script: "honest", arguments: DECOMPILE },
    Scenario { name: "quarantine and rebuild", prepare: damaged, script: "honest", arguments: FUNCTIONS },
    Scenario { name: "diagnostic log", prepare: |_| {}, script: "fails", arguments: &["inspect"] },
    Scenario { name: "doctor", prepare: analyzed, script: "honest", arguments: &["doctor"] },
];

fn analyzed(world: &World) {
    ask(world, &["inspect"]).success();
}

fn damaged(world: &World) {
    analyzed(world);
    tree::flip_byte(&world.analysis().join("facts/functions.jsonl"));
}

fn cases(ledger: &mut Ledger) {
    for scenario in &SCENARIOS {
        let mut stage = Stage::new(scenario);
        let is_long = ledger.is_long();
        let wanted = ledger.many(14, usize::MAX);
        let mut pairs = Vec::new();
        for (point, in_worker) in stage.points() {
            let faults = if in_worker { &FAULTS[4..] } else { &FAULTS };
            pairs.extend(faults.iter().map(|fault| (point.clone(), *fault)));
        }
        for (point, fault) in ledger.random(scenario.name).some(pairs, wanted) {
            let id = format!("{}: {fault:?} at {} {}", scenario.name, point.call, point.number);
            ledger.case(id, |_, counts| stage.disturb(&point, fault, is_long, counts));
        }
    }
}

/// A scenario on its prepared store.
struct Stage {
    scenario: &'static Scenario,
    world: World,
    pristine: PathBuf,
    /// The answer to the command; its error's code when it fails undisturbed.
    expected: Result<Value, String>,
    decompilation: Value,
    /// Everything that an undisturbed store holds afterwards.
    entries: BTreeSet<String>,
    runs: u32,
}

impl Stage {
    fn new(scenario: &'static Scenario) -> Self {
        let mut world = World::new();
        let pristine = world.store();
        (scenario.prepare)(&world);
        let reference = world.path("reference");
        copy(&pristine, &reference);
        world.use_store(reference.clone());
        let run = Run::from(command(scenario, &world).output().unwrap());
        let expected = judge(&run);
        let again = judge(&ask(&world, scenario.arguments));
        if expected.is_ok() {
            assert_eq!(again, expected, "{}: {run}", scenario.name);
        }
        let decompilation = right_answer::of(&ask(&world, VERIFY));
        let mut entries = names(&reference);
        // A failure may keep a log, and a command may die after it did.
        entries.extend(DIAGNOSTIC_LOG.map(str::to_owned));
        Self { scenario, world, pristine, expected, decompilation, entries, runs: 0 }
    }

    /// The calls that touch the store or the Sample, and whether the worker makes them.
    fn points(&mut self) -> Vec<(Point, bool)> {
        self.fresh_store();
        let (run, points) = strace::points(&command(self.scenario, &self.world), &self.log());
        assert_eq!(judge(&run), self.expected, "{run}");
        let places = [self.world.store(), self.world.path("samples")];
        let touches = |point: &Point| places.iter().any(|place| point.text.contains(place.to_str().unwrap()));
        let mut in_worker = false;
        let mut found = Vec::new();
        for point in points {
            if point.text.contains("ghidr-scripted-worker-") {
                in_worker = point.text.contains("begins");
            } else if touches(&point) {
                found.push((point, in_worker));
            }
        }
        found
    }

    fn disturb(&mut self, point: &Point, fault: Fault, is_long: bool, counts: &mut Counts) {
        self.fresh_store();
        let run = strace::disturbed(&command(self.scenario, &self.world), &self.log(), point, fault);
        let what = format!("{}: {fault:?} at {}", self.scenario.name, point.text);
        if fault == Fault::Kill {
            assert_eq!(run.status, None, "{what}: {run}");
            count(counts, "killed");
        } else {
            let outcome = judge(&run);
            match &outcome {
                Ok(_) => assert_eq!(outcome, self.expected, "{what}: a wrong answer"),
                Err(code) => {
                    assert!(!NEVER.contains(&code.as_str()) || is_the_workers(point, fault), "{what}: {run}");
                }
            }
            count(counts, "a call failed");
            if is_long {
                count(
                    counts,
                    outcome.map_or_else(|code| format!("refused: {code}"), |_| "answered".to_owned()),
                );
            }
        }
        self.recovers(&what);
        count(counts, "the next command succeeded and nothing was left behind");
    }

    /// The same command and one that opens the project succeed, and leave what an undisturbed store has.
    fn recovers(&self, what: &str) {
        let next = ask(&self.world, self.scenario.arguments);
        if self.expected.is_ok() {
            assert_eq!(judge(&next), self.expected, "{what}, then: {next}");
        } else {
            next.success();
        }
        let run = ask(&self.world, VERIFY);
        assert_eq!(right_answer::of(&run), self.decompilation, "{what}");
        let store = self.world.store();
        assert_eq!(tree::names(&store.join("staging")), Vec::<String>::new(), "{what}");
        let left: Vec<_> = names(&store).difference(&self.entries).cloned().collect();
        assert_eq!(left, Vec::<String>::new(), "{what}: left behind");
    }

    fn fresh_store(&mut self) {
        let used = self.world.path(&format!("store-{}", self.runs));
        if used.exists() {
            std::fs::remove_dir_all(used).unwrap();
        }
        self.runs += 1;
        let store = self.world.path(&format!("store-{}", self.runs));
        copy(&self.pristine, &store);
        self.world.use_store(store);
    }

    fn log(&self) -> PathBuf {
        self.world.path("strace.log")
    }
}

/// A worker can forbid its response to be opened.
fn is_the_workers(point: &Point, fault: Fault) -> bool {
    fault == Fault::Error("EACCES")
        && point.call.starts_with("open")
        && point.text.contains("/response.json\"")
}

fn copy(from: &Path, to: &Path) {
    if from.exists() {
        copy_tree(from, to);
    }
}

fn names(store: &Path) -> BTreeSet<String> {
    entries_below(store).iter().map(|entry| right_answer::anonymous(entry)).collect()
}

/// The right answer, or the code of the refusal; the framing is checked.
fn judge(run: &Run) -> Result<Value, String> {
    run.check_framing();
    if run.status == Some(0) {
        return Ok(right_answer::of(run));
    }
    Err(run.document()["error"]["code"].as_str().unwrap().to_owned())
}

/// The command in a process of its own.
fn command(scenario: &Scenario, world: &World) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted_ghidr"));
    command.env_clear().env("HOME", world.path("home")).env("GHIDR_STORE", world.store());
    command.arg(world.path("")).arg(scenario.script).args(line(world, scenario.arguments));
    command
}

/// The same in this process, with an honest worker.
fn ask(world: &World, arguments: &[&str]) -> Run {
    let run = world.run_unframed(line(world, arguments));
    run.check_framing();
    run
}

fn line(world: &World, arguments: &[&str]) -> Vec<String> {
    let mut line: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    if arguments[0] != "doctor" {
        line.push(world.sample().to_str().unwrap().to_owned());
    }
    line
}
