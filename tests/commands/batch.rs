//! Many Queries with one worker: order, failures, limits, what is kept, what a lying worker gets.

use std::path::PathBuf;

use ghidr::process::EndedBy;
use serde_json::{Value, json};

use super::worker_ends::{asked, die_at};
use crate::support::contract;
use crate::support::fake_answer::{Answer, decompilation, function};
use crate::support::fake_engine::{World, ends, grandchildren};
use crate::support::ghidr::Run;

pub(super) fn named(name: &str) -> Value {
    json!({"op": "decompile", "name": name})
}

/// Runs a batch of these queries.
pub(super) fn batch(world: &World, queries: &[Value], flags: &[&str]) -> Run {
    let path = world.path("queries.jsonl");
    let lines: String = queries.iter().map(|query| format!("{query}\n")).collect();
    std::fs::write(&path, lines).unwrap();
    world.ask("batch", &[&[path.to_str().unwrap()], flags].concat())
}

pub(super) fn statuses(document: &Value) -> Vec<String> {
    let items = document["data"]["items"].as_array().unwrap();
    items.iter().map(|item| item["status"].as_str().unwrap().to_owned()).collect()
}

fn fail(answer: &mut Answer, index: usize) {
    let entry = json!({"space": "ram", "offset": "0x0000000000001080"});
    answer.answers[index] = json!({"status": "failed", "error":
        {"code": "decompile_failed", "details": {"entry": entry, "reason": "r"}}});
}

/// Only the first `count` queries were answered, and this is why.
fn stop(answer: &mut Answer, count: usize, why: &str) {
    answer.answers.truncate(count);
    answer.stopped = json!(why);
}

pub(super) fn kept(world: &World) -> usize {
    let results = grandchildren(&world.store().join("results"));
    results.iter().map(|directory| std::fs::read_dir(directory).unwrap().count()).sum()
}

pub(super) fn warm() -> World {
    let world = World::new();
    world.ask("inspect", &[]).success();
    world
}

#[test]
fn a_cold_batch_is_one_worker_and_answers_in_the_order_of_the_input() {
    let world = World::new();
    let queries = [
        named("main"),
        json!({"op": "functions", "limit": 2, "offset": 1}),
        named("A::parse"),
        json!({"op": "inspect"}),
        named("main"),
        json!({"op": "decompile", "address": "ram:0x0000000000001000"}),
    ];
    let cold = batch(&world, &queries, &[]).success();
    assert_eq!(world.operations(), ["analyze"]);
    assert_eq!(cold["provenance"]["limits"]["batch_timeout_seconds"], 3_600);
    assert_eq!(cold["provenance"]["limits"]["child_watchdog_seconds"], 4_380);
    assert_eq!(cold["data"]["counts"], json!({"total": 6, "succeeded": 6, "failed": 0, "not_run": 0}));
    let asked = world.seen.borrow()[0].request["arguments"]["queries"]["items"].as_array().unwrap().len();
    assert_eq!(asked, 3, "a selector that stands twice is asked once");
    let warm = batch(&world, &queries, &[]).success();
    assert_eq!(world.operations(), ["analyze"], "every answer was kept or is a fact");
    assert_eq!(warm["provenance"]["limits"]["child_watchdog_seconds"], json!(null));
    for (index, item) in warm["data"]["items"].as_array().unwrap().iter().enumerate() {
        assert_eq!(item["index"], index);
        let mut first = cold["data"]["items"][index].clone();
        if let Some(analysis) = first.pointer_mut("/data/analysis/disposition") {
            *analysis = json!("reused");
        }
        assert_eq!(*item, first);
        let query = &queries[index];
        let mut single = match query["op"].as_str().unwrap() {
            "inspect" => world.ask("inspect", &[]),
            "functions" => world.ask("functions", &["--limit", "2", "--offset", "1"]),
            _ if query.get("name").is_some() => {
                world.ask("decompile", &["--name", query["name"].as_str().unwrap()])
            }
            _ => world.ask("decompile", &["--address", query["address"].as_str().unwrap()]),
        }
        .success();
        assert_eq!(item["data"], single["data"].take());
    }
    assert_eq!(world.operations(), ["analyze"]);
}

