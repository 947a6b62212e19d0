//! Selectors on real Analyses: exact names, entry Addresses, and what each refusal says.

use serde_json::Value;

use crate::support::shared;
use crate::support::{boots, fixtures};

const FIXTURE: &str = "elf-x86_64-pie";

fn refused(selector: [&str; 2], code: &str) -> Value {
    let document = shared::bubblewrap().decompiled(FIXTURE, selector);
    assert_eq!(document["error"]["code"], code, "{document:#}");
    document["error"]["details"].clone()
}

#[test]
fn an_interior_address_names_the_entry_of_the_containing_function() {
    let details = refused(["--address", "ram:0x00000000001010d3"], "function_entry_required");
    let entry = serde_json::json!({"space": "ram", "offset": "0x00000000001010d2"});
    assert_eq!(details["containing_entry"], entry);
}

#[test]
fn an_address_in_no_function_has_no_containing_entry() {
    let details = refused(["--address", "ram:0x0000000000000010"], "function_entry_required");
    assert_eq!(details["containing_entry"], Value::Null);
}

#[test]
fn an_unknown_space_lists_the_spaces_there_are() {
    let details = refused(["--address", "rom:0x0000000000000010"], "address_space_not_found");
    assert!(details["spaces"]["items"].as_array().unwrap().contains(&Value::from("ram")), "{details}");
}

#[test]
fn names_are_exact_and_case_sensitive() {
    for name in ["Main", "mai", "main ", "Widget::parse", "shop::main"] {
        assert_eq!(refused(["--name", name], "function_not_found")["name"], name);
    }
    let document = shared::bubblewrap().decompiled(FIXTURE, ["--name", "shop::archive::Widget::parse"]);
    assert_eq!(document["data"]["function"]["qualified_name"], "shop::archive::Widget::parse");
    assert_eq!(document["data"]["function"]["name"], "parse");
}

#[test]
fn a_name_shared_by_thunks_and_their_external_function_is_ambiguous_and_says_what_can_be_decompiled() {
    let details = refused(["--name", "<EXTERNAL>::getenv"], "function_selector_ambiguous");
    let items = details["candidates"]["items"].as_array().unwrap();
    let decompilable: Vec<&Value> = items.iter().map(|item| &item["decompilable"]).collect();
    // The stub in .plt, the placeholder that stands for its import, and the import itself.
    assert_eq!(decompilable, [true, false, false], "{details:#}");
}

#[test]
fn an_external_function_is_not_decompilable() {
    let functions = shared::bubblewrap().functions(FIXTURE);
    let external = functions.iter().find(|function| function["is_external"] == true).unwrap();
    let text = |field: &str| external["entry"][field].as_str().unwrap();
    let selector = format!("{}:{}", text("space"), text("offset"));
    let details = refused(["--address", &selector], "function_not_decompilable");
    assert_eq!((&details["entry"], &details["reason"]), (&external["entry"], &Value::from("external")));
}

#[test]
fn a_cold_decompile_refuses_as_a_cached_one_and_keeps_the_analysis() {
    let ghidr = crate::support::ghidr::Ghidr::new();
    let path = fixtures::path(FIXTURE);
    let path = path.to_str().unwrap();
    let _boot = boots::take();
    let cold = ghidr.run(["decompile", path, "--name", "parse"]).error("function_selector_ambiguous", 1);
    let cached = ghidr.run(["decompile", path, "--name", "parse"]).error("function_selector_ambiguous", 1);
    assert_eq!(cold["details"], cached["details"]);
    let inspection = ghidr.run(["inspect", path]).success();
    assert_eq!(inspection["data"]["analysis"]["disposition"], "reused");
}

#[test]
fn a_cold_and_a_cached_decompile_give_the_same_text() {
    let ghidr = crate::support::ghidr::Ghidr::new();
    let path = fixtures::path(FIXTURE);
    let cold = {
        let _boot = boots::take();
        ghidr.run(["decompile", path.to_str().unwrap(), "--name", "main"]).success()
    };
    let cached = shared::bubblewrap().decompiled(FIXTURE, ["--name", "main"]);
    assert_eq!(cold["data"], cached["data"]);
    assert_eq!(cold["warnings"], cached["warnings"]);
}
