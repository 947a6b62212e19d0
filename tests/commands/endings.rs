//! How a worker can end, and what the command makes of it.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

use ghidr::process::{EndedBy, Interrupts, Termination};
use serde_json::{Value, json};
use signal_hook::consts::SIGHUP;
use signal_hook::low_level::raise;

use crate::support::fake_answer::Answer;
use crate::support::fake_engine::{World, ends};

/// Every listener of the process hears a signal, so their tests take turns.
static SIGNALS: Mutex<()> = Mutex::new(());

/// Runs `inspect` on a worker that ends so, and checks that nothing of it is kept but a log.
fn ended(edit: impl FnOnce(&mut Answer) + 'static, code: &str, status: i32) -> Value {
    let world = World::new();
    world.next(|answer| {
        answer.progress = Some("analysis\tStack\n");
        answer.stderr = b"what it said last".to_vec();
        edit(answer);
    });
    let error = world.ask("inspect", &[]).error(code, status);
    assert!(world.analyses().is_empty(), "{code}");
    assert_eq!(world.diagnostics().len(), 1, "{code}");
    assert!(error["diagnostic_log"]["sensitive"].as_bool().unwrap(), "{code}");
    let again = world.ask("inspect", &[]).success();
    assert_eq!(again["data"]["analysis"]["disposition"], "created", "{code}: the next command just works");
    error
}

#[test]
fn the_watchdog_is_a_timeout_that_names_what_was_running() {
    let error = ended(ends(EndedBy::Watchdog), "watchdog_timeout", 124);
    let expected = json!({
        "watchdog_seconds": 720, "termination": "graceful", "progress": {"phase": "analysis", "analyzer": "Stack"}
    });
    assert_eq!(error["details"], expected);
    let forced = |answer: &mut Answer| {
        ends(EndedBy::Watchdog)(answer);
        answer.termination = Some(Termination::Forced);
    };
    assert_eq!(ended(forced, "watchdog_timeout", 124)["details"]["termination"], "forced");
}

#[test]
fn limits_say_which_flag_to_raise_and_to_what() {
    let heap = ended(|answer| answer.status = Some(3), "java_heap_exhausted", 1);
    assert_eq!(heap["details"]["raise"], json!({"flag": "--max-heap-mib", "next_value": 4096}));
    assert_eq!(heap["details"]["progress"]["analyzer"], "Stack");
    let memory = ended(ends(EndedBy::MemoryLimit { observed_bytes: 1 }), "memory_limit_exceeded", 1);
    assert_eq!(memory["details"]["raise"], json!({"flag": "--max-memory-mib", "next_value": 8192}));
    let disk = ended(ends(EndedBy::DiskQuota { observed_bytes: 1 }), "disk_quota_exceeded", 1);
    assert!(disk["details"]["limit_bytes"].as_u64().unwrap() > 0);
    let tasks = ended(ends(EndedBy::TaskLimit { observed_tasks: 1 }), "task_limit_exceeded", 1);
    assert_eq!(tasks["details"], json!({"limit_tasks": 1024}));
    let timeout = ended(
        |answer| answer.fail("analysis_timeout", json!({"timeout_seconds": 600, "analyzer": "DWARF"})),
        "analysis_timeout",
        124,
    );
    assert_eq!(
        timeout["details"]["raise"],
        json!({"flag": "--analysis-timeout-seconds", "next_value": 1200})
    );
    assert_eq!(timeout["details"]["progress"]["analyzer"], "DWARF");
}

#[test]
fn a_worker_that_dies_or_leaves_nothing_is_a_failure() {
    for (status, ending) in [(Some(139), "SIGSEGV"), (Some(2), "exit status 2"), (None, "unknown")] {
        let error = ended(move |answer| answer.status = status, "worker_failed", 1);
        assert!(error["details"]["ending"].as_str().unwrap().contains(ending), "{error}");
    }
    ended(|answer| answer.outcome = None, "protocol_violation", 1);
}