#[test]
fn a_batch_of_facts_starts_no_worker() {
    let world = warm();
    let document = batch(&world, &[json!({"op": "functions", "all": true}), json!({"op": "inspect"})], &[]);
    assert_eq!(statuses(&document.success()), ["succeeded", "succeeded"]);
    assert!(document.success()["provenance"]["limits"].get("batch_timeout_seconds").is_none());
    assert_eq!(world.operations(), ["analyze"]);
}

#[test]
fn a_failure_is_an_item_and_the_others_go_on() {
    for cold in [true, false] {
        let world = if cold { World::new() } else { warm() };
        world.next(move |answer| fail(answer, 1));
        let queries = [named("main"), named("A::parse"), named("B::parse")];
        let run = batch(&world, &queries, &[]);
        let document = run.success();
        assert_eq!(statuses(&document), ["succeeded", "failed", "succeeded"]);
        assert_eq!(
            document["data"]["counts"],
            json!({"total": 3, "succeeded": 2, "failed": 1, "not_run": 0})
        );
        let error = &document["data"]["items"][1]["error"];
        assert_eq!((&error["code"], &error["retryable"]), (&json!("decompile_failed"), &json!(false)));
        assert_eq!(world.diagnostics().len(), 1);
        assert!(error["diagnostic_log"]["sensitive"].as_bool().unwrap());
        assert_eq!(kept(&world), 2, "a failure is not kept");
        assert_eq!(statuses(&batch(&world, &queries, &[]).success()), ["succeeded"; 3]);
        let seen = world.seen.borrow();
        let last = &seen.last().unwrap().request["arguments"]["queries"]["items"];
        assert_eq!(last.as_array().unwrap().len(), 1, "only what failed is asked again");
    }
}

#[test]
fn what_facts_refuse_is_refused_as_alone_and_costs_no_worker() {
    let world = warm();
    let queries = [named("nothing"), named("parse"), json!({"op": "decompile", "address": "ram:0x1080"})];
    let document = batch(&world, &queries, &[]).success();
    let codes: Vec<&Value> =
        document["data"]["items"].as_array().unwrap().iter().map(|item| &item["error"]["code"]).collect();
    assert_eq!(codes, ["function_not_found", "function_selector_ambiguous", "invalid_arguments"]);
    assert_eq!(world.operations(), ["analyze"]);
}

#[test]
fn fail_fast_ends_at_the_first_failure_wherever_it_is_found() {
    let functions = json!({"op": "functions"});
    let queries = [functions.clone(), named("main"), named("A::parse"), named("B::parse"), functions];
    for cold in [true, false] {
        let world = if cold { World::new() } else { warm() };
        world.next(|answer| {
            fail(answer, 1);
            stop(answer, 2, "failure");
        });
        let document = batch(&world, &queries, &["--fail-fast"]).success();
        assert_eq!(statuses(&document), ["succeeded", "succeeded", "failed", "not_run", "not_run"]);
        assert_eq!(document["data"]["items"][3]["reason"], "earlier_failure");
        let seen = world.seen.borrow();
        assert_eq!(seen.last().unwrap().request["arguments"]["queries"]["stop_at_failure"], true);
    }
    let world = warm();
    let queries = [named("main"), named("nothing"), named("A::parse")];
    let document = batch(&world, &queries, &["--fail-fast"]).success();
    assert_eq!(statuses(&document), ["succeeded", "failed", "not_run"]);
    let asked = world.seen.borrow()[1].request["arguments"]["queries"]["items"].as_array().unwrap().len();
    assert_eq!(asked, 1, "nothing behind a failure that facts foresee is asked");
}

