//! A worker that lies: whatever does not follow from the protocol is refused, and nothing is kept.

use serde_json::{Value, json};

use crate::support::fake_answer::{Answer, function};
use crate::support::fake_engine::World;
use crate::support::schema_samples::objects;

/// Runs a command on a lying worker; the violation's details.
fn violation(arguments: &[&str], edit: impl FnOnce(&mut Answer) + 'static) -> Value {
    let world = World::new();
    world.next(edit);
    let error = world.ask(arguments[0], &arguments[1..]).error("protocol_violation", 1);
    assert!(world.analyses().is_empty(), "{error}");
    error["details"].clone()
}

const DECOMPILE: [&str; 3] = ["decompile", "--name", "main"];

/// The honest response to a cold `decompile`.
fn honest_response() -> Value {
    let world = World::new();
    let (sender, receiver) = std::sync::mpsc::channel();
    world.next(move |answer| answer.claim(move |response| sender.send(response.clone()).unwrap()));
    world.ask(DECOMPILE[0], &DECOMPILE[1..]).success();
    receiver.recv().unwrap()
}

#[test]
fn every_property_of_a_response_is_required() {
    let honest = honest_response();
    let mut checked = 0;
    for at in objects(&honest).into_iter().filter(|at| is_first_of_a_list(at)) {
        for name in honest.pointer(&at).unwrap().as_object().unwrap().keys() {
            let (place, removed) = (at.clone(), name.clone());
            violation(&DECOMPILE, move |answer| {
                answer.claim(move |response| {
                    response.pointer_mut(&place).unwrap().as_object_mut().unwrap().remove(&removed);
                });
            });
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn a_response_holds_nothing_unknown_at_any_depth() {
    for at in objects(&honest_response()).into_iter().filter(|at| is_first_of_a_list(at)) {
        let details = violation(&DECOMPILE, move |answer| {
            answer.claim(move |response| response.pointer_mut(&at).unwrap()["unknown"] = json!(1));
        });
        assert_eq!(details["field"], "response");
    }
}

/// The entries of a list are alike; one stands for all.
fn is_first_of_a_list(at: &str) -> bool {
    at.split('/').all(|step| step.parse::<u32>().is_err() || step == "0")
}

#[test]
fn echoes_must_be_those_of_the_request() {
    for (field, wrong) in [
        ("protocol_version", json!(2)),
        ("invocation_id", json!("0".repeat(32))),
        ("operation", json!("query")),
    ] {
        let details =
            violation(&["inspect"], move |answer| answer.claim(move |response| response[field] = wrong));
        assert_eq!(details["field"], field);
    }
}

#[test]
fn a_response_of_another_shape_is_refused() {
    for bytes in ["", "{", "[]", "null", "{}", "{}{}"] {
        violation(&["inspect"], move |answer| answer.raw_response = Some(bytes.into()));
    }
    violation(&["inspect"], |answer| answer.raw_response = Some(vec![0xff]));
    let duplicate = |answer: &mut Answer| {
        let text = honest_response().to_string();
        answer.raw_response = Some(format!("{{\"protocol_version\":1,{}", &text[1..]).into_bytes());
    };
    violation(&["inspect"], duplicate);
}

/// What a response may say about answers.
fn answers() -> Value {
    json!({"bytes": 1, "sha256": "0".repeat(64), "count": 1, "failed": 0, "stopped": null})
}

#[test]
fn outcomes_that_do_not_belong_together_are_refused() {
    violation(&["inspect"], |answer| {
        answer.claim(|response| response["outcome"]["answers"] = answers());
    });
    violation(&DECOMPILE, |answer| answer.claim(|response| response["outcome"]["answers"] = json!(null)));
    violation(&["inspect"], |answer| {
        *answer.outcome_at("") = json!({"status": "queried", "answers": answers()});
    });
}

#[test]
fn a_response_above_the_limit_is_refused() {
    let mut world = World::new();
    world.max_response_bytes = 100;
    world.ask("inspect", &[]).error("protocol_violation", 1);
    assert!(world.analyses().is_empty());
}

#[test]
fn unbounded_lists_are_refused() {
    let fault = json!({"kind": "engine_fault", "component": "c", "exception_class": "E", "message": "m"});
    for (items, total) in [(65, 65), (2, 1)] {
        let faults = json!({"items": vec![fault.clone(); items], "total": total});
        violation(&["inspect"], move |answer| *answer.outcome_at("/analysis/faults") = faults);
    }
    let candidates = |items: usize, total: u64, has_more: bool| {
        let item = json!({"loader": "L", "processor_language": "p", "compiler_specification": "c"});
        json!({"candidates": {"items": vec![item; items], "total": total, "has_more": has_more}})
    };
    for (items, total, has_more) in [(21, 21, false), (2, 1, false), (1, 2, false), (1, 1, true)] {
        violation(&["inspect"], move |answer| {
            answer.fail("ambiguous_target", candidates(items, total, has_more))
        });
    }
}

#[test]
fn facts_must_be_what_the_response_claims() {
    let lies: [fn(&mut Value); 7] = [
        |claim| claim["functions"]["count"] = json!(5),
        |claim| claim["functions"]["bytes"] = json!(1),
        |claim| claim["functions"]["sha256"] = json!("0".repeat(64)),
        |claim| claim["program"]["bytes"] = json!(1),
        |claim| claim["program"]["sha256"] = json!("0".repeat(64)),
        |claim| claim["functions"]["sha256"] = json!("x"),
        |claim| claim["functions"]["bytes"] = json!(u64::MAX),
    ];
    for lie in lies {
        violation(&["inspect"], move |answer| {
            answer.claim(move |response| lie(&mut response["outcome"]["analysis"]["facts"]));
        });
    }
    for count in ["function_count", "memory_function_count"] {
        violation(&["inspect"], move |answer| {
            answer.claim(move |response| response["outcome"]["analysis"]["program"][count] = json!(1));
        });
    }
}

#[test]
fn function_tables_that_break_their_contract_are_refused() {
    type Damage = fn(&mut Vec<String>);
    let damages: [(&str, Damage); 11] = [
        ("order", |lines| lines.swap(0, 1)),
        ("duplicate entry", |lines| lines.insert(1, function("again", "again", "ram", 0x1000))),
        ("external before memory", |lines| lines.rotate_right(1)),
        ("unknown space", |lines| lines[0] = function("f", "f", "other", 1)),
        ("other padding", |lines| lines[0] = lines[0].replace("0x0000000000001000", "0x1000")),
        ("uppercase offset", |lines| lines[0] = lines[0].replace("0x0000000000001000", "0x000000000000100A")),
        ("unknown field", |lines| lines[0] = lines[0].replace("{\"name\"", "{\"x\":1,\"name\"")),
        ("missing field", |lines| lines[0] = lines[0].replace(",\"thunk_target_entry\":null", "")),
        ("white space", |lines| lines[0] = lines[0].replace(":16,", ": 16,")),
        ("float", |lines| lines[0] = lines[0].replace(":16,", ":16.0,")),
        ("decompilable external", |lines| {
            let last = lines.len() - 1;
            lines[last] = lines[last].replace("\"decompilable\":false", "\"decompilable\":true");
        }),
    ];
    for (what, damage) in damages {
        let details = violation(&["functions"], move |answer| damage(&mut answer.functions));
        assert!(details["field"].as_str().unwrap().starts_with("functions.jsonl line "), "{what}: {details}");
    }
}

#[test]
fn program_facts_that_break_their_contract_are_refused() {
    for (field, wrong) in [
        ("facts_version", json!(2)),
        ("function_count", json!(5)),
        ("image_base", json!({"space": "ram", "offset": "0x1"})),
        ("minimum_address", json!({"space": "none", "offset": "0x0000000000000001"})),
        (
            "address_spaces",
            json!([{"name": "ram", "offset_digits": 16}, {"name": "EXTERNAL", "offset_digits": 8}]),
        ),
    ] {
        let details = violation(&["inspect"], move |answer| answer.program[field] = wrong);
        assert!(details["field"].as_str().unwrap().contains(".json"), "{field}: {details}");
    }
}

#[test]
fn options_must_be_sorted_and_unique() {
    let option = |name: &str| json!({"name": name, "type": "boolean", "value": true});
    for names in [["B", "A"], ["A", "A"]] {
        violation(&["inspect"], move |answer| {
            *answer.outcome_at("/analysis/analyzer_options") = json!(names.map(option))
        });
    }
}

#[test]
fn a_link_in_the_project_is_never_promoted() {
    let world = World::new();
    world.next(|answer| {
        let project = answer.request["arguments"]["project_directory"].as_str().unwrap().to_owned();
        std::os::unix::fs::symlink("/etc/passwd", std::path::Path::new(&project).join("link")).unwrap();
    });
    world.ask("inspect", &[]).error("protocol_violation", 1);
    assert!(world.analyses().is_empty());
}
