//! Function Selectors, resolved from stored facts or by the worker of a cold command.

use serde_json::{Value, json};

use crate::support::fake_answer::function;
use crate::support::fake_engine::World;

fn warm() -> World {
    let world = World::new();
    world.ask("inspect", &[]).success();
    world
}

/// Entries of an ambiguity's candidates.
fn entries(error: &Value) -> Vec<String> {
    let candidates = error["details"]["candidates"]["items"].as_array().unwrap();
    candidates
        .iter()
        .map(|item| {
            format!(
                "{}:{}",
                item["entry"]["space"].as_str().unwrap(),
                item["entry"]["offset"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn a_basename_and_a_qualified_name_are_exact() {
    let world = warm();
    world.ask("decompile", &["--name", "A::parse"]).success();
    assert_eq!(
        world.seen.borrow()[1].request["arguments"]["queries"]["items"][0]["selector"]["offset"],
        "0x0000000000001040"
    );
    for wrong in ["Main", "mai", "A::", "::main", "parse ", "*", ""] {
        let error = world.ask("decompile", &["--name", wrong]).error("function_not_found", 1);
        assert_eq!(error["details"]["name"], wrong);
    }
    assert_eq!(world.runs(), 2, "a wrong name on a stored Analysis costs no worker");
}

#[test]
fn an_ambiguous_name_lists_its_functions_in_entry_order() {
    let world = warm();
    let error = world.ask("decompile", &["--name", "parse"]).error("function_selector_ambiguous", 1);
    assert_eq!(entries(&error), ["ram:0x0000000000001040", "ram:0x0000000000001060"]);
    let selector = entries(&error).remove(1);
    world.ask("decompile", &["--address", &selector]).success();
}

#[test]
fn a_thunk_and_its_external_target_are_ambiguous_and_say_which_decompiles() {
    let world = warm();
    for name in ["getenv", "<EXTERNAL>::getenv"] {
        let error = world.ask("decompile", &["--name", name]).error("function_selector_ambiguous", 1);
        assert_eq!(entries(&error), ["ram:0x0000000000001020", "EXTERNAL:0x00000001"]);
        let items = &error["details"]["candidates"]["items"];
        assert_eq!((&items[0]["decompilable"], &items[1]["decompilable"]), (&json!(true), &json!(false)));
        assert_eq!((&items[0]["is_thunk"], &items[1]["is_external"]), (&json!(true), &json!(true)));
    }
}

#[test]
fn candidates_beyond_twenty_are_counted() {
    let world = World::new();
    world.next(|answer| {
        answer.functions = (0..21).map(|index| function("f", "f", "ram", 0x1000 + index)).collect();
    });
    world.ask("inspect", &[]).success();
    let error = world.ask("decompile", &["--name", "f"]).error("function_selector_ambiguous", 1);
    let candidates = &error["details"]["candidates"];
    assert_eq!((&candidates["total"], &candidates["has_more"]), (&json!(21), &json!(true)));
    assert_eq!(candidates["items"].as_array().unwrap().len(), 20);
}

#[test]
fn an_emitted_address_is_a_selector_unchanged_and_no_other_spelling_is() {
    let world = warm();
    let list = world.ask("functions", &["--all"]).success();
    let entry = &list["data"]["items"][4]["entry"];
    let exact = format!("{}:{}", entry["space"].as_str().unwrap(), entry["offset"].as_str().unwrap());
    world.ask("decompile", &["--address", &exact]).success();
    for other in ["ram:0x1080", "ram:0x00001080", "0x1080", "ram:1080", "ram:0X0000000000001080"] {
        let error = world.ask("decompile", &["--address", other]).error("invalid_arguments", 2);
        assert_eq!(error["details"]["suggestion"], format!("--address {exact}"), "{other}");
    }
}

#[test]
fn an_unknown_space_lists_the_spaces() {
    let world = warm();
    for space in ["RAM", "ra", "stack"] {
        let address = format!("{space}:0x0000000000001080");
        let error = world.ask("decompile", &["--address", &address]).error("address_space_not_found", 1);
        assert_eq!(error["details"]["space"], space);
        assert_eq!(
            error["details"]["spaces"],
            json!({"items": ["EXTERNAL", "ram"], "total": 2, "has_more": false})
        );
    }
    assert_eq!(world.runs(), 1);
}

#[test]
fn an_interior_address_is_ghidras_to_explain_and_what_cannot_be_decompiled_is_known() {
    let world = warm();
    let interior = "ram:0x0000000000001081";
    world.next(|answer| {
        answer.fail(
            "function_entry_required",
            json!({"containing_entry": {"space": "ram", "offset": "0x0000000000001080"}}),
        );
    });
    let error = world.ask("decompile", &["--address", interior]).error("function_entry_required", 1);
    assert_eq!(error["details"]["containing_entry"]["offset"], "0x0000000000001080");
    let asked = world.runs();
    let error =
        world.ask("decompile", &["--address", "EXTERNAL:0x00000001"]).error("function_not_decompilable", 1);
    let entry = json!({"space": "EXTERNAL", "offset": "0x00000001"});
    assert_eq!(error["details"], json!({"entry": entry, "reason": "external"}));
    assert_eq!((error.get("diagnostic_log"), world.runs()), (None, asked));
}

#[test]
fn a_wrong_selector_of_a_cold_command_keeps_the_analysis() {
    let world = World::new();
    world.next(|answer| answer.fail_query("function_not_found", json!({})));
    let error = world.ask("decompile", &["--name", "nothing"]).error("function_not_found", 1);
    assert_eq!((&error["details"]["name"], error.get("diagnostic_log")), (&json!("nothing"), None));
    assert_eq!(world.ask("inspect", &[]).success()["data"]["analysis"]["disposition"], "reused");
    let unpadded = World::new();
    let error = unpadded.ask("decompile", &["--address", "ram:0x1080"]).error("invalid_arguments", 2);
    assert_eq!(error["details"]["suggestion"], "--address ram:0x0000000000001080");
}
