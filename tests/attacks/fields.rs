//! Every member of every response: missing, twice, of another type, too large. Each is a violation of the protocol,
//! and nothing is kept but the log.

use serde_json::{Value, json};

use crate::support::fake_answer::{Answer, program};
use crate::support::fake_process::Processes;

/// May be as long as the answer, whose own bound has its own test; other names than the facts have are refused as
/// an answer about another function.
const LONG: [&str; 3] = ["/decompilation/text", "/function/name", "/function/qualified_name"];

/// One attack on a response, and the worlds it is tried in.
struct Attacks {
    processes: Processes,
    arguments: &'static [&'static str],
    setup: Vec<Value>,
    step: &'static str,
    checked: u32,
}

impl Attacks {
    fn on(arguments: &'static [&'static str], setup: Vec<Value>) -> Self {
        Self { processes: Processes::new(), arguments, setup, step: "response", checked: 0 }
    }

    fn refused(&mut self, at: &str, how: &str) {
        let attack = json!({"do": self.step, "at": at, "how": how});
        let steps: Vec<Value> = self.setup.iter().cloned().chain([attack]).collect();
        self.processes.script(&json!(steps));
        let run = self.processes.ask(self.arguments[0], &self.arguments[1..]);
        let code = &run.document()["error"]["code"];
        assert_eq!(code, "protocol_violation", "{at} {how}: {run}");
        self.processes.assert_no_analysis();
        self.checked += 1;
    }

    /// What is attacked is no violation before.
    fn accepted(&self, what: &str) {
        self.processes.script(&json!(self.setup));
        let run = self.processes.ask(self.arguments[0], &self.arguments[1..]);
        assert_ne!(run.document()["error"]["code"], "protocol_violation", "{what}: {run}");
    }

    fn every_place(&mut self, response: &Value) {
        for at in places(response) {
            let value = response.pointer(&at).unwrap();
            let long = LONG.iter().any(|end| at.ends_with(end));
            for how in ways(&at, value).filter(|how| !(long && *how == "oversized")) {
                self.refused(&at, how);
            }
        }
    }
}

