//! A worker ends badly among its Queries: what it had completed counts, its Analysis above all, and others do the rest.

use ghidr::process::EndedBy;
use serde_json::{Value, json};

use super::batch::{batch, kept, named, statuses, warm};
use crate::support::fake_answer::Answer;
use crate::support::fake_engine::{World, ends};

/// How a worker ends.
type Way = fn(&mut Answer);

/// Every way in which a worker can end at a Query.
fn ways_to_end() -> [(Way, &'static str); 6] {
    [
        (|answer| answer.status = Some(139), "worker_failed"),
        (|answer| answer.status = Some(3), "java_heap_exhausted"),
        (|answer| ends(EndedBy::Watchdog)(answer), "watchdog_timeout"),
        (|answer| ends(EndedBy::MemoryLimit { observed_bytes: 1 })(answer), "memory_limit_exceeded"),
        (|answer| ends(EndedBy::TaskLimit { observed_tasks: 1 })(answer), "task_limit_exceeded"),
        (|answer| ends(EndedBy::DiskQuota { observed_bytes: 1 })(answer), "disk_quota_exceeded"),
    ]
}

/// The worker dies of the Query of this index, with half a line written.
pub fn die_at(answer: &mut Answer, index: usize) {
    answer.answers.truncate(index);
    let complete = answer.answers.iter().enumerate();
    let lines: String = complete
        .map(|(index, outcome)| format!("{}\n", json!({"index": index, "outcome": outcome})))
        .collect();
    answer.raw_answers = Some(format!("{lines}{{\"index\":{index},\"outcome\":{{\"sta").into_bytes());
    answer.status = Some(139);
}

/// How many Queries each run so far had.
pub fn asked(world: &World) -> Vec<usize> {
    let of = |request: &Value| request["arguments"]["queries"]["items"].as_array().map_or(0, Vec::len);
    world.seen.borrow().iter().map(|seen| of(&seen.request)).collect()
}

#[test]
fn a_worker_that_dies_half_way_has_answered_what_it_completed_and_another_does_the_rest() {
    for (way, code) in ways_to_end() {
        let world = warm();
        world.next(move |answer| {
            die_at(answer, 1);
            answer.status = Some(0);
            way(answer);
        });
        let queries = [named("main"), named("A::parse"), named("B::parse"), json!({"op": "inspect"})];
        let document = batch(&world, &queries, &[]).success();
        assert_eq!(statuses(&document), ["succeeded", "failed", "succeeded", "succeeded"], "{code}");
        assert_eq!(document["data"]["items"][1]["error"]["code"], code);
        assert_eq!((kept(&world), asked(&world)), (2, vec![0, 3, 1]), "nothing is tried twice");
        assert_eq!(statuses(&batch(&world, &queries, &[]).success()), ["succeeded"; 4]);
    }
}

#[test]
fn queries_that_kill_their_workers_cost_one_worker_each_and_nobody_elses_answer() {
    let queries = ["main", "A::parse", "B::parse", "_init"].map(named);
    // In the middle; two of them, apart and side by side; the last; each.
    for killers in [vec![1], vec![0, 2], vec![1, 2], vec![3], vec![0, 1, 2, 3]] {
        let world = warm();
        let mut begin = 0;
        for killer in &killers {
            let index = killer - begin;
            world.next(move |answer| die_at(answer, index));
            begin = killer + 1;
        }
        let document = batch(&world, &queries, &[]).success();
        let expected: Vec<&str> =
            (0..4).map(|index| if killers.contains(&index) { "failed" } else { "succeeded" }).collect();
        assert_eq!(statuses(&document), expected);
        assert_eq!(kept(&world), 4 - killers.len());
        let workers = killers.len() + usize::from(killers.last() != Some(&3));
        assert_eq!(world.runs(), 1 + workers, "{killers:?}");
        assert_eq!(world.diagnostics().len(), killers.len(), "every end has its log");
    }
}

#[test]
fn fail_fast_ends_at_a_worker_that_dies() {
    let world = warm();
    world.next(|answer| die_at(answer, 1));
    let queries = ["main", "A::parse", "B::parse"].map(named);
    let document = batch(&world, &queries, &["--fail-fast"]).success();
    assert_eq!(statuses(&document), ["succeeded", "failed", "not_run"]);
    assert_eq!(document["data"]["items"][2]["reason"], "earlier_failure");
    assert_eq!(world.runs(), 2);
}

#[test]
fn a_worker_that_never_comes_to_its_queries_is_not_started_for_each_of_them() {
    for (way, code) in ways_to_end() {
        let world = warm();
        world.next(move |answer| {
            answer.comes_to_queries = false;
            way(answer);
        });
        let queries = ["main", "A::parse", "B::parse"].map(named);
        let document = batch(&world, &queries, &[]).success();
        assert_eq!(statuses(&document), ["failed", "not_run", "not_run"], "{code}");
        assert_eq!(document["data"]["items"][0]["error"]["code"], code);
        assert_eq!(document["data"]["items"][2]["reason"], "worker_ended");
        assert_eq!((world.runs(), kept(&world)), (2, 0));
    }
}

/// An analyzing worker comes to its Queries: the response says what it saved, and nothing of them yet.
fn save_first(answer: &mut Answer) {
    answer.claim(|response| response["outcome"]["answers"] = Value::Null);
}

/// Those of [`ways_to_end`] in which the worker was not asked first.
fn sudden_ways() -> impl Iterator<Item = (Way, &'static str)> {
    ways_to_end().into_iter().filter(|(_, code)| *code != "watchdog_timeout")
}

#[test]
fn an_analysis_outlives_the_worker_that_dies_of_a_query_about_it() {
    for (way, code) in sudden_ways() {
        for with_all_answers in [false, true] {
            let world = World::new();
            world.next(move |answer| {
                if !with_all_answers {
                    save_first(answer);
                    answer.answers.clear();
                }
                way(answer);
            });
            let error = world.ask("decompile", &["--name", "main"]).error(code, 1);
            assert!(error["diagnostic_log"].is_object(), "{code}: {error}");
            assert_eq!((world.analyses().len(), world.diagnostics().len()), (1, 1), "{code}");
            let next = world.ask("decompile", &["--name", "main"]).success();
            assert_eq!(next["data"]["function"]["name"], "main");
            let again = if with_all_answers { vec!["analyze"] } else { vec!["analyze", "query"] };
            assert_eq!(world.operations(), again, "{code}: what was completed is kept");
        }
    }
}

#[test]
fn a_cold_batch_goes_on_behind_the_query_that_its_worker_died_of() {
    let queries = [named("main"), named("A::parse"), named("B::parse"), json!({"op": "inspect"})];
    for (way, code) in sudden_ways() {
        let world = World::new();
        world.next(move |answer| {
            save_first(answer);
            die_at(answer, 1);
            answer.status = Some(0);
            way(answer);
        });
        let document = batch(&world, &queries, &[]).success();
        assert_eq!(statuses(&document), ["succeeded", "failed", "succeeded", "succeeded"], "{code}");
        assert_eq!(document["data"]["items"][1]["error"]["code"], code);
        assert_eq!(document["data"]["items"][3]["data"]["analysis"]["disposition"], "created");
        assert_eq!((kept(&world), asked(&world)), (2, vec![3, 1]), "{code}");
        assert_eq!(statuses(&batch(&world, &queries, &[]).success()), ["succeeded"; 4]);
        assert_eq!(world.operations(), ["analyze", "query", "query"]);

        let world = World::new();
        world.next(move |answer| {
            save_first(answer);
            answer.comes_to_queries = false;
            way(answer);
        });
        let document = batch(&world, &queries, &[]).success();
        assert_eq!(statuses(&document), ["failed", "not_run", "not_run", "succeeded"], "{code}");
        assert_eq!(document["data"]["items"][1]["reason"], "worker_ended");
    }
}

/// It may have written meanwhile, or be about to.
#[test]
fn no_promotion_after_cancel_among_the_queries() {
    let asked_to_end = [
        (EndedBy::Watchdog, "watchdog_timeout", 124),
        (EndedBy::Interrupted { signal: 2 }, "interrupted", 130),
    ];
    for (ended_by, code, status) in asked_to_end {
        for with_all_answers in [false, true] {
            let world = World::new();
            world.next(move |answer| {
                if !with_all_answers {
                    save_first(answer);
                }
                ends(ended_by)(answer);
            });
            batch(&world, &[named("main"), named("A::parse")], &[]).error(code, status);
            assert_eq!((world.analyses().len(), kept(&world)), (0, 0), "{code}");
        }
    }
}

/// Its end is what the command reports, and nothing that it left is taken for more than it is.
#[test]
fn what_a_dead_worker_left_is_judged_as_strictly_as_ever() {
    type Edit = fn(&mut Value);
    let edits: [Edit; 4] = [
        |response| {
            response["outcome"] =
                json!({"status": "failed", "error": {"code": "import_failed", "details": {"reason": "r"}}})
        },
        |response| response["invocation_id"] = json!("00".repeat(16)),
        |response| response["outcome"]["analysis"]["extra"] = json!(1),
        |response| response["outcome"] = json!({"status": "queried", "answers": null}),
    ];
    for edit in edits {
        let world = World::new();
        world.next(move |answer| {
            save_first(answer);
            answer.claim(edit);
            answer.status = Some(139);
        });
        world.ask("decompile", &["--name", "main"]).error("worker_failed", 1);
        assert_eq!(world.analyses().len(), 0);
    }
    let world = World::new();
    world.next(|answer| {
        save_first(answer);
        answer.claim(|response| response["outcome"]["analysis"]["facts"]["program"]["bytes"] = json!(1));
        answer.status = Some(139);
    });
    let error = world.ask("decompile", &["--name", "main"]).error("protocol_violation", 1);
    assert!(error["diagnostic_log"].is_object(), "{error}");
    assert_eq!((world.analyses().len(), world.diagnostics().len()), (0, 1));
}
