//! Every entry of a store damaged in every way, in turn, and then asked every question: the answer
//! is the right one or a typed refusal, and whoever reads the damaged entry rebuilds or refuses.
//!
//! What no Query reads, the quarantine and what a cleanup left unfinished, is read by those who look after
//! the store: they are asked as well. The worker is scripted, so a rebuild costs milliseconds and the sweep
//! can be exhaustive.

use std::path::Path;

use serde_json::Value;

use super::scenario::{DECOMPILE_ALL, KEPT, SPILLED, ask, everything};
use super::upkeep::{UPKEEP, Upkeep};
use crate::support::damage::{Damage, copy_tree, entries_below};
use crate::support::fake_engine::{World, grandchildren};
use crate::support::ghidr::Run;
use crate::support::right_answer;
use crate::support::sweep::{Counts, Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "damage",
    about: "Every file and directory of a store (Analysis, one in quarantine, kept result, Artifacts, Diagnostic Log, \
            unfinished cleanup, locks, record) flipped, cut, extended, removed, or replaced by a link, a FIFO or \
            another kind, before each question: rebuilt or refused by a Query that reads it, never served wrong, \
            and removed by a cleanup. Scripted worker.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

/// The questions, and which entries of an Analysis each of them reads besides manifest and Profile.
const QUESTIONS: [(&str, &[&str], &[&str]); 7] = [
    ("inspect", &["inspect"], &["facts", "facts/program.json"]),
    ("functions", &["functions", "--all"], &["facts", "facts/functions.jsonl"]),
    ("spill", SPILLED, &["facts", "facts/functions.jsonl"]),
    ("decompile by name", &["decompile", "--name", "main"], &["facts", "facts/functions.jsonl", "project"]),
    (
        "decompile by address",
        &["decompile", "--address", "ram:0x0000000000001080"],
        &["facts", "facts/program.json", "facts/functions.jsonl", "project"],
    ),
    // Answered from the kept result; from the project when that is damaged.
    ("kept decompilation", KEPT, &["facts", "facts/functions.jsonl"]),
    ("decompile all", DECOMPILE_ALL, &["facts", "facts/functions.jsonl", "project"]),
];
/// Read by every question.
const ALWAYS_READ: [&str; 3] = ["manifest.json", "manifest.sha256", "profile.json"];
/// Read by no Query.
const OUT_OF_REACH: [&str; 2] = ["quarantine", "cleanup"];

/// How much is tried on one entry: flips of a file, damages, and questions after each of them.
fn extent(entry: &Path, ledger: &Ledger) -> (usize, usize, usize) {
    let all = QUESTIONS.len();
    if OUT_OF_REACH.iter().any(|area| entry.starts_with(area)) {
        return (ledger.many(0, 2), ledger.many(1, usize::MAX), ledger.many(1, all));
    }
    (ledger.many(1, 64), usize::MAX, ledger.many(2, all))
}

fn cases(ledger: &mut Ledger) {
    let mut world = World::new();
    everything(&world);
    let pristine = world.store();
    let reference = world.path("reference");
    copy_tree(&pristine, &reference);
    world.use_store(reference);
    let upkeep = Upkeep::new(&world);
    let expected = QUESTIONS.map(|(_, arguments, _)| right_answer::of(&ask(&world, arguments)));
    world.use_store(pristine.clone());
    let analysis = world.analysis().strip_prefix(&pristine).unwrap().to_owned();
    let mut number = 0;
    for entry in entries_below(&pristine) {
        let place = place(&entry, &analysis);
        let (flips, damages, asked) = extent(&entry, ledger);
        let mut random = ledger.random(&place);
        let all = Damage::of(&pristine.join(&entry), flips, &mut random);
        let damages = random.some(all, damages);
        // The subset looks after the store once for each entry.
        let chosen = *random.pick(&damages);
        for damage in damages {
            let looked_after = ledger.many(usize::from(damage == chosen), UPKEEP.len());
            ledger.case(format!("{place} {damage}"), |random, counts| {
                let mut disturbed = |arguments: &[&str], judge: &mut dyn FnMut(&Run, &Path)| {
                    number += 1;
                    let store = world.path(&format!("store-{number}"));
                    let aside = world.path(&format!("aside-{number}"));
                    copy_tree(&pristine, &store);
                    damage.apply(&store.join(&entry), &aside);
                    world.use_store(store.clone());
                    let outside = tree::state(&aside);
                    judge(&ask(&world, arguments), &store);
                    assert_eq!(tree::state(&aside), outside, "{place} {damage}: the link was followed");
                    std::fs::remove_dir_all(&store).unwrap();
                };
                for ((question, arguments, reads), expected) in
                    random.some(QUESTIONS.iter().zip(&expected).collect(), asked)
                {
                    let what = format!("{place} {damage}, then {question}");
                    let reads = entry.strip_prefix(&analysis).ok().map(|inside| is_read(inside, reads));
                    disturbed(arguments, &mut |run, store| {
                        judge(run, expected, reads, &what, counts);
                        assert!(
                            reads.is_some() || set_aside(store) <= 1,
                            "{what}: an intact Analysis is gone"
                        );
                    });
                }
                for arguments in random.some(UPKEEP.to_vec(), looked_after) {
                    let what = format!("{place} {damage}, then {}", arguments.join(" "));
                    disturbed(arguments, &mut |run, store| {
                        let inside = entry.strip_prefix(&analysis);
                        let is_identity = inside.is_ok_and(|inside| is_read(inside, &[]));
                        upkeep.judge((arguments, run), store, (&entry, is_identity), &what, counts);
                    });
                }
                count(counts, format!("entries {}", damage.kind()));
            });
        }
    }
}

/// How many Analyses are in quarantine.
fn set_aside(store: &Path) -> usize {
    grandchildren(&store.join("quarantine")).iter().map(|profile| tree::names(profile).len()).sum()
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
