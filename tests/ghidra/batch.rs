//! Batches with the real engine: the same answers as one by one, with one worker for all of them.

use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::{descendants, exchanged, is_named, maps, signal, wait_for, wait_until_gone};
use crate::support::{boots, fixtures};

const FIXTURE: &str = "elf-x86_64-pie";

fn write(ghidr: &Ghidr, queries: &[Value]) -> String {
    let path = ghidr.root().join("queries.jsonl");
    let text: String = queries.iter().map(|query| format!("{query}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn lines(document: &Value) -> Vec<Value> {
    let path = document["data"]["decompilations"]["path"]["value"].as_str().unwrap();
    let text = std::fs::read_to_string(Path::new(path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The selector of an entry.
fn address(entry: &Value) -> String {
    format!("{}:{}", entry["space"].as_str().unwrap(), entry["offset"].as_str().unwrap())
}

/// What a batch reports when a process is killed below it, as soon as `find` names one.
fn with_one_killed(mut command: Command, find: impl Fn(u32) -> Option<u32>) -> Value {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    signal(wait_for("a process to kill", || find(child.id())), Signal::KILL);
    let run = Run::from(child.wait_with_output().unwrap());
    run.check_framing();
    run.success()
}

/// A mixed batch, cold: the Analysis is promoted whatever fails, every answer is the one that its
/// own command gives afterwards, and nothing of it is asked a second time.
#[test]
fn a_cold_batch_with_failures_answers_like_the_single_commands() {
    let ghidr = Ghidr::new();
    let sample = fixtures::path(FIXTURE);
    let sample = sample.to_str().unwrap();
    let queries = write(
        &ghidr,
        &[
            json!({"op": "decompile", "name": "main"}),
            json!({"op": "decompile", "name": "no such function"}),
            json!({"op": "functions", "limit": 3}),
            json!({"op": "decompile", "name": "fibonacci"}),
            json!({"op": "decompile", "address": "nowhere:0x0000000000000000"}),
            json!({"op": "inspect"}),
        ],
    );
    let boot = boots::take();
    let cold = ghidr.run(["batch", sample, &queries, "--max-inline-bytes", "1000000"]).success();
    drop(boot);
    assert_eq!(cold["data"]["counts"], json!({"total": 6, "succeeded": 4, "failed": 2, "not_run": 0}));
    let items = cold["data"]["items"].as_array().unwrap();
    let codes: Vec<&Value> = [1, 4].map(|index: usize| &items[index]["error"]["code"]).to_vec();
    assert_eq!(codes, ["function_not_found", "address_space_not_found"]);
    // None of these starts a process: what the batch completed was kept.
    let single = |arguments: &[&str]| {
        let run = ghidr.run(arguments.iter().copied()).success();
        assert_eq!(run["provenance"]["limits"]["child_watchdog_seconds"], json!(null));
        run["data"].clone()
    };
    assert_eq!(items[0]["data"], single(&["decompile", sample, "--name", "main"]));
    assert_eq!(items[3]["data"], single(&["decompile", sample, "--name", "fibonacci"]));
    assert_eq!(items[2]["data"], single(&["functions", sample, "--limit", "3"]));
    assert_eq!(items[5]["data"]["program"], single(&["inspect", sample])["program"]);
}

/// Everything there is, once with a worker and once without; each text is the one that a worker of
/// its own gives, so no answer depends on those before it.
#[test]
fn everything_decompiled_together_is_what_is_decompiled_alone() {
    let ghidr = Ghidr::new();
    let sample = fixtures::path(FIXTURE);
    let sample = sample.to_str().unwrap();
    let boot = boots::take();
    let first = ghidr.run(["batch", sample, "--decompile-all"]).success();
    let listed = ghidr.run(["functions", sample, "--all", "--max-inline-bytes", "10000000"]).success();
    let decompilable: Vec<Value> = listed["data"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["decompilable"] == true)
        .map(|item| json!({"name": item["name"], "qualified_name": item["qualified_name"], "entry": item["entry"]}))
        .collect();
    let all = lines(&first);
    let functions: Vec<Value> = all.iter().map(|line| line["function"].clone()).collect();
    assert_eq!(functions, decompilable);
    assert_eq!(first["data"]["counts"]["succeeded"], all.len());
    let again = ghidr.run(["batch", sample, "--decompile-all"]).success();
    assert_eq!(again["data"], first["data"]);
    assert_eq!(again["provenance"]["limits"]["child_watchdog_seconds"], json!(null), "no worker ran");

    // The last of the batch, and one from its middle, in a store that kept nothing of them.
    let alone = Ghidr::new();
    for line in [&all[all.len() - 1], &all[all.len() / 2]] {
        let entry = &line["function"]["entry"];
        let single = alone.run(["decompile", sample, "--address", &address(entry)]).success();
        assert_eq!(single["data"]["decompilation"], line["decompilation"]);
    }
    drop(boot);
}

/// The decompiler is killed again and again; a function it dies of is a failure, the others are not.
#[test]
fn a_decompiler_that_dies_is_replaced_for_the_next_function() {
    let ghidr = Ghidr::new();
    let sample = fixtures::path(FIXTURE);
    let sample = sample.to_str().unwrap();
    let _boot = boots::take();
    ghidr.run(["inspect", sample]).success();
    let document = with_one_killed(ghidr.command(["batch", sample, "--decompile-all"]), |ghidr| {
        descendants(ghidr).into_iter().find(|pid| is_named(*pid, "decompile"))
    });
    let counts = &document["data"]["counts"];
    assert_eq!(counts["not_run"], 0);
    assert!(counts["failed"].as_u64().unwrap() <= 1, "{counts}");
    let again = ghidr.run(["batch", sample, "--decompile-all"]).success();
    assert_eq!(again["data"]["counts"]["succeeded"], counts["total"]);
}

/// The whole worker is killed at its Queries, in the command that also makes the Analysis.
#[test]
fn an_analysis_outlives_the_worker_that_is_killed_among_its_queries() {
    let sample = fixtures::path(FIXTURE);
    let sample = sample.to_str().unwrap();
    let whole = Ghidr::new();
    let killed = Ghidr::new();
    let _boot = boots::take();
    let all = whole.run(["functions", sample, "--all", "--max-inline-bytes", "10000000"]).success();
    let items = all["data"]["items"].as_array().unwrap();
    let queries: Vec<Value> = items
        .iter()
        .filter(|item| item["decompilable"] == true)
        .map(|item| json!({"op": "decompile", "address": address(&item["entry"])}))
        .collect();
    let queries_path = write(&killed, &queries);
    let command = killed.command(["batch", sample, &queries_path, "--max-inline-bytes", "10000000"]);
    let document = with_one_killed(command, |ghidr| {
        exchanged(&killed.store(), "answers.jsonl").filter(|bytes| bytes.contains(&b'\n'))?;
        Some(descendants(ghidr).into_iter().find(|pid| maps(*pid, "libjvm.so")).unwrap())
    });
    let counts = &document["data"]["counts"];
    assert_eq!(counts["failed"], 1, "the one it was at: {counts}");
    assert_eq!(counts["succeeded"], queries.len() - 1, "{counts}");
    wait_until_gone(killed.root());

    // The Analysis is the one that an undisturbed worker makes, and it can be worked with.
    let facts = |ghidr: &Ghidr| {
        let listed = ghidr.run(["functions", sample, "--all", "--max-inline-bytes", "10000000"]).success();
        let inspected = ghidr.run(["inspect", sample]).success();
        assert_eq!(inspected["data"]["analysis"]["disposition"], "reused");
        (listed["data"].clone(), inspected["data"]["program"].clone(), inspected["data"]["target"].clone())
    };
    assert_eq!(facts(&killed), facts(&whole));
    let again = killed.run(["batch", sample, "--decompile-all"]).success();
    assert_eq!(again["data"]["counts"]["succeeded"], queries.len());
}
