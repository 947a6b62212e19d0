//! `store list`: what is kept, page by page, without a worker and without a change.

use serde_json::{Value, json};

use crate::support::fake_engine::World;
use crate::support::ghidr::Run;
use crate::support::tree;

fn list(world: &World, arguments: &[&str]) -> Run {
    world.run([&["store", "list"], arguments].concat())
}

/// Analyzes `count` Samples and gives their digests, ascending.
fn analyze(world: &World, count: usize) -> Vec<String> {
    let mut digests: Vec<String> = (0..count)
        .map(|number| {
            let path = world.write_sample(number.to_string(), format!("sample {number}").as_bytes());
            world.run(["inspect", path.to_str().unwrap()]).success();
            tree::sha256(&path)
        })
        .collect();
    digests.sort();
    digests
}

fn digests(document: &Value) -> Vec<&str> {
    let items = document["data"]["items"].as_array().unwrap();
    items.iter().map(|item| item["sample_sha256"].as_str().unwrap()).collect()
}

#[test]
fn nothing_stored_is_an_empty_list_and_makes_no_store() {
    let world = World::new();
    let document = list(&world, &[]).success();
    assert_eq!((document["kind"].as_str(), &document["data"]["items"]), (Some("store_list"), &json!([])));
    assert_eq!(document["data"]["page"]["total"], 0);
    list(&world, &["--max-inline-bytes", "10"]).error("inline_budget_too_small", 1);
    assert!(!world.store().exists());
}

#[test]
fn an_entry_tells_what_is_kept_of_its_sample() {
    let world = World::new();
    let inspected = world.ask("inspect", &[]).success();
    world.ask("inspect", &["--max-cpu", "1"]).success();
    world.ask("functions", &["--all", "--max-inline-bytes", "1800"]).success();
    world.next(|answer| answer.fail("analysis_failed", json!({"exception_class": "E", "reason": "r"})));
    world.ask("inspect", &["--max-cpu", "3"]).error("analysis_failed", 1);
    let runs = world.runs();
    let before = tree::state(&world.store());
    let document = list(&world, &[]).success();
    assert_eq!((tree::state(&world.store()), world.runs()), (before, runs), "it only reads");
    let item = &document["data"]["items"][0];
    assert_eq!(item["sample_sha256"], inspected["data"]["sample"]["sha256"]);
    assert_eq!(item["sample_size_bytes"], inspected["data"]["sample"]["size_bytes"]);
    assert_eq!((&item["artifacts"], &item["diagnostic_logs"]), (&json!(1), &json!(1)));
    let analyses = item["analyses"].as_array().unwrap();
    let cpus: Vec<_> = analyses.iter().map(|analysis| &analysis["manifest"]["max_cpu"]).collect();
    assert!(cpus.len() == 2 && cpus.contains(&&json!(1)) && cpus.contains(&&json!(2)), "{cpus:?}");
    let same = &inspected["provenance"]["analysis_profile_sha256"];
    let analysis = analyses.iter().find(|analysis| analysis["analysis_profile_sha256"] == *same).unwrap();
    let manifest = &analysis["manifest"];
    assert_eq!((&manifest["ghidra_version"], &manifest["java_version"]), (&json!("10.3"), &json!("17")));
    assert_eq!(manifest["created_at"], "1970-01-01T00:00:00Z");
    let target = &inspected["provenance"]["target"];
    for name in ["loader", "format", "processor_language", "compiler_specification"] {
        assert_eq!(manifest["target"][name], target[name]);
    }
    let dry = world.ask("clean", &["--dry-run"]).success();
    assert_eq!(item["usage"], dry["data"]["matched"]["usage"], "usage is what cleaning would free");
    let text = document.to_string();
    assert!(!text.contains("samples/sample"), "no path of a sample is kept: {text}");
}

#[test]
fn pages_are_cut_from_one_order() {
    let world = World::new();
    let expected = analyze(&world, 5);
    let all = list(&world, &["--all"]).success();
    assert_eq!(digests(&all), expected);
    assert_eq!(all["data"]["page"]["limit"], json!(null));
    let page = list(&world, &["--limit", "2", "--offset", "1"]).success();
    assert_eq!(digests(&page), expected[1..3]);
    let described = json!({
        "order": "sample_sha256_ascending", "offset": 1, "limit": 2, "returned": 2, "total": 5, "has_more": true
    });
    assert_eq!(page["data"]["page"], described);
    let past = list(&world, &["--offset", "9"]).success();
    assert_eq!((digests(&past).len(), past["data"]["page"]["total"].as_u64()), (0, Some(5)));
    list(&world, &["--all", "--limit", "1"]).error("invalid_arguments", 2);
    let spilled = list(&world, &["--all", "--max-inline-bytes", "1500"]).success();
    assert_eq!(spilled["data"]["spilled"], true);
    assert_eq!(list(&world, &["--limit", "1"]).success()["data"]["global"]["artifacts"], 1);
}

#[test]
fn a_damaged_analysis_is_listed_and_hides_no_other_sample() {
    let world = World::new();
    let digests = analyze(&world, 2);
    let damaged = world.store().join("analyses").join(&digests[0]);
    let profile = tree::names(&damaged).remove(0);
    tree::flip_byte(&damaged.join(profile).join("manifest.json"));
    std::fs::create_dir_all(world.store().join("quarantine").join("0".repeat(64))).unwrap();
    let document = list(&world, &[]).success();
    let items = document["data"]["items"].as_array().unwrap();
    assert_eq!(items.len(), 3, "whatever has a directory is listed");
    assert_eq!((&items[0]["analyses"], &items[0]["sample_size_bytes"]), (&json!([]), &json!(null)));
    let analysis = &items[1]["analyses"][0];
    assert_eq!((&analysis["status"], &items[1]["sample_size_bytes"]), (&json!("corrupt"), &json!(null)));
    assert_eq!(analysis["problem"], "manifest.json: does not match manifest.sha256");
    assert_eq!(items[2]["analyses"][0]["status"], "complete");
}

#[test]
fn people_get_a_table() {
    let world = World::new();
    let text = |arguments: &[&str]| {
        let run = world.run_unframed([&["--format", "human", "store", "list"], arguments].concat());
        assert_eq!(run.status, Some(0), "{run}");
        String::from_utf8(run.stdout).unwrap()
    };
    assert_eq!(text(&[]), "nothing is stored about any sample\n");
    let digests = analyze(&world, 2);
    let table = text(&["--limit", "1"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("SHA-256") && lines[1].starts_with(&digests[0]), "{table}");
    assert!(lines[1].contains("Ghidra 10.3, Java 17") && lines[1].contains("1970-01-01"), "{table}");
    assert_eq!(lines[2], "1 of 2 samples shown; more: --offset 1, or --all");
}
