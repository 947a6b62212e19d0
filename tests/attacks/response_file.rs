//! What may lie in the place of the response, and when.

use serde_json::{Value, json};

use crate::support::fake_process::Processes;

/// Runs `inspect` on this script; the violation's details. Nothing is promoted, and the next command just works.
fn violation(steps: Value) -> Value {
    let processes = Processes::new();
    processes.script(&steps);
    let error = processes.ask("inspect", &[]).error("protocol_violation", 1);
    processes.assert_no_analysis();
    assert_eq!(processes.world.diagnostics().len(), 1, "{error}");
    processes.script(&json!([]));
    let next = processes.ask("inspect", &[]).success();
    assert_eq!(next["data"]["analysis"]["disposition"], "created");
    error["details"].clone()
}

fn replaced(how: Value) -> Value {
    json!([{"do": "answer"}, {"do": "file", "path": "invocation/response.json", "how": how}, {"do": "exit", "status": 0}])
}

#[test]
fn only_a_regular_file_of_the_final_name_is_a_response() {
    let received = |how: Value| {
        let details = violation(replaced(how));
        assert_eq!(details["field"], "response", "{details}");
        details["received"].as_str().unwrap().to_owned()
    };
    assert!(received(json!({"renamed": "response.json.tmp"})).contains("No such file"));
    assert!(received(json!("removed")).contains("No such file"));
    assert!(received(json!("symlink")).contains("symbolic link"));
    assert_eq!(received(json!("fifo")), "another kind of file");
    assert_eq!(received(json!("directory")), "another kind of file");
}

#[test]
fn a_response_that_was_never_finished_is_refused() {
    let details = violation(replaced(json!("unfinished")));
    assert!(details["received"].as_str().unwrap().contains("EOF"), "{details}");
    violation(json!([{"do": "raw", "text": ""}]));
}

/// 300 MiB, of which nothing is on disk: no more of it is read than the limit allows.
#[test]
fn an_enormous_response_is_refused() {
    let details = violation(replaced(json!({"sparse": 300 << 20})));
    assert_eq!(details["expected"], "at most 268435456 bytes");
}

/// Within the size limit, but a thousand times as much once it is parsed.
#[test]
fn a_response_that_would_grow_in_memory_is_refused_before_it_is_parsed() {
    let bomb = format!("{{\"outcome\":[{}0]}}", "0,".repeat(1 << 20));
    let details = violation(json!([{"do": "raw", "text": bomb}]));
    assert_eq!(
        (&details["field"], &details["expected"]),
        (&"outcome".into(), &"at most 200000 values".into())
    );
    let nested = "[".repeat(100_000);
    violation(json!([{"do": "raw", "text": nested}]));
}

#[test]
fn a_worker_that_exits_with_success_and_says_nothing_has_not_succeeded() {
    let details = violation(json!([{"do": "exit", "status": 0}]));
    assert!(details["received"].as_str().unwrap().contains("No such file"), "{details}");
}

/// What it left running is dead before anything is read.
#[test]
fn a_response_written_after_the_worker_left_comes_too_late() {
    let details = violation(json!([{"do": "answer_from_beyond"}]));
    assert!(details["received"].as_str().unwrap().contains("No such file"), "{details}");
}

/// The answer of a worker that then failed is an answer of a failed worker.
#[test]
fn a_valid_response_does_not_excuse_a_failed_worker() {
    let cases = [
        (json!({"do": "exit", "status": 1}), "worker_failed"),
        (json!({"do": "exit", "status": 3}), "java_heap_exhausted"),
        (json!({"do": "kill", "signal": 9}), "worker_failed"),
        (json!({"do": "kill", "signal": 4}), "worker_failed"),
    ];
    for (ending, code) in cases {
        let processes = Processes::new();
        processes.script(&json!([{"do": "answer"}, ending]));
        processes.ask("inspect", &[]).error(code, 1);
        processes.assert_no_analysis();
    }
}
