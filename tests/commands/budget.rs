//! The inline budget: exact, inclusive, and spilling is complete or nothing.

use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::support::fake_engine::{World, grandchildren};
use crate::support::ghidr::Run;

fn artifacts(world: &World) -> Vec<PathBuf> {
    let artifacts = grandchildren(&world.store().join("artifacts"));
    artifacts
        .iter()
        .flat_map(|scope| std::fs::read_dir(scope).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect()
}

fn with_budget(world: &World, command: &str, selector: &[&str], bytes: u64) -> Run {
    let bytes = bytes.to_string();
    world.ask(command, &[selector, &["--max-inline-bytes", &bytes]].concat())
}

fn required(run: &Run) -> u64 {
    run.error("inline_budget_too_small", 1)["details"]["required_bytes"].as_u64().unwrap()
}

#[test]
fn a_document_of_exactly_the_budget_is_inline_and_one_byte_less_spills() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    let inline = world.ask("functions", &["--all"]);
    let size = inline.stdout.len() as u64;
    assert_eq!(with_budget(&world, "functions", &["--all"], size).stdout, inline.stdout);
    let spilled = with_budget(&world, "functions", &["--all"], size - 1);
    let data = spilled.success()["data"].clone();
    assert_eq!(data["spilled"], true);
    assert!((spilled.stdout.len() as u64) < size);
    let path = PathBuf::from(data["artifact"]["path"]["value"].as_str().unwrap());
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes, inline.stdout, "the Artifact is the document that did not fit");
    assert_eq!(data["artifact"]["bytes"], size);
    let digest = hex::encode(Sha256::digest(&bytes));
    assert_eq!(data["artifact"]["sha256"], digest.as_str());
    assert_eq!(path.file_name().unwrap().to_str().unwrap(), format!("{digest}.json"));
    assert_eq!(artifacts(&world), [path]);
}

#[test]
fn required_bytes_is_exactly_what_a_repetition_needs() {
    for (command, selector) in
        [("inspect", &[][..]), ("functions", &["--all"]), ("decompile", &["--name", "main"])]
    {
        // The first refusal comes from a command that made the Analysis, the second from one that found it.
        let world = World::new();
        let first = required(&with_budget(&world, command, selector, 1));
        assert_eq!(required(&with_budget(&world, command, selector, 1)), first, "{command}");
        assert_eq!(required(&with_budget(&world, command, selector, first - 1)), first, "{command}");
        assert!(artifacts(&world).is_empty(), "a refused budget publishes nothing");
        let fits = with_budget(&world, command, selector, first);
        fits.success();
        assert_eq!(fits.stdout.len() as u64, first, "{command}");
    }
}

#[test]
fn a_damaged_artifact_of_the_same_name_is_replaced_before_it_is_referenced() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    let size = world.ask("functions", &["--all"]).stdout.len() as u64 - 1;
    let first = with_budget(&world, "functions", &["--all"], size);
    let artifact = artifacts(&world).remove(0);
    let intact = std::fs::read(&artifact).unwrap();
    let mut damaged = intact.clone();
    damaged[10] ^= 1;
    std::fs::write(&artifact, damaged).unwrap();
    assert_eq!(with_budget(&world, "functions", &["--all"], size).stdout, first.stdout);
    assert_eq!(std::fs::read(&artifact).unwrap(), intact);
}

#[test]
fn doctor_keeps_the_budget_too() {
    let world = World::new();
    let budget = |bytes: u64| world.run(["doctor".to_owned(), format!("--max-inline-bytes={bytes}")]);
    let needed = required(&budget(1));
    assert!(budget(needed).stdout.len() as u64 <= needed);
    assert_eq!(required(&budget(needed - 1)), needed);
    let document: Value = budget(65_536).success();
    assert_eq!(document["data"]["ready"], true);
}

#[test]
fn human_format_names_the_artifact() {
    let world = World::new();
    let inline = world.ask("functions", &["--all"]).stdout.len().to_string();
    let inline = (inline.parse::<u64>().unwrap() - 5).to_string();
    let sample = world.sample().to_str().unwrap().to_owned();
    let arguments = ["--format", "human", "functions", &sample, "--all", "--max-inline-bytes", &inline];
    let run = world.run_unframed(arguments);
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status, Some(0), "{text}");
    let path = artifacts(&world).remove(0);
    for part in ["Artifact: ", path.to_str().unwrap(), "Size: ", "SHA-256: "] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let enough = text.trim_end().rsplit(' ').next().unwrap();
    let run = world.run_unframed([
        "--format",
        "human",
        "functions",
        &sample,
        "--all",
        "--max-inline-bytes",
        enough,
    ]);
    let shown = String::from_utf8(run.stdout).unwrap();
    assert!(shown.starts_with("ADDRESS"), "the flag that the text ends with is enough: {text}{shown}");
}