/// Pointers to everything inside a value; of a list, to its first element.
fn places(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut walk = vec![(String::new(), value)];
    while let Some((at, value)) = walk.pop() {
        let inside: Vec<(String, &Value)> = match value {
            Value::Object(members) => {
                members.iter().map(|(name, member)| (format!("{at}/{name}"), member)).collect()
            }
            Value::Array(elements) => {
                elements.first().map(|first| (format!("{at}/0"), first)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        found.extend(inside.iter().map(|(at, _)| at.clone()));
        walk.extend(inside);
    }
    found
}

/// How the value at a place can be wrong. An element of a list may be missing or stand there twice, and what is one of a few
/// values has no size.
fn ways(at: &str, value: &Value) -> impl Iterator<Item = &'static str> {
    let element = at.rsplit('/').next().unwrap().parse::<usize>().is_ok();
    let sized = !matches!(value, Value::Null | Value::Bool(_));
    ["removed", "duplicated", "retyped", "oversized"].into_iter().filter(move |how| match *how {
        "oversized" => sized,
        "retyped" => true,
        _ => !element,
    })
}

/// The response of an honest worker to a request with these arguments, and with these values set in it.
fn response(operation: &str, arguments: Value, values: &[(&str, Value)]) -> Value {
    let request = json!({"operation": operation, "arguments": arguments, "invocation_id": "0"});
    let mut answer = Answer::honest(&request, program());
    for (at, value) in values {
        *answer.outcome_at(at) = value.clone();
    }
    let digest = || json!({"bytes": 1, "sha256": "0"});
    let mut outcome = answer.outcome.unwrap();
    if operation == "analyze" {
        let mut functions = digest();
        functions["count"] = json!(6);
        outcome["answers"] = json!({"bytes": 1, "sha256": "0", "count": 1, "failed": 0, "stopped": null});
        outcome["analysis"]["facts"] = json!({"program": digest(), "functions": functions});
    }
    json!({
        "protocol_version": 1, "invocation_id": "0", "operation": operation,
        "phases": [{"name": "application", "milliseconds": 1}], "outcome": outcome
    })
}

fn set(values: &[(&str, Value)]) -> Vec<Value> {
    values.iter().map(|(at, value)| json!({"do": "outcome", "at": at, "value": value})).collect()
}

#[test]
fn every_member_of_an_analysis_is_checked() {
    let values = [
        ("/analysis/loader_options", json!([{"name": "Base", "type": "hex_long", "value": "400000"}])),
        (
            "/analysis/faults",
            json!({"total": 1, "items": [
                {"kind": "analyzer_failed", "analyzer": "A", "exception_class": "E", "message": "m"}
            ]}),
        ),
        ("/analysis/suspicions", json!(["headers_past_end_of_file"])),
    ];
    let mut attacks = Attacks::on(&["decompile", "--name", "main"], set(&values));
    attacks.every_place(&response("analyze", json!({"queries": {}}), &values));
    assert!(attacks.checked > 150, "{}", attacks.checked);
}

#[test]
fn every_member_of_an_answer_is_checked() {
    let warnings = ("/query/decompilation/warnings", json!(["WARNING: a"]));
    let mut attacks = Attacks::on(&["decompile", "--name", "main"], set(&[warnings]));
    attacks.step = "answered";
    let query = json!({"selector": {"kind": "name", "value": "main"}});
    let request = json!({"operation": "query", "arguments": {"queries": {"items": [query]}}});
    let mut answer = Answer::honest(&request, program());
    answer.outcome_at("/query/decompilation")["warnings"] = json!(["WARNING: a"]);
    attacks.every_place(&json!({"index": 0, "outcome": answer.answers[0]}));
    assert!(attacks.checked > 40, "{}", attacks.checked);
}

#[test]
fn every_member_of_a_probe_is_checked() {
    let processes = Processes::new();
    let response = response("probe", json!({}), &[]);
    let mut checked = 0;
    for at in places(&response) {
        for how in ways(&at, response.pointer(&at).unwrap()) {
            processes.script(&json!([{"do": "response", "at": at, "how": how}]));
            let run = processes.ended(processes.command(["doctor"]).output().unwrap().into());
            let error = run.error("doctor_failed", 1);
            let component = &error["details"]["report"]["components"]["ghidra"];
            assert_eq!(component["status"], "invalid", "{at} {how}: {run}");
            assert!(component["problem"].as_str().unwrap().contains("protocol"), "{at} {how}: {run}");
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked}");
}

#[test]
fn every_member_of_a_failure_is_checked() {
    let target = |language: &str| json!({"loader": "L", "processor_language": language, "compiler_specification": "gcc"});
    let entry = json!({"space": "ram", "offset": "0x0000000000001080"});
    let candidate = json!({
        "name": "f", "qualified_name": "f", "entry": entry, "location": "memory", "is_external": false,
        "is_thunk": false, "decompilable": true
    });
    let list = |item: Value| json!({"items": [item], "total": 1, "has_more": false});
    // Without `request_rejected`, which is a violation by itself.
    let failures = [
        ("ambiguous_target", json!({"candidates": list(target("a"))})),
        ("container_sample", json!({"format": "ar", "members": list(json!("a.o"))})),
        ("unsupported_target", json!({"loaders": ["Portable Format"], "recognised_format": null})),
        ("import_failed", json!({"reason": "r"})),
        ("analysis_failed", json!({"exception_class": "E", "reason": "r"})),
        ("analysis_timeout", json!({"timeout_seconds": 600, "analyzer": "DWARF"})),
        ("engine_unusable", json!({"component": "native", "reason": "r"})),
        ("save_failed", json!({"reason": "r"})),
        ("project_unusable", json!({"reason": "r"})),
        ("function_selector_ambiguous", json!({"candidates": list(candidate)})),
        ("function_entry_required", json!({"containing_entry": entry})),
        ("address_space_not_found", json!({"spaces": list(json!("ram"))})),
        ("function_not_decompilable", json!({"entry": entry, "reason": "r"})),
        ("decompile_timeout", json!({"timeout_seconds": 60, "entry": entry})),
        ("facts_too_large", json!({"limit_bytes": 5})),
        ("decompile_failed", json!({"entry": entry, "reason": "r"})),
        ("result_too_large", json!({"limit_bytes": 9, "observed_at_least_bytes": 10})),
    ];
    for (code, details) in failures {
        let failed = json!({"status": "failed", "error": {"code": code, "details": details}});
        let mut attacks = Attacks::on(&["inspect"], set(&[("", failed.clone())]));
        attacks.accepted(code);
        let whole = json!({"outcome": failed});
        for at in places(&whole).into_iter().filter(|at| at.starts_with("/outcome/error/")) {
            for how in ways(&at, whole.pointer(&at).unwrap()) {
                attacks.refused(&at, how);
            }
        }
        // Code, details and one member of them at least.
        assert!(attacks.checked >= 8, "{code}: {}", attacks.checked);
    }
}
