//! What real Ghidra and real commands stored, damaged entry by entry, and then asked about.
//!
//! The commands may use so little memory that a worker is ended as soon as it starts. So an answer comes from what is
//! stored or not at all, and a rebuild is seen as such an end, at the price of no analysis. The long form then takes
//! the bound away and has each damaged Analysis really made again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::damage::{is_read, place};
use super::{Stage, grandchildren};
use crate::support::boots;
use crate::support::damage::{Damage, copy_tree, entries_below, remove};
use crate::support::ghidr::Run;
use crate::support::right_answer;
use crate::support::sweep::{Counts, Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "stored_damage",
    about: "Every file and directory of a store that real Ghidra made (Analysis, project, kept result) flipped, cut, extended, removed, \
            or replaced by a link, a FIFO or another kind, before each question: rebuilt or refused by a Query that \
            reads it, never served wrong. Real engine.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

/// The questions, and which entries of an Analysis each of them reads besides manifest and Profile.
const QUESTIONS: [(&str, &[&str], &[&str]); 4] = [
    ("inspect", &["inspect"], &["facts", "facts/program.json"]),
    ("functions", &["functions", "--all"], &["facts", "facts/functions.jsonl"]),
    ("kept decompilation", &["decompile", "--name", "main"], &["facts", "facts/functions.jsonl"]),
    ("decompilation", &["decompile", "--name", "classify"], &["facts", "facts/functions.jsonl", "project"]),
];
/// Any worker exceeds this at once. It is no part of what an Analysis depends on.
const NO_WORKER: [&str; 2] = ["--max-memory-mib", "1"];
const NEEDS_WORKER: &str = "memory_limit_exceeded";

fn cases(ledger: &mut Ledger) {
    let _boot = boots::take();
    let stage = Stage::new();
    let pristine = stage.ghidr.root().join("pristine");
    copy_tree(&stage.store(), &pristine);
    let analyses = grandchildren(&pristine.join("analyses"));
    let analysis = analyses[0].strip_prefix(&pristine).unwrap().to_owned();
    let undisturbed = |(question, arguments, _): (&str, &[&str], _)| {
        reset(&stage, &pristine);
        let run = ask(&stage, arguments);
        assert_eq!(run.status == Some(0), question != "decompilation", "{question}: {run}");
        (run.status == Some(0)).then(|| right_answer::of(&run))
    };
    let expected = QUESTIONS.map(undisturbed);
    let (damages, asked) = (ledger.many(1, usize::MAX), ledger.many(2, QUESTIONS.len()));
    for entry in entries_below(&pristine) {
        let place = place(&entry, &analysis);
        let mut random = ledger.random(&place);
        let all = Damage::of(&pristine.join(&entry), 0, &mut random);
        for (index, damage) in random.some(all, damages).into_iter().enumerate() {
            let really = ledger.is_long() && index == 0 && entry.starts_with(&analysis);
            ledger.case(format!("{place} {damage}"), |random, counts| {
                let questions = random.some(QUESTIONS.iter().zip(&expected).collect(), asked);
                for ((question, arguments, reads), expected) in questions {
                    let what = format!("{place} {damage}, then {question}");
                    let aside = disturb(&stage, &pristine, &entry, damage);
                    let reads = entry
                        .strip_prefix(&analysis)
                        .ok()
                        .map(|inside| is_read(inside, reads) || is_missed(inside, damage));
                    judge(&stage, &ask(&stage, arguments), expected.as_ref(), reads, &what, counts);
                    clear(&aside);
                }
                if really {
                    let aside = disturb(&stage, &pristine, &entry, damage);
                    let run = stage.run(&["decompile", "--name", "main"]);
                    assert_eq!(right_answer::of(&run), stage.decompilation, "{place} {damage}");
                    count(counts, "answered in the end");
                    clear(&aside);
                }
                count(counts, format!("entries {}", damage.kind()));
            });
        }
    }
}

/// Every question notices when a part of the Analysis is not there at all.
fn is_missed(inside: &Path, damage: Damage) -> bool {
    matches!(damage, Damage::Remove) && inside.components().count() == 1
}

fn ask(stage: &Stage, arguments: &[&str]) -> Run {
    stage.run(&[arguments, &NO_WORKER].concat())
}

fn reset(stage: &Stage, pristine: &Path) {
    stage.reset(false);
    copy_tree(pristine, &stage.store());
}

/// A fresh copy with one damage; where what was replaced by a link is.
fn disturb(stage: &Stage, pristine: &Path, entry: &Path, damage: Damage) -> PathBuf {
    reset(stage, pristine);
    let aside = stage.ghidr.root().join("aside");
    damage.apply(&stage.store().join(entry), &aside);
    aside
}

fn clear(aside: &Path) {
    if aside.exists() {
        remove(aside);
    }
}

/// `reads` says whether the question reads the damaged entry; `None` outside of the Analysis. Without an `expected`
/// answer the question needs a worker in any case.
fn judge(
    stage: &Stage,
    run: &Run,
    expected: Option<&Value>,
    reads: Option<bool>,
    what: &str,
    counts: &mut Counts,
) {
    let set_aside = !tree::names(&stage.store().join("quarantine")).is_empty();
    if run.status == Some(0) {
        assert_ne!(reads, Some(true), "{what}: served unverified: {run}");
        assert_eq!(Some(&right_answer::of(run)), expected, "{what}: a wrong answer");
        assert!(!set_aside, "{what}: an intact Analysis is gone");
        return count(counts, "answered rightly without reading it");
    }
    let code = run.document()["error"]["code"].as_str().unwrap().to_owned();
    assert_ne!(code, "internal_error", "{what}: {run}");
    match reads {
        Some(true) => {
            assert!(set_aside || what.contains("removed"), "{what}: not noticed: {run}");
            assert_eq!(code, NEEDS_WORKER, "{what}: no rebuild was begun: {run}");
            count(counts, "rebuild begun");
        }
        Some(false) => {
            assert_eq!((code.as_str(), expected, set_aside), (NEEDS_WORKER, None, false), "{what}: {run}");
            count(counts, "asked of a worker without reading it");
        }
        None => {
            assert!(!set_aside, "{what}: an intact Analysis is gone");
            count(counts, format!("refused: {code}"));
        }
    }
}
