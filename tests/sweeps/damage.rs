//! Every entry of a store damaged in every way, in turn, and then asked every question: the answer
//! is the right one or a typed refusal, and whoever reads the damaged entry rebuilds or refuses.
//!
//! The worker is scripted, so a rebuild costs milliseconds and the sweep can be exhaustive.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::damage::{Damage, copy_tree, entries_below};
use crate::support::fake_engine::World;
use crate::support::ghidr::Run;
use crate::support::sweep::{Counts, Ledger, Sweep, count};

const SWEEP: Sweep = Sweep {
    name: "damage",
    about: "Every file and directory of a store (Analysis, Artifact, Diagnostic Log, locks, record) flipped, cut, \
            extended, removed, or replaced by a link, a FIFO or another kind, before each question: rebuilt or \
            refused by a Query that reads it, never served wrong. Scripted worker.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

/// The questions, and which entries of an Analysis each of them reads besides manifest and Profile.
const QUESTIONS: [(&str, &[&str], &[&str]); 5] = [
    ("inspect", &["inspect"], &["facts", "facts/program.json"]),
    ("functions", &["functions", "--all"], &["facts", "facts/functions.jsonl"]),
    ("spill", &["functions", "--all", "--max-inline-bytes", "2200"], &["facts", "facts/functions.jsonl"]),
    ("decompile by name", &["decompile", "--name", "main"], &["facts", "facts/functions.jsonl", "project"]),
    (
        "decompile by address",
        &["decompile", "--address", "ram:0x0000000000001080"],
        &["facts", "facts/program.json", "facts/functions.jsonl", "project"],
    ),
];
/// Read by every question.
const ALWAYS_READ: [&str; 3] = ["manifest.json", "manifest.sha256", "profile.json"];

fn cases(ledger: &mut Ledger) {
    let mut world = World::new();
    let pristine = fill(&world);
    let expected = QUESTIONS.map(|(_, arguments, _)| answer(&ask(&world, arguments)));
    let analysis = world.analysis().strip_prefix(&pristine).unwrap().to_owned();
    let (flips, asked) = (ledger.many(1, 200), ledger.many(2, QUESTIONS.len()));
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
                    std::fs::remove_dir_all(&store).unwrap();
                }
                count(counts, format!("entries {}", damage.kind()));
            });
        }
    }
}

/// A store with everything in it: an Analysis, an Artifact, a Diagnostic Log, locks.
fn fill(world: &World) -> PathBuf {
    world.next(|answer| {
        answer.stdout = b"said".to_vec();
        answer.fail("import_failed", serde_json::json!({"reason": "r"}));
    });
    world.ask("inspect", &[]).error("import_failed", 1);
    for (_, arguments, _) in QUESTIONS {
        ask(world, arguments).success();
    }
    world.store()
}

fn ask(world: &World, arguments: &[&str]) -> Run {
    world.ask(arguments[0], &arguments[1..])
}

/// What must be the same in every right answer: the data, but for how the Analysis came about and
/// where the store is; of a spilled answer, what the Artifact holds.
fn answer(run: &Run) -> Value {
    let mut data = run.success()["data"].clone();
    if data["spilled"] == true {
        let path = data["artifact"]["path"]["value"].as_str().unwrap();
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(bytes.len() as u64, data["artifact"]["bytes"].as_u64().unwrap());
        assert_eq!(
            crate::support::tree::sha256(Path::new(path)),
            data["artifact"]["sha256"].as_str().unwrap()
        );
        data = serde_json::from_slice::<Value>(&bytes).unwrap()["data"].clone();
    }
    if let Some(analysis) = data.get_mut("analysis") {
        analysis["disposition"] = Value::Null;
    }
    data
}

fn is_read(inside: &Path, reads: &[&str]) -> bool {
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
    assert_eq!(answer(run), *expected, "{what}: a wrong answer");
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
fn place(entry: &Path, analysis: &Path) -> String {
    if let Ok(inside) = entry.strip_prefix(analysis) {
        return format!("analysis/{}", inside.display());
    }
    let part = |part: &std::ffi::OsStr| match part.to_str().unwrap().split_once('.') {
        None if part.len() >= 32 => "ID".to_owned(),
        Some((stem, suffix)) if stem.len() >= 32 => format!("ID.{suffix}"),
        _ => part.to_str().unwrap().to_owned(),
    };
    entry.iter().map(part).collect::<Vec<_>>().join("/")
}
