//! Many commands at once on one store: who may not wait is told so, and nobody gets a wrong answer.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{Stage, grandchildren};
use crate::support::boots;
use crate::support::damage::copy_tree;
use crate::support::fixtures;
use crate::support::ghidr::Run;
use crate::support::processes::wait_until_gone;
use crate::support::random::Random;
use crate::support::right_answer;
use crate::support::sweep::{Counts, Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "crowds",
    about: "16 cold commands on one Sample: one builds, the others are told to come back or are served. 28 facts \
            readers and 4 decompilations of one Sample while another is built and a third is removed: every reader is answered, \
            rightly, and only the third is gone. Real engine.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

const COLD_COMMANDS: usize = 16;
const FACTS_READERS: usize = 28;
const DECOMPILATIONS: [&str; 4] = ["main", "_start", "main", "_start"];
/// Built while the other is read.
const ANOTHER: &str = "elf-i386";
/// Removed while the first is read and the other is built.
const THIRD: &str = "elf-x86_64-shared.so";

fn cases(ledger: &mut Ledger) {
    let _boot = boots::take();
    let stage = Stage::new();
    let both = with_the_third(&stage);
    let rounds = ledger.many(1, 10);
    for round in 0..rounds {
        ledger.case(format!("builders {round}"), |random, counts| builders(&stage, random, counts));
        ledger.case(format!("readers {round}"), |random, counts| readers(&stage, &both, random, counts));
    }
}

/// A store with the Analyses of the Sample that is read and of the third, to be copied from.
fn with_the_third(stage: &Stage) -> PathBuf {
    stage.reset(true);
    stage.ghidr.run(["inspect", &path(THIRD)]).success();
    let both = stage.ghidr.root().join("both");
    copy_tree(&stage.store(), &both);
    both
}

fn path(fixture: &str) -> String {
    fixtures::path(fixture).to_str().unwrap().to_owned()
}

fn builders(stage: &Stage, random: &mut Random, counts: &mut Counts) {
    stage.reset(false);
    let running: Vec<Child> = (0..COLD_COMMANDS)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(random.below(20)));
            start(stage, &stage.line(&["inspect"]))
        })
        .collect();
    let (mut built, mut turned_away) = (0, 0);
    for child in running {
        let run = ended(child);
        if run.status == Some(0) {
            assert_eq!(right_answer::of(&run), stage.inspection);
            built += u64::from(run.document()["data"]["analysis"]["disposition"] == "created");
        } else {
            let error = run.error("analysis_busy", 1);
            assert!(error["details"]["retry_after_seconds"].as_u64().unwrap() > 0, "{error}");
            turned_away += 1;
        }
        count(counts, "cold commands answered rightly or told to come back");
    }
    assert_eq!(built, 1, "exactly one builds");
    // They all begin within a fraction of the time that building takes, and nobody waits for a lock.
    assert!(turned_away > COLD_COMMANDS / 2, "{turned_away} were told to come back");
    count(counts, "Analyses built by a crowd");
    assert_eq!(grandchildren(&stage.store().join("analyses")).len(), 1);
    stage.recovers(&[], "a crowd of builders");
}

fn readers(stage: &Stage, both: &Path, random: &mut Random, counts: &mut Counts) {
    stage.reset(true);
    let functions = stage.run(&["functions"]).success()["data"].clone();
    let texts = DECOMPILATIONS.map(|name| text(&stage.run(&["decompile", "--name", name])));
    stage.reset(false);
    copy_tree(both, &stage.store());
    let mut builder = start(stage, &["inspect".to_owned(), path(ANOTHER)]);
    let mut questions: Vec<Vec<&str>> =
        (0..FACTS_READERS).map(|_| vec![*random.pick(&["inspect", "functions"])]).collect();
    for name in DECOMPILATIONS {
        insert(&mut questions, vec!["decompile", "--name", name], random);
    }
    insert(&mut questions, vec!["clean"], random);
    let running: Vec<(Vec<&str>, Child)> = questions
        .into_iter()
        .map(|question| {
            std::thread::sleep(Duration::from_millis(random.below(100)));
            let cleans = question == ["clean"];
            let line = if cleans { vec!["clean".to_owned(), path(THIRD)] } else { stage.line(&question) };
            let child = start(stage, &line);
            (question, child)
        })
        .collect();
    assert!(builder.try_wait().unwrap().is_none(), "the last reader began while the other was built");
    for (question, child) in running {
        let run = ended(child);
        match question[..] {
            ["inspect"] => assert_eq!(right_answer::of(&run), stage.inspection),
            ["functions"] => assert_eq!(run.success()["data"], functions),
            ["clean"] => assert_eq!(run.success()["data"]["removed"]["analyses"], 1),
            [.., name] => {
                let known = DECOMPILATIONS.iter().position(|known| *known == name).unwrap();
                assert_eq!(text(&run), texts[known], "{run}");
            }
            [] => unreachable!(),
        }
        count(counts, format!("{} answered rightly beside a builder", question[0]));
    }
    assert_eq!(ended(builder).success()["data"]["analysis"]["disposition"], "created");
    count(counts, "Analyses built beside readers");
    let mut kept: Vec<_> =
        [fixtures::path(ANOTHER), stage.sample.clone()].iter().map(|sample| tree::sha256(sample)).collect();
    kept.sort();
    assert_eq!(tree::names(&stage.store().join("analyses")), kept, "the third is gone, and nothing else");
    for empty in ["cleanup", "staging"] {
        assert_eq!(tree::names(&stage.store().join(empty)), Vec::<String>::new());
    }
    wait_until_gone(stage.ghidr.root());
    stage.leaves_nothing("a crowd of readers");
}

/// Puts a question anywhere among the others.
fn insert<'question>(
    questions: &mut Vec<Vec<&'question str>>,
    question: Vec<&'question str>,
    random: &mut Random,
) {
    let place = usize::try_from(random.below(questions.len() as u64)).unwrap();
    questions.insert(place, question);
}

fn text(run: &Run) -> Value {
    run.success()["data"]["decompilation"].clone()
}

fn start(stage: &Stage, line: &[String]) -> Child {
    stage.ghidr.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> Run {
    let run = Run::from(child.wait_with_output().unwrap());
    run.check_framing();
    run
}
