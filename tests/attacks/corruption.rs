//! Corruption met more than once, and a link in the place of a directory of the store.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::fake_engine::grandchildren;
use crate::support::fake_process::Processes;
use crate::support::tree;

fn quarantined(processes: &Processes) -> usize {
    let profiles = grandchildren(&processes.world.store().join("quarantine"));
    profiles.iter().map(|profile| tree::names(profile).len()).sum()
}

fn damaged() -> Processes {
    let processes = Processes::new();
    processes.ask("inspect", &[]).success();
    tree::flip_byte(&processes.world.analysis().join("facts/program.json"));
    processes
}

#[test]
fn a_second_fault_in_the_rebuild_is_a_structured_failure() {
    let more = json!({"do": "file", "path": "project/more", "how": {"replaced": "x"}});
    let faults = [
        (json!([{"do": "exit", "status": 0}]), "protocol_violation"),
        (json!([{"do": "answer"}, {"do": "exit", "status": 9}]), "worker_failed"),
        (json!([{"do": "answer"}, more, {"do": "exit", "status": 0}]), "protocol_violation"),
        (json!([{"do": "response", "at": "/outcome", "how": "removed"}]), "protocol_violation"),
    ];
    for (steps, code) in faults {
        let processes = damaged();
        processes.script(&steps);
        processes.ask("inspect", &[]).error(code, 1);
        assert_eq!(quarantined(&processes), 1, "{code}");
        processes.assert_no_analysis();
        processes.script(&json!([]));
        let next = processes.ask("inspect", &[]);
        assert_eq!(next.success()["data"]["analysis"]["disposition"], "created", "{next}");
        assert!(!next.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned()), "{next}");
    }
}

/// Damaged data appears in the place of the rebuilt Analysis before it is published.
#[test]
fn one_command_leaves_two_quarantine_entries_at_most() {
    let plants: [fn(&Path) -> Value; 2] = [
        |analysis| json!([{"do": "plant", "path": analysis.join("manifest.json"), "text": "{}"}]),
        |analysis| json!([{"do": "plant", "path": analysis, "text": "a file"}]),
    ];
    for plant in plants {
        let processes = damaged();
        let analysis = processes.world.analysis();
        processes.script(&plant(&analysis));
        let run = processes.ask("inspect", &[]);
        assert_eq!(run.success()["data"]["analysis"]["disposition"], "rebuilt", "{run}");
        assert_eq!(quarantined(&processes), 2, "{run}");
        processes.script(&json!([]));
        assert_eq!(processes.ask("inspect", &[]).success()["data"]["analysis"]["disposition"], "reused");
    }
}

#[test]
fn a_store_whose_analyses_lead_elsewhere_is_corrupt_and_not_rebuilt() {
    let processes = Processes::new();
    processes.ask("inspect", &[]).success();
    let analyses = processes.world.store().join("analyses");
    std::fs::rename(&analyses, processes.world.path("moved")).unwrap();
    symlink(processes.world.path("moved"), &analyses).unwrap();
    let before = tree::state(&processes.world.path("moved"));
    let error = processes.ask("inspect", &[]).error("corrupt_analysis", 1);
    assert!(error["details"]["path"]["value"].as_str().unwrap().ends_with("analyses"), "{error}");
    assert_eq!(tree::state(&processes.world.path("moved")), before);
}

/// A directory of the same file system, so that no device number tells it from the store's own.
#[test]
fn what_is_mounted_inside_the_store_is_neither_emptied_nor_taken_for_an_analysis() {
    let processes = Processes::new();
    processes.ask("functions", &["--all", "--max-inline-bytes", "2200"]).success();
    let foreign = processes.world.path("foreign");
    for area in ["artifacts", "staging", "analyses/SAMPLE"] {
        std::fs::create_dir_all(foreign.join("inner")).unwrap();
        std::fs::write(foreign.join("inner/precious"), "x").unwrap();
        let sample = tree::names(&processes.world.store().join("analyses")).remove(0);
        let place = processes.world.store().join(area.replace("SAMPLE", &sample));
        let command = processes.command(["clean", "--all", "--yes"]);
        let mut mounted = Command::new("/usr/bin/unshare");
        mounted.args(["--map-root-user", "--mount", "/bin/sh", "-c"]);
        mounted
            .arg("mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"")
            .arg("sh")
            .arg(&foreign)
            .arg(place);
        mounted.arg(command.get_program()).args(command.get_args()).env_clear().env("PATH", "/usr/bin:/bin");
        mounted.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let run = processes.ended(mounted.output().expect("unshare of util-linux").into());
        assert_eq!(run.status, Some(1), "{area}: {run}");
        assert_eq!(std::fs::read(foreign.join("inner/precious")).unwrap(), b"x", "{area}: {run}");
        processes.ask("functions", &["--all", "--max-inline-bytes", "2200"]).success();
    }
    processes.ended(processes.command(["clean", "--all", "--yes"]).output().unwrap().into()).success();
}
