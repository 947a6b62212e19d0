//! The statuses of `doctor`, one by one for each component, while everything else stays as it was.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::codes::with_bubblewrap;
use crate::support::fake_process::Processes;
use crate::support::ghidr::Run;
use crate::support::tree;

const COMPONENTS: [&str; 4] = ["ghidra", "java", "analysis_store", "sandbox"];

/// `component` alone has `status`. Without a usable engine and store there is nothing to prove the sandbox with.
fn only(run: &Run, component: &str, status: &str, is_probed: bool) {
    let report = run.error("doctor_failed", 1)["details"]["report"].clone();
    assert_eq!(report["ready"], false);
    for other in COMPONENTS {
        let expected = match other {
            _ if other == component => status,
            "sandbox" if !is_probed => "invalid",
            _ => "ready",
        };
        let found = &report["components"][other];
        assert_eq!(found["status"], expected, "{other}: {run}");
        assert_eq!(found["problem"].is_null(), expected == "ready", "{other}: {run}");
    }
}

fn doctor(processes: &Processes, flags: &[&str]) -> Run {
    processes.ended(processes.command(["doctor"]).args(flags).output().unwrap().into())
}

#[test]
fn everything_is_ready() {
    let processes = Processes::new();
    let document = doctor(&processes, &[]).success();
    for component in COMPONENTS {
        assert_eq!(document["data"]["components"][component]["status"], "ready", "{document:#}");
    }
    assert_eq!(tree::names(&processes.world.store().join("analyses")), Vec::<String>::new());
}

#[test]
fn ghidra_is_missing_or_invalid() {
    let processes = Processes::new();
    // The JDK is otherwise the bundle's, which belongs to the bundle's Ghidra.
    let (jdk, empty) = (processes.world.path("jdk"), processes.world.path("home"));
    for (place, status) in [("/nonexistent", "missing"), (empty.to_str().unwrap(), "invalid")] {
        let flags = ["--ghidra", place, "--java-home", jdk.to_str().unwrap()];
        only(&doctor(&processes, &flags), "ghidra", status, false);
    }
    processes.script(&json!([{"do": "outcome", "at": "/probe/native_decompiler", "value": false}]));
    only(&doctor(&processes, &[]), "ghidra", "invalid", true);
}

#[test]
fn java_is_missing_incompatible_or_invalid() {
    let processes = Processes::new();
    only(&doctor(&processes, &["--java-home", "/nonexistent"]), "java", "missing", false);
    let release = processes.world.path("jdk/release");
    let text = std::fs::read_to_string(&release).unwrap();
    std::fs::write(&release, text.replace("17.0.1", "11.0.2")).unwrap();
    only(&doctor(&processes, &[]), "java", "incompatible", false);
    std::fs::write(&release, text).unwrap();
    processes.script(&json!([{"do": "outcome", "at": "/probe/java_compiler", "value": false}]));
    only(&doctor(&processes, &[]), "java", "incompatible", true);
    processes.script(&json!([{"do": "outcome", "at": "/probe/java_version", "value": "21"}]));
    only(&doctor(&processes, &[]), "java", "invalid", true);
}

#[test]
fn the_store_is_unwritable_or_invalid() {
    let processes = Processes::new();
    only(&doctor(&processes, &["--store", "/sys/store"]), "analysis_store", "unwritable", false);
    let foreign = processes.world.path("samples");
    only(&doctor(&processes, &["--store", foreign.to_str().unwrap()]), "analysis_store", "invalid", false);
}

#[test]
fn the_sandbox_is_missing_or_invalid() {
    let processes = Processes::new().in_mode("bubblewrap");
    let command: Command = processes.command(["doctor"]);
    only(&with_bubblewrap(&processes, &command, Path::new("/dev/null")), "sandbox", "missing", true);
    let processes = Processes::new();
    processes.script(&json!([{"do": "outcome", "at": "/probe/fonts", "value": false}]));
    only(&doctor(&processes, &[]), "sandbox", "invalid", true);
}

/// The inline budget holds for `doctor` as for every success.
#[test]
fn a_report_above_the_budget_becomes_a_global_artifact() {
    let processes = Processes::new();
    let whole = doctor(&processes, &[]);
    let size = whole.stdout.len();
    let run = doctor(&processes, &["--max-inline-bytes", &(size - 1).to_string()]);
    let spilled: Value = run.success();
    assert_eq!((&spilled["kind"], &spilled["data"]["spilled"]), (&"doctor_report".into(), &true.into()));
    let path = spilled["data"]["artifact"]["path"]["value"].as_str().unwrap();
    assert!(path.contains("/artifacts/global/"), "{path}");
    let kept: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(kept["data"]["components"]["ghidra"], whole.success()["data"]["components"]["ghidra"]);
    doctor(&processes, &["--max-inline-bytes", "10"]).error("inline_budget_too_small", 1);
}