#[test]
fn what_the_time_did_not_suffice_for_is_named() {
    let world = World::new();
    world.next(|answer| stop(answer, 1, "time"));
    let queries = [named("main"), named("A::parse"), json!({"op": "inspect"})];
    let document = batch(&world, &queries, &["--batch-timeout-seconds", "7"]).success();
    assert_eq!(statuses(&document), ["succeeded", "not_run", "succeeded"]);
    assert_eq!(document["data"]["items"][1]["reason"], "time_expired");
    assert_eq!(world.seen.borrow()[0].request["arguments"]["queries"]["timeout_seconds"], 7);
}

#[test]
fn a_full_file_of_answers_is_followed_by_another_worker() {
    let world = World::new();
    world.next(|answer| stop(answer, 1, "size"));
    let document = batch(&world, &[named("main"), named("A::parse")], &[]).success();
    assert_eq!(statuses(&document), ["succeeded", "succeeded"]);
    assert_eq!(world.operations(), ["analyze", "query"]);
}

#[test]
fn an_interrupt_keeps_what_was_completed_and_gives_no_report() {
    let world = warm();
    world.next(|answer| {
        answer.answers.truncate(2);
        ends(EndedBy::Interrupted { signal: 2 })(answer);
    });
    let queries = [named("main"), named("A::parse"), named("B::parse")];
    batch(&world, &queries, &[]).error("interrupted", 130);
    assert_eq!(kept(&world), 2);
    assert_eq!(statuses(&batch(&world, &queries, &[]).success()), ["succeeded"; 3]);
    let seen = world.seen.borrow();
    assert_eq!(seen.last().unwrap().request["arguments"]["queries"]["items"].as_array().unwrap().len(), 1);
}

#[test]
fn answers_that_break_the_protocol_are_refused_and_none_of_them_is_kept() {
    let lines = |answer: &Answer| -> Vec<String> {
        let indexed = answer.answers.iter().enumerate();
        indexed.map(|(index, outcome)| json!({"index": index, "outcome": outcome}).to_string()).collect()
    };
    type Lie = Box<dyn Fn(&mut Vec<String>)>;
    let lies: Vec<(&str, Lie)> = vec![
        ("repeated", Box::new(|lines| lines[1] = lines[0].clone())),
        ("swapped", Box::new(|lines| lines.swap(0, 1))),
        ("missing", Box::new(|lines| drop(lines.pop()))),
        ("too many", Box::new(|lines| lines.push(lines[0].clone()))),
        ("empty", Box::new(|lines| lines[1].clear())),
        ("unknown", Box::new(|lines| lines[0] = lines[0].replacen('{', "{\"more\":1,", 1))),
        ("twice", Box::new(|lines| lines[0] = lines[0].replacen('{', "{\"index\":0,", 1))),
        ("other index", Box::new(|lines| lines[0] = lines[0].replace("\"index\":0", "\"index\":7"))),
        ("carriage return", Box::new(|lines| lines[0] = lines[0].replace("return;", "\\r"))),
        ("no JSON", Box::new(|lines| lines[0].truncate(20))),
    ];
    for ((what, lie), world) in lies.into_iter().flat_map(|(what, lie)| {
        let lie = std::rc::Rc::new(lie);
        [((what, lie.clone()), World::new()), ((what, lie), warm())]
    }) {
        let analyses = world.analyses();
        world.next(move |answer| {
            let mut lines = lines(answer);
            lie(&mut lines);
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            answer.raw_answers = Some(text.into_bytes());
        });
        batch(&world, &[named("main"), named("A::parse")], &[]).error("protocol_violation", 1);
        assert_eq!((world.analyses(), kept(&world)), (analyses, 0), "{what}");
    }
    let claims = [
        json!({"count": 1}),
        json!({"count": 3}),
        json!({"failed": 1}),
        json!({"bytes": 1}),
        json!({"sha256": "0".repeat(64)}),
        json!({"stopped": "time"}),
        json!({"stopped": "failure"}),
    ];
    for (claim, world) in
        claims.into_iter().flat_map(|claim| [(claim.clone(), World::new()), (claim, warm())])
    {
        let analyses = world.analyses();
        let shown = claim.clone();
        world.next(move |answer| {
            answer.claim(move |response| {
                let answers = response["outcome"]["answers"].as_object_mut().unwrap();
                answers.extend(claim.as_object().unwrap().clone());
            });
        });
        batch(&world, &[named("main"), named("A::parse")], &[]).error("protocol_violation", 1);
        assert_eq!((world.analyses(), kept(&world)), (analyses, 0), "{shown}");
    }
}