/// Even a complete response of a cancelled worker is not looked at.
#[test]
fn no_promotion_after_cancel_while_the_worker_runs() {
    let error = ended(ends(EndedBy::Interrupted { signal: 2 }), "interrupted", 130);
    assert_eq!(error["details"], json!({"signal": "SIGINT", "termination": "graceful"}));
}

#[test]
fn an_interrupted_doctor_says_so_and_blames_no_component() {
    let world = World::new();
    world.next(ends(EndedBy::Interrupted { signal: 15 }));
    let error = world.run(["doctor"]).error("interrupted", 130);
    assert_eq!(error["details"], json!({"signal": "SIGTERM", "termination": "graceful"}));
}

/// The wish comes after the worker finished and before anything is published.
#[test]
fn no_promotion_after_cancel_between_response_and_rename() {
    let _turn = SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut world = World::new();
    world.interrupts = Interrupts::install().unwrap();
    world.next(|_| raise(SIGHUP).unwrap());
    let error = world.ask("inspect", &[]).error("interrupted", 130);
    assert_eq!(error["details"], json!({"signal": "SIGHUP", "termination": null}));
    assert!(world.analyses().is_empty());
    world.interrupts = Interrupts::none();
    assert_eq!(world.ask("inspect", &[]).success()["data"]["analysis"]["disposition"], "created");
}

#[test]
fn no_success_after_interrupt_of_a_cached_query() {
    let _turn = SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut world = World::new();
    world.ask("inspect", &[]).success();
    world.interrupts = Interrupts::install().unwrap();
    raise(SIGHUP).unwrap();
    for arguments in [&["functions"][..], &["inspect"]] {
        world.ask(arguments[0], &[]).error("interrupted", 130);
    }
}

#[test]
fn a_query_that_fails_in_the_analyzing_worker_keeps_the_analysis_and_its_log() {
    let entry = json!({"space": "ram", "offset": "0x0000000000001080"});
    let cases = [
        ("decompile_timeout", 124, json!({"timeout_seconds": 60, "entry": entry})),
        ("decompile_failed", 1, json!({"entry": entry, "reason": "r"})),
        ("result_too_large", 1, json!({"limit_bytes": 9, "observed_at_least_bytes": 10})),
    ];
    for (code, status, details) in cases {
        let world = World::new();
        world.next(move |answer| answer.fail_query(code, details));
        let error = world.ask("decompile", &["--name", "main"]).error(code, status);
        assert!(error.get("diagnostic_log").is_some(), "{code}");
        assert!(error["details"].get("text").is_none(), "{code}");
        assert_eq!(
            world.ask("inspect", &[]).success()["data"]["analysis"]["disposition"],
            "reused",
            "{code}"
        );
    }
}

#[test]
fn a_decompiler_timeout_names_the_next_value() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    world.next(|answer| {
        let entry = json!({"space": "ram", "offset": "0x0000000000001080"});
        answer.fail("decompile_timeout", json!({"timeout_seconds": 60, "entry": entry}));
    });
    let error = world.ask("decompile", &["--name", "main"]).error("decompile_timeout", 124);
    assert_eq!(error["details"]["raise"], json!({"flag": "--decompile-timeout-seconds", "next_value": 120}));
}

/// As under `nohup`, or in the background of a shell.
#[test]
fn these_tests_hold_in_a_run_that_ignores_the_signals() {
    for test in [
        "commands::endings::no_success_after_interrupt_of_a_cached_query",
        "cli::batches::an_interrupt_ends_the_waiting_for_queries",
    ] {
        let mut deaf = Command::new("sh");
        deaf.args(["-c", "trap '' HUP INT QUIT; exec \"$0\" --exact \"$1\""]);
        let run = deaf.arg(std::env::current_exe().unwrap()).arg(test).output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        let passed = run.status.success() && said.contains("1 passed");
        assert!(passed, "{test}: {}: {said}{}", run.status, String::from_utf8_lossy(&run.stderr));
    }
}
