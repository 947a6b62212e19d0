//! Commands on stores in known states, for sweeps that disturb them: what an undisturbed one answers
//! and leaves, and that the next command puts everything right.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::damage::{copy_tree, entries_below};
use crate::support::fake_engine::World;
use crate::support::ghidr::Run;
use crate::support::residue;
use crate::support::right_answer;
use crate::support::tree;

/// One command on a store in a known state.
pub struct Scenario {
    /// In a few words.
    pub name: &'static str,
    /// Brings the store into that state.
    prepare: fn(&World),
    /// What the worker does.
    script: &'static str,
    /// The command; the Sample is added.
    arguments: &'static [&'static str],
}

/// Neither of the two answers the same when it is repeated.
pub const CLEAN: &[&str] = &["clean"];
pub const CLEAN_EVERYTHING: &[&str] = &["clean", "--all", "--yes"];
const FUNCTIONS: &[&str] = &["functions", "--all"];
pub const SPILLED: &[&str] = &["functions", "--all", "--max-inline-bytes", "2200"];
const DECOMPILE: &[&str] = &["decompile", "--name", "main"];
pub const DECOMPILE_ALL: &[&str] = &["batch", "--decompile-all"];
/// Its result is the one that [`everything`] keeps.
pub const KEPT: &[&str] = &["decompile", "--name", "A::parse"];
/// Opens the project, where no result is kept.
const VERIFY: &[&str] = &["decompile", "--name", "_init"];
const DOCTOR_SPILLED: &[&str] = &["doctor", "--max-inline-bytes", "1000"];

/// Every sequence of steps by which a command changes a store.
pub const SCENARIOS: [Scenario; 10] = [
    Scenario { name: "first command", prepare: |_| {}, script: "honest", arguments: &["inspect"] },
    Scenario { name: "facts query", prepare: analyzed, script: "honest", arguments: FUNCTIONS },
    Scenario { name: "spill", prepare: analyzed, script: "honest", arguments: SPILLED },
    Scenario { name: "decompilation", prepare: analyzed, script: "honest", arguments: DECOMPILE },
    Scenario { name: "decompile all", prepare: decompiled, script: "honest", arguments: DECOMPILE_ALL },
    Scenario { name: "quarantine and rebuild", prepare: damaged, script: "honest", arguments: FUNCTIONS },
    Scenario { name: "diagnostic log", prepare: |_| {}, script: "fails", arguments: &["inspect"] },
    Scenario { name: "doctor", prepare: analyzed, script: "honest", arguments: &["doctor"] },
    Scenario { name: "clean", prepare: everything, script: "honest", arguments: CLEAN },
    Scenario { name: "clean --all", prepare: full, script: "honest", arguments: CLEAN_EVERYTHING },
];

/// What a command may leave that failed, or died after it had.
const DIAGNOSTIC_LOG: [&str; 11] = [
    "diagnostics",
    "diagnostics/global",
    "diagnostics/global/ID",
    "diagnostics/global/ID/manifest.json",
    "diagnostics/global/ID/stderr.log",
    "diagnostics/global/ID/stdout.log",
    "diagnostics/ID",
    "diagnostics/ID/ID",
    "diagnostics/ID/ID/manifest.json",
    "diagnostics/ID/ID/stderr.log",
    "diagnostics/ID/ID/stdout.log",
];

fn analyzed(world: &World) {
    ask(world, &["inspect"]).success();
}

/// So that one text is there, and the others have to be asked for.
fn decompiled(world: &World) {
    ask(world, DECOMPILE).success();
}

fn damaged(world: &World) {
    analyzed(world);
    tree::flip_byte(&world.analysis().join("facts/functions.jsonl"));
}

/// One of everything that is kept of a Sample: an Analysis, one in quarantine, a kept result, an Artifact of
/// either kind, a Diagnostic Log; and a cleanup of it that was not finished.
pub fn everything(world: &World) {
    for arguments in [SPILLED, DECOMPILE] {
        ask(world, arguments).success();
    }
    world.leave_a_cleanup_unfinished();
    world.next(|answer| {
        answer.stdout = b"said".to_vec();
        answer.fail("import_failed", serde_json::json!({"reason": "r"}));
    });
    ask(world, &["inspect"]).error("import_failed", 1);
    // With the damaged Analysis all its results go, but no Artifact.
    ask(world, DECOMPILE_ALL).success();
    damaged(world);
    for arguments in [FUNCTIONS, SPILLED, KEPT] {
        ask(world, arguments).success();
    }
}

/// The same, another Sample, and what belongs to none.
fn full(world: &World) {
    everything(world);
    let another = world.write_sample("another", b"another program");
    world.run(["inspect", another.to_str().unwrap()]).success();
    ask(world, DOCTOR_SPILLED).success();
    world.next(|answer| answer.status = Some(1));
    ask(world, &["doctor"]).error("doctor_failed", 1);
    for area in ["artifacts", "diagnostics"] {
        let global = tree::names(&world.store().join(area).join("global"));
        assert_eq!(global.len(), 1, "{area}: {global:?}");
    }
}