#[test]
fn an_answer_about_another_function_is_refused_and_those_before_it_are_kept() {
    let world = warm();
    world.next(|answer| answer.answers[1]["decompilation"] = decompilation("_init", 0x1000));
    let queries = [named("main"), named("A::parse"), named("B::parse")];
    let error = batch(&world, &queries, &[]).error("protocol_violation", 1);
    assert_eq!(error["details"]["received"], "ram:0x0000000000001000");
    assert_eq!(kept(&world), 1);
}

#[test]
fn the_file_of_answers_is_a_regular_one() {
    for kind in ["missing", "link", "fifo", "directory"] {
        let world = warm();
        world.next(move |answer| {
            let path: PathBuf =
                answer.request["arguments"]["queries"]["answers_path"].as_str().unwrap().into();
            answer.after = Some(Box::new(move || {
                let other = path.with_extension("other");
                std::fs::rename(&path, &other).unwrap();
                match kind {
                    "link" => std::os::unix::fs::symlink(&other, &path).unwrap(),
                    "fifo" => {
                        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
                    }
                    "directory" => std::fs::create_dir(&path).unwrap(),
                    _ => {}
                }
            }));
        });
        let error = batch(&world, &[named("main")], &[]).error("protocol_violation", 1);
        assert_eq!(error["details"]["field"], "answers.jsonl", "{kind}");
    }
}

#[test]
fn all_answers_together_are_bounded_and_the_report_spills() {
    let mut world = warm();
    let queries = [named("main"), json!({"op": "functions"}), json!({"op": "functions"})];
    let spilled = batch(&world, &queries, &["--max-inline-bytes", "3000"]).success();
    assert_eq!(spilled["data"]["spilled"], true);
    let path = spilled["data"]["artifact"]["path"]["value"].as_str().unwrap();
    let report: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(statuses(&report), ["succeeded"; 3]);
    world.max_response_bytes = 2_500;
    let document = batch(&world, &queries, &[]).success();
    assert_eq!(statuses(&document), ["succeeded", "succeeded", "failed"]);
    let error = &document["data"]["items"][2]["error"];
    assert_eq!(
        (&error["code"], &error["details"]["limit_bytes"]),
        (&json!("result_too_large"), &json!(2_500))
    );
}

fn everything(world: &World, flags: &[&str]) -> (Value, Vec<Value>) {
    let document = world.ask("batch", &[&["--decompile-all"], flags].concat()).success();
    let lines = &document["data"]["decompilations"];
    let path = lines["path"]["value"].as_str().unwrap();
    assert!(path.ends_with(".jsonl"), "{path}");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        (lines["bytes"].as_u64().unwrap(), lines["lines"].as_u64().unwrap()),
        (text.len() as u64, text.lines().count() as u64)
    );
    text.lines().for_each(|line| contract::check_bytes(format!("{line}\n").as_bytes()));
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (document, lines)
}

#[test]
fn everything_is_every_decompilable_function_in_order_and_a_second_time_needs_no_worker() {
    let world = World::new();
    let (first, lines) = everything(&world, &[]);
    assert_eq!(world.operations(), ["analyze", "query"], "the Analysis is safe before the long part begins");
    assert_eq!(first["data"]["counts"], json!({"total": 5, "succeeded": 5, "failed": 0, "not_run": 0}));
    let names: Vec<&Value> = lines.iter().map(|line| &line["function"]["qualified_name"]).collect();
    assert_eq!(names, ["_init", "<EXTERNAL>::getenv", "A::parse", "B::parse", "main"]);
    let main = world.ask("decompile", &["--name", "main"]).success();
    assert_eq!(lines[4]["decompilation"], main["data"]["decompilation"]);
    let (second, again) = everything(&world, &[]);
    assert_eq!((again, &second["data"]), (lines, &first["data"]));
    assert_eq!(second["provenance"]["limits"]["child_watchdog_seconds"], json!(null));
    assert_eq!(world.operations(), ["analyze", "query"]);
}

