//! Damaged stored data is quarantined and rebuilt, at most once per command.

use std::path::{Path, PathBuf};

use crate::support::fake_engine::{World, grandchildren};

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    std::fs::write(path, bytes).unwrap();
}

fn quarantined(world: &World) -> usize {
    let profiles = grandchildren(&world.store().join("quarantine"));
    profiles.iter().map(|profile| std::fs::read_dir(profile).unwrap().count()).sum()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn every_file_a_facts_query_reads_is_verified_and_rebuilt() {
    let read_by_functions = ["manifest.json", "manifest.sha256", "profile.json", "facts/functions.jsonl"];
    let cases = read_by_functions
        .map(|name| ("functions", name))
        .into_iter()
        .chain([("inspect", "facts/program.json")]);
    for (command, name) in cases {
        let world = World::new();
        let intact = world.ask(command, &[]).success();
        flip(&world.analysis().join(name));
        let rebuilt = world.ask(command, &[]);
        let part = if command == "inspect" { "program" } else { "items" };
        assert_eq!(rebuilt.success()["data"][part], intact["data"][part], "{name}");
        assert!(
            rebuilt.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned()),
            "{name}: {rebuilt}"
        );
        assert_eq!((world.runs(), quarantined(&world)), (2, 1), "{name}");
        let again = world.ask("inspect", &[]);
        assert_eq!(again.success()["data"]["analysis"]["disposition"], "reused", "{name}");
    }
}

#[test]
fn inspect_says_that_it_rebuilt() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    flip(&world.analysis().join("facts/program.json"));
    assert_eq!(world.ask("inspect", &[]).success()["data"]["analysis"]["disposition"], "rebuilt");
}

#[test]
fn a_damaged_project_matters_to_the_query_that_opens_it() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    let project = world.analysis().join("project");
    let damaged = files(&project).into_iter().find(|path| path.ends_with("data")).unwrap();
    flip(&damaged);
    let facts = world.ask("inspect", &[]).success();
    assert_eq!(facts["data"]["analysis"]["disposition"], "reused", "facts queries do not read the project");
    let run = world.ask("decompile", &["--name", "main"]);
    assert!(run.success()["data"]["decompilation"]["text"].is_string());
    assert!(run.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned()), "{run}");
    assert_eq!(
        (world.operations(), quarantined(&world)),
        (vec!["analyze".to_owned(), "analyze".to_owned()], 1)
    );
}

#[test]
fn entries_that_do_not_belong_are_corruption() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 4] = [
        ("unexpected file", |analysis| std::fs::write(analysis.join("more"), "x").unwrap()),
        ("missing file", |analysis| std::fs::remove_file(analysis.join("facts/functions.jsonl")).unwrap()),
        ("link", |analysis| {
            let facts = analysis.join("facts/functions.jsonl");
            let aside = analysis.with_extension("aside");
            std::fs::rename(&facts, &aside).unwrap();
            std::os::unix::fs::symlink(&aside, &facts).unwrap();
        }),
        ("missing directory", |analysis| std::fs::remove_dir_all(analysis.join("facts")).unwrap()),
    ];
    for (what, damage) in damages {
        let world = World::new();
        world.ask("functions", &[]).success();
        damage(&world.analysis());
        let run = world.ask("functions", &[]);
        run.success();
        assert!(run.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned()), "{what}: {run}");
    }
}

#[test]
fn a_rebuild_that_fails_is_an_error_and_is_tried_once_per_command() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    flip(&world.analysis().join("profile.json"));
    world.next(|answer| {
        answer.fail("analysis_failed", serde_json::json!({"exception_class": "E", "reason": "r"}))
    });
    world.ask("inspect", &[]).error("analysis_failed", 1);
    assert_eq!((world.runs(), quarantined(&world), world.analyses().len()), (2, 1, 0));
    let next = world.ask("inspect", &[]).success();
    assert_eq!(next["data"]["analysis"]["disposition"], "created");
    flip(&world.analysis().join("profile.json"));
    world.ask("inspect", &[]).success();
    assert_eq!((world.runs(), quarantined(&world)), (4, 2));
}

#[test]
fn a_corrupt_store_outside_any_analysis_is_an_error_not_a_rebuild() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    let analyses = world.store().join("analyses");
    std::fs::rename(&analyses, world.path("moved")).unwrap();
    std::os::unix::fs::symlink(world.path("moved"), &analyses).unwrap();
    let error = world.ask("inspect", &[]).error("corrupt_analysis", 1);
    assert!(error["details"]["path"]["value"].as_str().unwrap().ends_with("analyses"), "{error}");
    assert_eq!(world.runs(), 1);
}

#[test]
fn corrupt_storage_outside_an_analysis_costs_no_analysis() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    std::fs::create_dir(world.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(world.path("elsewhere"), world.store().join("artifacts")).unwrap();
    let spilled = ["--all", "--max-inline-bytes", "2200"];
    let error = world.ask("functions", &spilled).error("corrupt_analysis", 1);
    assert!(error["details"]["path"]["value"].as_str().unwrap().ends_with("artifacts"), "{error}");
    assert_eq!((world.runs(), quarantined(&world)), (1, 0));
    std::fs::remove_file(world.store().join("artifacts")).unwrap();
    let answered = world.ask("functions", &spilled);
    assert_eq!(answered.success()["data"]["spilled"], true, "{answered}");
    assert_eq!(world.runs(), 1);
}
