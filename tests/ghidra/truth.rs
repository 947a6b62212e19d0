//! Answers against what is true of the fixtures whatever an engine says (`fixtures/truth`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::golden::DECOMPILED;
use crate::support::fixtures::{self, Truth};
use crate::support::shared;

/// Every fixture that can be analyzed and has a truth file.
fn each(check: impl Fn(&str, &Truth, &[Value])) {
    let mut checked = 0;
    for fixture in fixtures::ANALYSABLE {
        if let Some(truth) = fixtures::truth(fixture) {
            check(fixture, &truth, &shared::bubblewrap().functions(fixture));
            checked += 1;
        }
    }
    assert_eq!(checked, 12, "a truth file is missing");
}

#[test]
fn a_target_is_verified_exactly_where_the_truth_says_so_and_warned_of_elsewhere() {
    for fixture in fixtures::ANALYSABLE {
        let verified = match fixtures::truth(fixture) {
            Some(truth) => truth.verified_target.is_some(),
            // The header of the truncated ELF is intact; a core dump and a managed PE are outside.
            None => fixture == "elf-x86_64-truncated",
        };
        let document = shared::bubblewrap().fixture(fixture);
        let verification = if verified { "verified" } else { "unverified" };
        assert_eq!(document["provenance"]["target"]["verification"], verification, "{fixture}");
        let warnings = document["warnings"].as_array().unwrap();
        let warned = warnings.iter().any(|warning| warning["code"] == "unverified_target");
        assert_eq!(warned, !verified, "{fixture}");
    }
}

