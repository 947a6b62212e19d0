//! Every failure a worker can report, as the caller sees it.

use serde_json::{Value, json};

use crate::support::fake_engine::World;
use crate::support::ghidr::Run;

/// The error that `inspect` makes of a worker's failure.
fn reported(worker_code: &'static str, details: Value, code: &str, status: i32) -> Value {
    let world = World::new();
    world.next(move |answer| answer.fail(worker_code, details));
    let error = world.ask("inspect", &[]).error(code, status);
    assert!(world.analyses().is_empty() && world.diagnostics().len() == 1, "{worker_code}");
    error
}

#[test]
fn an_ambiguous_target_names_bounded_candidates() {
    let candidate = |language: &str| json!({"loader": "L", "processor_language": language, "compiler_specification": "gcc"});
    let candidates = json!({"items": [candidate("a"), candidate("b")], "total": 2, "has_more": false});
    let error = reported("ambiguous_target", json!({"candidates": candidates}), "ambiguous_target", 1);
    assert_eq!(error["details"]["candidates"], candidates);
}

#[test]
fn containers_and_unsupported_files_say_what_was_recognised() {
    let members = json!({"items": ["a.o", "b.o"], "total": 2, "has_more": false});
    let container =
        reported("container_sample", json!({"format": "ar", "members": members}), "container_sample", 1);
    assert_eq!(container["details"]["members"]["items"], json!(["a.o", "b.o"]));
    let refused = json!({"loaders": ["GZF Input Format"], "recognised_format": null});
    assert_eq!(reported("unsupported_target", refused.clone(), "unsupported_target", 1)["details"], refused);
    let foreign = json!({"loaders": [], "recognised_format": "ELF"});
    let foreign = reported("unsupported_target", foreign, "unsupported_target", 1);
    assert!(foreign["message"].as_str().unwrap().contains("the format is recognised (ELF)"), "{foreign}");
}

#[test]
fn failures_of_import_analysis_and_saving_are_told_apart() {
    assert_eq!(
        reported("import_failed", json!({"reason": "r"}), "import_failed", 1)["details"]["reason"],
        "r"
    );
    let analysis = json!({"exception_class": "E", "reason": "r"});
    assert_eq!(reported("analysis_failed", analysis.clone(), "analysis_failed", 1)["details"], analysis);
    let saving = reported("save_failed", json!({"reason": "disk full"}), "analysis_failed", 1);
    assert_eq!(saving["details"]["reason"], "disk full");
    let engine = json!({"component": "native", "reason": "r"});
    assert_eq!(reported("engine_unusable", engine.clone(), "engine_unusable", 1)["details"], engine);
    let facts = reported("facts_too_large", json!({"limit_bytes": 5}), "result_too_large", 1);
    assert_eq!(facts["details"]["limit_bytes"], 5);
    let refused =
        reported("request_rejected", json!({"field": "grants", "reason": "r"}), "protocol_violation", 1);
    assert_eq!(refused["details"]["field"], "grants");
}

#[test]
fn a_project_that_ghidra_cannot_open_is_the_engines_failure() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    world.next(|answer| answer.fail("project_unusable", json!({"reason": "r"})));
    let error = world.ask("decompile", &["--name", "main"]).error("engine_unusable", 1);
    assert_eq!(error["details"]["component"], "project");
}

#[test]
fn doctor_finishes_with_the_component_to_blame() {
    let cases = [
        ("/probe/java_compiler", json!(false), "java", "incompatible"),
        ("/probe/java_version", json!("21"), "java", "invalid"),
        ("/probe/native_decompiler", json!(false), "ghidra", "invalid"),
        ("/probe/ghidra_version", json!("11"), "ghidra", "invalid"),
        ("/probe/fonts", json!(false), "sandbox", "invalid"),
    ];
    for (pointer, value, component, status) in cases {
        let world = World::new();
        world.next(move |answer| *answer.outcome_at(pointer) = value);
        let error = world.run(["doctor"]).error("doctor_failed", 1);
        let components = &error["details"]["report"]["components"];
        assert_eq!(components[component]["status"], status, "{pointer}: {components}");
        assert!(components[component]["problem"].is_string());
        let others = ["ghidra", "java", "analysis_store", "sandbox"];
        for other in others.iter().filter(|other| **other != component) {
            assert_eq!(components[other]["status"], "ready", "{pointer}: {components}");
        }
        assert!(world.analyses().is_empty());
    }
}

#[test]
fn doctor_keeps_a_global_log_of_a_worker_that_fails() {
    let world = World::new();
    world.next(|answer| answer.status = Some(1));
    let error = world.run(["doctor"]).error("doctor_failed", 1);
    assert!(error["diagnostic_log"]["path"]["value"].as_str().unwrap().contains("/diagnostics/global/"));
    assert_eq!(error["details"]["report"]["components"]["ghidra"]["status"], "invalid");
}

/// A failure says under which limits it came, and which watchdog the worker had that it is about.
#[test]
fn a_failure_of_a_query_carries_its_limits() {
    let world = World::new();
    let limits = |run: Run| run.document()["provenance"]["limits"].clone();
    let cold = limits(world.ask("decompile", &["--name", "nothing", "--max-heap-mib", "300"]));
    assert_eq!((&cold["max_heap_mib"], &cold["decompile_timeout_seconds"]), (&json!(300), &json!(60)));
    assert_eq!(cold["child_watchdog_seconds"], 780);
    let warm = limits(world.ask("decompile", &["--name", "nothing"]));
    assert_eq!(warm["child_watchdog_seconds"], json!(null), "no worker ran");
    world.next(|answer| answer.status = Some(1));
    let batch = world.ask("batch", &["--decompile-all", "--batch-timeout-seconds", "7", "--max-cpu", "2"]);
    assert_eq!(limits(batch)["batch_timeout_seconds"], 7);
    let facts = limits(world.ask("inspect", &["--max-inline-bytes", "10"]));
    assert_eq!(facts["decompile_timeout_seconds"], json!(null));
    assert_eq!(limits(world.run(["doctor", "--no-such-flag"])), json!(null));
}