/// A scenario on its prepared store.
pub struct Stage {
    /// Of which scenario.
    pub scenario: &'static Scenario,
    /// Its samples, and the store of the present case.
    pub world: World,
    /// The answer to the command; its error's code when it fails undisturbed.
    pub expected: Result<Value, String>,
    pristine: PathBuf,
    verification: Value,
    /// Everything that an undisturbed store holds afterwards.
    entries: BTreeSet<String>,
}

impl Stage {
    /// Prepares the store and lets the scenario happen once on a copy.
    pub fn new(scenario: &'static Scenario) -> Self {
        let mut world = World::new();
        let pristine = world.store();
        (scenario.prepare)(&world);
        let reference = world.path("reference");
        world.use_store(reference.clone());
        let mut stage = Self {
            scenario,
            world,
            expected: Err(String::new()),
            pristine,
            verification: Value::Null,
            entries: BTreeSet::new(),
        };
        stage.prepare(&reference);
        let run = Run::from(stage.command().output().unwrap());
        stage.expected = judge(&run);
        ask(&stage.world, scenario.arguments).success();
        stage.entries = names(&reference);
        stage.verification = verify(&stage.world);
        stage.entries.extend(names(&reference));
        stage.entries.extend(DIAGNOSTIC_LOG.map(str::to_owned));
        stage
    }

    /// Gives the world a fresh copy of the prepared store at this place.
    pub fn prepare(&mut self, store: &Path) {
        if store.exists() {
            std::fs::remove_dir_all(store).unwrap();
        }
        if self.pristine.exists() {
            copy_tree(&self.pristine, store);
        }
        self.world.use_store(store.to_owned());
    }

    /// The command in a process of its own, on the world's store.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scripted_ghidr"));
        command.env_clear().env("HOME", self.world.path("home")).env("GHIDR_STORE", self.world.store());
        command.arg(self.world.path("")).arg(self.scenario.script);
        command.args(line(&self.world, self.scenario.arguments));
        command
    }

    /// The same command and one that opens the project succeed in this process, with an honest
    /// worker, and leave what an undisturbed store has. All of it can be removed, which is done.
    pub fn recovers(&self, what: &str) {
        let store = self.world.store();
        let next = ask(&self.world, self.scenario.arguments);
        assert_eq!(next.status, Some(0), "{what}, then: {next}");
        match self.scenario.arguments {
            CLEAN => {
                let kept = ["analyses", "artifacts", "cleanup", "diagnostics", "quarantine", "results"];
                let left: Vec<_> = kept.iter().flat_map(|kind| tree::names(&store.join(kind))).collect();
                assert_eq!(left, Vec::<String>::new(), "{what}: cleaned, and yet");
            }
            CLEAN_EVERYTHING => residue::check(&store, what),
            _ if self.expected.is_ok() => assert_eq!(judge(&next), self.expected, "{what}, then: {next}"),
            _ => {}
        }
        // What died is swept by the next command that writes; that is not always this one.
        let left: Vec<_> = self.left_behind().filter(|name| !name.starts_with("staging/")).collect();
        assert_eq!(left, Vec::<String>::new(), "{what}: left behind");
        assert_eq!(verify(&self.world), self.verification, "{what}");
        assert_eq!(tree::names(&store.join("staging")), Vec::<String>::new(), "{what}");
        assert_eq!(self.left_behind().collect::<Vec<_>>(), Vec::<String>::new(), "{what}: left behind");
        ask(&self.world, CLEAN_EVERYTHING).success();
        residue::check(&store, what);
    }

    fn left_behind(&self) -> impl Iterator<Item = String> {
        names(&self.world.store()).into_iter().filter(|name| !self.entries.contains(name))
    }
}

/// What a worker answers that opens the stored project: no kept result is there to answer instead.
fn verify(world: &World) -> Value {
    let results = world.store().join("results");
    if results.exists() {
        std::fs::remove_dir_all(results).unwrap();
    }
    let before = world.runs();
    let run = ask(world, VERIFY);
    assert!(world.runs() > before, "no worker was asked: {run}");
    right_answer::of(&run)
}

fn names(store: &Path) -> BTreeSet<String> {
    entries_below(store).iter().map(|entry| right_answer::anonymous(entry)).collect()
}

/// The right answer, or the code of the refusal; the framing is checked.
pub fn judge(run: &Run) -> Result<Value, String> {
    run.check_framing();
    if run.status == Some(0) {
        return Ok(right_answer::of(run));
    }
    Err(run.document()["error"]["code"].as_str().unwrap().to_owned())
}

/// Gives the world a command; the framing is checked.
pub fn ask(world: &World, arguments: &[&str]) -> Run {
    let run = world.run_unframed(line(world, arguments));
    run.check_framing();
    run
}

fn line(world: &World, arguments: &[&str]) -> Vec<String> {
    let mut line: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let has_sample = !["doctor", "store"].contains(&arguments[0]) && arguments != CLEAN_EVERYTHING;
    if has_sample {
        line.push(world.sample().to_str().unwrap().to_owned());
    }
    line
}
