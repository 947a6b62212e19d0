//! Facts and project files that are not what the response says, or not files at all.

use serde_json::{Value, json};

use crate::support::fake_answer::{function, program};
use crate::support::fake_process::Processes;

/// Runs `command` on a worker that does this to its files after the response; the violation's details.
fn violation(changes: &[(&str, Value)]) -> Value {
    let processes = Processes::new();
    let mut steps = vec![json!({"do": "answer"})];
    steps.extend(changes.iter().map(|(path, how)| json!({"do": "file", "path": path, "how": how})));
    steps.push(json!({"do": "exit", "status": 0}));
    processes.script(&json!(steps));
    let error = processes.ask("functions", &[]).error("protocol_violation", 1);
    assert!(error["diagnostic_log"].is_object(), "{error}");
    processes.assert_no_analysis();
    error["details"].clone()
}

fn field(changes: &[(&str, Value)]) -> String {
    violation(changes)["field"].as_str().unwrap().to_owned()
}

#[test]
fn every_file_must_be_there_and_be_a_file_of_its_own() {
    let files = [
        "facts/program.json",
        "facts/functions.jsonl",
        "project/analysis.gpr",
        "project/analysis.rep/idata/00/data",
    ];
    for file in files {
        let name = file.rsplit('/').next().unwrap();
        for how in ["symlink", "hard_link", "fifo"] {
            let field = field(&[(file, json!(how))]);
            assert!(field.contains(name) || field.contains("other"), "{file} {how}: {field}");
        }
    }
    for file in &files[..3] {
        for how in [json!("removed"), json!({"renamed": "elsewhere"})] {
            field(&[(file, how)]);
        }
    }
    for file in &files[..2] {
        field(&[(file, json!("directory"))]);
    }
}

#[test]
fn a_file_that_nobody_expects_is_refused() {
    for file in ["facts/more.json", "project/more", "facts/.hidden"] {
        assert!(
            field(&[(file, json!({"replaced": "x"}))]).ends_with(&file[file.find('/').unwrap()..]),
            "{file}"
        );
    }
}

#[test]
fn facts_are_exactly_those_that_the_response_counts_and_digests() {
    let whole: String = program().iter().map(|line| format!("{line}\n")).collect();
    let mut swapped = program();
    swapped.swap(0, 1);
    let swapped: String = swapped.iter().map(|line| format!("{line}\n")).collect();
    let more = format!("{whole}{}\n", function("more", "more", "EXTERNAL", 2));
    let fewer: String = program().iter().skip(1).map(|line| format!("{line}\n")).collect();
    let renamed = whole.replacen("_init", "_exit", 2);
    for text in [swapped, more, fewer, renamed, whole.trim_end().to_owned(), String::new()] {
        let details = violation(&[("facts/functions.jsonl", json!({"replaced": text}))]);
        assert!(details["field"].as_str().unwrap().starts_with("functions.jsonl"), "{details}");
    }
    for how in [json!({"sparse": 300 << 20}), json!("unfinished"), json!({"replaced": "{}\n"})] {
        for file in ["facts/functions.jsonl", "facts/program.json"] {
            let details = violation(&[(file, how.clone())]);
            assert!(details["field"].as_str().unwrap().contains(".json"), "{details}");
        }
    }
}
