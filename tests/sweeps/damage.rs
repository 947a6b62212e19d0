//! Every entry of a store damaged in every way, in turn, and then asked every question: the answer
//! is the right one or a typed refusal, and whoever reads the damaged entry rebuilds or refuses.
//!
//! The worker is scripted, so a rebuild costs milliseconds and the sweep can be exhaustive.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::damage::{Damage, copy_tree, entries_below};
use crate::support::fake_engine::World;
use crate::support::ghidr::Run;
use crate::support::right_answer;
use crate::support::sweep::{Counts, Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "damage",
    about: "Every file and directory of a store (Analysis, kept result, Artifact, Diagnostic Log, locks, record) flipped, cut, \
            extended, removed, or replaced by a link, a FIFO or another kind, before each question: rebuilt or \
            refused by a Query that reads it, never served wrong. Scripted worker.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

/// The questions, and which entries of an Analysis each of them reads besides manifest and Profile.
const QUESTIONS: [(&str, &[&str], &[&str]); 6] = [
    ("inspect", &["inspect"], &["facts", "facts/program.json"]),
    ("functions", &["functions", "--all"], &["facts", "facts/functions.jsonl"]),
    ("spill", &["functions", "--all", "--max-inline-bytes", "2200"], &["facts", "facts/functions.jsonl"]),
    ("decompile by name", &["decompile", "--name", "main"], &["facts", "facts/functions.jsonl", "project"]),
    (
        "decompile by address",
        &["decompile", "--address", "ram:0x0000000000001080"],
        &["facts", "facts/program.json", "facts/functions.jsonl", "project"],
    ),
    // Answered from the kept result; from the project when that is damaged.
    ("kept decompilation", KEPT, &["facts", "facts/functions.jsonl"]),
];
const KEPT: &[&str] = &["decompile", "--name", "A::parse"];
/// Read by every question.
const ALWAYS_READ: [&str; 3] = ["manifest.json", "manifest.sha256", "profile.json"];

fn cases(ledger: &mut Ledger) {
    let mut world = World::new();
    let pristine = fill(&world);
    let reference = world.path("reference");
    copy_tree(&pristine, &reference);
    world.use_store(reference);
    let expected = QUESTIONS.map(|(_, arguments, _)| right_answer::of(&ask(&world, arguments)));
    world.use_store(pristine.clone());
    let analysis = world.analysis().strip_prefix(&pristine).unwrap().to_owned();
    let (flips, asked) = (ledger.many(1, 64), ledger.many(2, QUESTIONS.len()));
    let mut number = 0;
    for entry in entries_below(&pristine) {
        let place = place(&entry, &analysis);
        for damage in Damage::of(&pristine.join(&entry), flips, &mut ledger.random(&place)) {
            ledger.case(format!("{place} {damage}"), |random, counts| {
                let questions = random.some(QUESTIONS.iter().zip(&expected).collect(), asked);
                for ((question, arguments, reads), expected) in questions {
                    number += 1;
                    let store = world.path(&format!("store-{number}"));
                    copy_tree(&pristine, &store);
                    damage.apply(&store.join(&entry), &world.path(&format!("aside-{number}")));
                    world.use_store(store.clone());
                    let what = format!("{place} {damage}, then {question}");
                    let reads = entry.strip_prefix(&analysis).ok().map(|inside| is_read(inside, reads));
                    judge(&ask(&world, arguments), expected, reads, &what, counts);
                    let set_aside = tree::names(&store.join("quarantine")).len();
                    assert!(reads.is_some() || set_aside == 0, "{what}: an intact Analysis is gone");
                    std::fs::remove_dir_all(&store).unwrap();
                }
                count(counts, format!("entries {}", damage.kind()));
            });
        }
    }
}

/// A store with everything in it: an Analysis, a kept result, an Artifact, a Diagnostic Log, locks.
fn fill(world: &World) -> PathBuf {
    world.next(|answer| {
        answer.stdout = b"said".to_vec();
        answer.fail("import_failed", serde_json::json!({"reason": "r"}));
    });
    world.ask("inspect", &[]).error("import_failed", 1);
    for arguments in [QUESTIONS[2].1, KEPT] {
        ask(world, arguments).success();
    }
    world.store()
}

fn ask(world: &World, arguments: &[&str]) -> Run {
    let mut line: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    line.push(world.sample().to_str().unwrap().to_owned());
    let run = world.run_unframed(&line);
    run.check_framing();
    run
}

pub(super) fn is_read(inside: &Path, reads: &[&str]) -> bool {
    let inside = inside.to_str().unwrap();
    inside.is_empty()
        || ALWAYS_READ.contains(&inside)
        || reads.contains(&inside)
        || (reads.contains(&"project") && inside.starts_with("project/"))
}

fn judge(run: &Run, expected: &Value, reads: Option<bool>, what: &str, counts: &mut Counts) {
    if run.status != Some(0) {
        let code = run.document()["error"]["code"].as_str().unwrap().to_owned();
        assert_ne!(code, "internal_error", "{what}: {run}");
        assert_ne!(reads, Some(false), "{what} is not read: {run}");
        return count(counts, format!("refused: {code}"));
    }
    assert_eq!(right_answer::of(run), *expected, "{what}: a wrong answer");
    let rebuilt = run.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned());
    match reads {
        Some(true) if !rebuilt => {
            let created = run.document()["data"]["analysis"]["disposition"] == "created";
            assert!(what.contains("removed") || created, "{what}: served unverified: {run}");
            count(counts, "made again after it was removed");
        }
        _ if rebuilt => count(counts, "rebuilt"),
        Some(_) => count(counts, "answered rightly without reading it"),
        None => count(counts, "answered rightly"),
    }
}

/// The entry in words that do not depend on digests and random names.
pub(super) fn place(entry: &Path, analysis: &Path) -> String {
    match entry.strip_prefix(analysis) {
        Ok(inside) => format!("analysis/{}", inside.display()),
        Err(_) => right_answer::anonymous(entry),
    }
}