fn offset(address: &Value) -> u64 {
    u64::from_str_radix(address["offset"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn in_memory(functions: &[Value]) -> BTreeMap<u64, &Value> {
    let memory = functions.iter().filter(|function| function["location"] == "memory");
    memory.map(|function| (offset(&function["entry"]), function)).collect()
}

#[test]
fn every_true_function_is_listed_with_its_name_and_size() {
    each(|fixture, truth, functions| {
        let listed = in_memory(functions);
        assert!(truth.functions.len() >= 7, "{fixture}");
        for function in &truth.functions {
            let entry = truth.in_ghidra(function.vaddr);
            let item = listed
                .get(&entry)
                .unwrap_or_else(|| panic!("{fixture}: {} is not listed at {entry:#x}", function.symbol));
            if truth.symbols_of.is_none() {
                for (field, name) in [("name", &function.name), ("qualified_name", &function.qualified_name)]
                {
                    if let Some(name) = name {
                        assert_eq!(item[field], name.as_str(), "{fixture}: {field} of {}", function.symbol);
                    }
                }
            }
            if let Some(size) = function.body_size {
                assert_eq!(item["body_address_count"], size, "{fixture}: size of {}", function.symbol);
            }
            assert_eq!(item["decompilable"], true, "{fixture}: {}", function.symbol);
            assert_eq!(item["is_external"], false, "{fixture}: {}", function.symbol);
        }
    });
}

#[test]
fn every_imported_function_is_listed_as_external_and_not_decompilable() {
    each(|fixture, truth, functions| {
        let external: Vec<_> =
            functions.iter().filter(|function| function["location"] == "external").collect();
        for import in truth.imports.iter().filter(|import| import.kind == "function") {
            let found = external.iter().any(|function| function["name"] == import.name.as_str());
            assert!(found, "{fixture}: {} is not listed", import.name);
        }
        for function in external {
            assert_eq!(function["is_external"], true, "{fixture}: {function}");
            assert_eq!(function["decompilable"], false, "{fixture}: {function}");
        }
    });
}

#[test]
fn every_true_thunk_names_its_target() {
    each(|fixture, truth, functions| {
        let listed = in_memory(functions);
        for thunk in &truth.thunks {
            let item = listed[&truth.entry_of(&thunk.symbol)];
            assert_eq!(item["is_thunk"], true, "{fixture}: {item}");
            assert_eq!(offset(&item["thunk_target_entry"]), truth.entry_of(&thunk.target), "{fixture}");
        }
        for function in functions.iter().filter(|function| function["is_thunk"] == false) {
            assert_eq!(function["thunk_target_entry"], Value::Null, "{fixture}: {function}");
        }
    });
}

#[test]
fn every_ambiguous_name_is_an_error_with_exactly_its_entries_as_candidates() {
    each(|fixture, truth, _| {
        if truth.symbols_of.is_some() {
            return;
        }
        for ambiguity in &truth.ambiguous {
            let path = fixtures::path(fixture);
            let arguments = ["decompile", path.to_str().unwrap(), "--name", &ambiguity.name];
            let error = shared::bubblewrap().run(arguments).error("function_selector_ambiguous", 1);
            let candidates = &error["details"]["candidates"];
            let items = candidates["items"].as_array().unwrap();
            let entries: Vec<u64> = items.iter().map(|item| offset(&item["entry"])).collect();
            let mut expected: Vec<u64> =
                ambiguity.entries.iter().map(|entry| truth.in_ghidra(*entry)).collect();
            expected.sort_unstable();
            assert_eq!(entries, expected, "{fixture}: {}", ambiguity.name);
            assert_eq!(candidates["total"], entries.len(), "{fixture}: {}", ambiguity.name);
            assert_eq!(candidates["has_more"], false, "{fixture}: {}", ambiguity.name);
        }
    });
}

#[test]
fn every_true_switch_has_its_cases_in_the_decompiled_text() {
    let mut checked = 0;
    for (fixture, entry, text) in decompiled("classify") {
        let truth = fixtures::truth(fixture).unwrap();
        let [switch] = truth.switches.as_slice() else { panic!("{fixture}: one switch") };
        assert_eq!(entry, truth.entry_of(&switch.symbol), "{fixture}");
        assert!(text.contains("switch("), "{fixture}: {text}");
        let cases = text.lines().filter(|line| line.trim_start().starts_with("case ")).count();
        assert_eq!(cases as u64, switch.cases, "{fixture}: {text}");
        checked += 1;
    }
    assert_eq!(checked, 12, "not every fixture with a switch");
}

#[test]
fn a_function_that_never_returns_has_no_return_in_its_text() {
    let mut checked = 0;
    for (fixture, entry, text) in decompiled("never_returns") {
        let truth = fixtures::truth(fixture).unwrap();
        let mut endless = truth.no_return.iter().map(|symbol| truth.entry_of(symbol));
        assert!(endless.any(|endless| endless == entry), "{fixture}");
        let endless = text.contains("do {") && text.contains("} while( true )");
        assert!(endless || text.contains("exit("), "{fixture}: {text}");
        let returns = text.lines().any(|line| line.trim_start().starts_with("return"));
        assert!(!returns, "{fixture}: {text}");
        checked += 1;
    }
    assert_eq!(checked, 5);
}

#[test]
fn recursion_is_visible_in_the_decompiled_text() {
    let truth = fixtures::truth("elf-x86_64-pie").unwrap();
    let [symbol] = truth.recursive.as_slice() else { panic!("one recursive function") };
    let document = shared::bubblewrap().decompiled("elf-x86_64-pie", ["--name", symbol]);
    let text = document["data"]["decompilation"]["text"].as_str().unwrap();
    assert!(text.matches(&format!("{symbol}(")).count() >= 2, "{text}");
}

/// Entry and decompiled text on all fixtures with a golden of this label.
fn decompiled(label: &str) -> impl Iterator<Item = (&'static str, u64, String)> {
    DECOMPILED.iter().filter(move |(_, of, _)| *of == label).map(|(fixture, _, selector)| {
        let document = shared::bubblewrap().decompiled(fixture, *selector);
        let text = document["data"]["decompilation"]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{fixture}: {document:#}")).to_owned();
        (*fixture, offset(&document["data"]["function"]["entry"]), text)
    })
}