#[test]
fn everything_goes_on_after_failures_and_an_end_and_resumes_where_it_stopped() {
    let world = warm();
    world.next(|answer| fail(answer, 1));
    let (_, lines) = everything(&world, &[]);
    let statuses =
        |lines: &[Value]| -> Vec<Value> { lines.iter().map(|line| line["status"].clone()).collect() };
    assert_eq!(statuses(&lines), ["succeeded", "failed", "succeeded", "succeeded", "succeeded"]);
    let (_, lines) = everything(&world, &[]);
    assert_eq!(statuses(&lines), ["succeeded"; 5]);
    assert_eq!(asked(&world)[1..], [5, 1]);

    let world = warm();
    world.next(|answer| {
        answer.answers.truncate(3);
        ends(EndedBy::Interrupted { signal: 2 })(answer);
    });
    world.ask("batch", &["--decompile-all"]).error("interrupted", 130);
    assert_eq!(kept(&world), 3);
    world.next(|answer| die_at(answer, 1));
    let (document, lines) = everything(&world, &[]);
    assert_eq!(statuses(&lines), ["succeeded", "succeeded", "succeeded", "succeeded", "failed"]);
    assert_eq!(document["data"]["counts"]["failed"], 1);
}

/// However often it is repeated: everything before the killer is kept, and so it is asked first of all.
#[test]
fn everything_gets_past_a_function_that_kills_its_worker_each_time() {
    let world = warm();
    let statuses =
        |lines: &[Value]| -> Vec<Value> { lines.iter().map(|line| line["status"].clone()).collect() };
    for (index, asked_then) in [(2, vec![5, 2]), (0, vec![1])] {
        let before = world.runs();
        world.next(move |answer| die_at(answer, index));
        let (document, lines) = everything(&world, &[]);
        assert_eq!(statuses(&lines), ["succeeded", "succeeded", "failed", "succeeded", "succeeded"]);
        assert_eq!(lines[2]["error"]["code"], "worker_failed");
        assert_eq!(
            document["data"]["counts"],
            json!({"total": 5, "succeeded": 4, "failed": 1, "not_run": 0})
        );
        assert_eq!(asked(&world)[before..], asked_then);
    }
    let world = warm();
    world.next(|answer| {
        answer.comes_to_queries = false;
        answer.status = Some(139);
    });
    let (_, lines) = everything(&world, &[]);
    assert_eq!(statuses(&lines), ["failed", "not_run", "not_run", "not_run", "not_run"]);
    assert_eq!(lines[4]["reason"], "worker_ended");
    assert_eq!(asked(&world), [0, 5]);
}

#[test]
fn everything_of_a_program_larger_than_one_request_is_several_workers() {
    let world = World::new();
    let count = 10_001;
    let row = |index: u64| {
        let line = function(&format!("f{index}"), &format!("f{index}"), "ram", 0x1000 + index);
        let decompilable = index == 0 || index == count - 1;
        if decompilable { line } else { line.replace("\"decompilable\":true", "\"decompilable\":false") }
    };
    let table: Vec<String> = (0..count).map(row).collect();
    world.next(move |answer| answer.functions = table);
    world.ask("inspect", &[]).success();
    for index in [0, count - 1] {
        world.next(move |answer| {
            answer.answers[0]["decompilation"] = decompilation(&format!("f{index}"), 0x1000 + index);
        });
    }
    let (document, lines) = everything(&world, &[]);
    assert_eq!(document["data"]["counts"]["succeeded"], 2);
    assert_eq!(lines[1]["function"]["name"], format!("f{}", count - 1));
    assert_eq!(world.operations(), ["analyze", "query", "query"]);
}
