//! Codes that only a misbehaving worker, or a machine that fails at the wrong moment, can cause.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::fake_process::Processes;
use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::wait_for;
use crate::support::shell;
use crate::support::tree;

/// `inspect` on a worker that fails so.
fn failed(worker_code: &str, details: &Value) -> Processes {
    let processes = Processes::new();
    processes.script(&json!([{"do": "fail", "code": worker_code, "details": details}]));
    processes
}

#[test]
fn what_the_worker_reports_is_what_the_caller_reads() {
    let reason = json!({"reason": "r"});
    let cases = [
        ("import_failed", reason.clone(), "import_failed"),
        ("analysis_failed", json!({"exception_class": "E", "reason": "r"}), "analysis_failed"),
        ("save_failed", reason, "analysis_failed"),
        ("engine_unusable", json!({"component": "native", "reason": "r"}), "engine_unusable"),
        ("facts_too_large", json!({"limit_bytes": 5}), "result_too_large"),
        ("request_rejected", json!({"field": "grants", "reason": "r"}), "protocol_violation"),
    ];
    for (worker_code, details, code) in cases {
        let processes = failed(worker_code, &details);
        let error = processes.ask("inspect", &[]).error(code, 1);
        assert!(error["diagnostic_log"]["sensitive"].as_bool().unwrap(), "{error}");
        processes.assert_no_analysis();
    }
}

#[test]
fn a_query_that_fails_is_an_error_and_its_analysis_stays() {
    let entry = json!({"space": "ram", "offset": "0x0000000000001080"});
    let cases = [
        ("decompile_failed", json!({"entry": entry, "reason": "r"}), 1),
        ("decompile_timeout", json!({"timeout_seconds": 60, "entry": entry}), 124),
    ];
    for (code, details, status) in cases {
        let processes = Processes::new();
        processes.script(&json!([{"do": "fail_query", "code": code, "details": details}]));
        processes.ask("decompile", &["--name", "main"]).error(code, status);
        assert_eq!(processes.ask("inspect", &[]).success()["data"]["analysis"]["disposition"], "reused");
    }
}

#[test]
fn memory_and_disk_are_bounded_while_the_worker_runs() {
    let processes = Processes::new();
    processes.script(&json!([{"do": "allocate", "mib": 300}]));
    let error = processes.ask("inspect", &["--max-memory-mib", "100"]).error("memory_limit_exceeded", 1);
    assert_eq!(error["details"]["max_memory_mib"], 100);
    processes.assert_no_analysis();

    let processes = Processes::new().with("FAKE_DISK_QUOTA_BYTES", 8 << 20);
    processes.script(&json!([{"do": "fill", "mib": 16}]));
    processes.ask("inspect", &[]).error("disk_quota_exceeded", 1);
    processes.assert_no_analysis();
}

#[test]
fn processes_and_threads_are_bounded_while_the_worker_runs() {
    for mode in ["bubblewrap", "off"] {
        let processes = Processes::new().in_mode(mode);
        processes.script(&json!([{"do": "start_threads", "threads": 1_100}]));
        let error = processes.ask("inspect", &[]).error("task_limit_exceeded", 1);
        assert_eq!(error["details"], json!({"limit_tasks": 1024}), "{mode}");
        processes.assert_no_analysis();
    }
}

#[test]
fn a_store_without_room_or_of_an_impossible_name_is_refused_before_any_worker() {
    let processes = Processes::new().with("FAKE_RESERVE_BYTES", u64::MAX / 2);
    let error = processes.ask("inspect", &[]).error("store_space_insufficient", 1);
    assert!(error["details"]["required_bytes"].as_u64() > error["details"]["available_bytes"].as_u64());
    let name = processes.world.path(&"n".repeat(300));
    let error = processes.ask("inspect", &["--store", name.to_str().unwrap()]).error("store_failed", 1);
    assert_eq!(error["details"]["reason"], "File name too long (os error 36)", "{error}");
}

/// The worker could read every other Sample's data.
#[test]
fn a_store_below_the_adapter_is_an_invalid_path() {
    let processes = Processes::new().in_mode("bubblewrap");
    let store = processes.world.path("bundle/adapter/store");
    let error =
        processes.ask("inspect", &["--store", store.to_str().unwrap()]).error("invalid_store_path", 1);
    let reason = error["details"]["reason"].as_str().unwrap();
    assert!(reason.ends_with("bundle/adapter, which every worker can read"), "{error}");
}

#[test]
fn a_cleanup_that_cannot_delete_is_incomplete() {
    let processes = Processes::new().with("FAKE_DELETION_FAILS", 1);
    processes.ask("inspect", &[]).success();
    assert_eq!(processes.ask("clean", &[]).error("cleanup_incomplete", 1)["retryable"], true);
    processes.assert_no_analysis();
}

/// Written to while it is read: half a gigabyte takes long enough.
#[test]
fn a_sample_that_changes_while_it_is_read_is_refused() {
    let processes = Processes::new();
    let sample = processes.world.sample();
    let file = std::fs::File::options().append(true).open(&sample).unwrap();
    file.set_len(512 << 20).unwrap();
    let mut child = processes.asking("inspect", &[]).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        std::io::Write::write_all(&mut &file, b"x").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let run = processes.ended(child.wait_with_output().unwrap().into());
    assert_eq!(run.error("sample_changed", 1)["retryable"], true);
}

/// Replaced while it runs, by an update for example: it is its own guard and worker, and cannot be started again.
#[test]
fn an_executable_that_is_gone_starts_no_worker_and_is_named() {
    let processes = Processes::new();
    let executable = processes.world.path("ghidr");
    let processes = processes.at(executable.clone());
    let sample = std::fs::File::options().append(true).open(processes.world.sample()).unwrap();
    sample.set_len(512 << 20).unwrap();
    let child = processes.asking("inspect", &[]).spawn().unwrap();
    let image = format!("/proc/{}/exe", child.id());
    wait_for("the start", || std::fs::read_link(&image).ok().filter(|path| *path == executable));
    std::fs::remove_file(&executable).unwrap();
    let run = processes.ended(child.wait_with_output().unwrap().into());
    let error = run.error("worker_failed", 1);
    let ending = error["details"]["ending"].as_str().unwrap();
    assert!(ending.starts_with("cannot start") && ending.contains("No such file"), "{error}");
    processes.assert_no_analysis();
}

/// Not even its own pipes, so nothing that a caller could do differently is to blame.
#[test]
fn a_process_that_may_open_nothing_is_an_internal_error_with_a_document() {
    let ghidr = Ghidr::new();
    let plain = ghidr.command(["inspect", "/bin/true"]);
    let run = Run::from(shell::through(&plain, r#"ulimit -n 6; exec "$0" "$@""#).output().unwrap());
    run.check_framing();
    let error = run.error("internal_error", 1);
    assert!(error["details"]["reason"].as_str().unwrap().contains("Too many open files"), "{error}");
    assert!(!ghidr.store().exists());
}

/// A worker that cannot be watched is not started, and the Sample is not blamed for it.
#[test]
fn a_process_that_may_open_too_little_to_watch_a_worker_starts_none() {
    let processes = Processes::new();
    for limit in [48, 96] {
        let narrow = format!(r#"ulimit -n {limit}; exec "$0" "$@""#);
        let mut command = shell::through(&processes.asking("inspect", &[]), &narrow);
        let error = processes.ended(command.output().unwrap().into()).error("worker_failed", 1);
        assert!(error["details"]["ending"].as_str().unwrap().contains("RLIMIT_NOFILE"), "{error}");
        processes.assert_no_analysis();
    }
    let mut enough = shell::through(&processes.asking("inspect", &[]), r#"ulimit -n 160; exec "$0" "$@""#);
    processes.ended(enough.output().unwrap().into()).success();
}

/// Runs the command where this file is the system's bubblewrap.
pub fn with_bubblewrap(processes: &Processes, command: &Command, program: &Path) -> Run {
    let mut outer = Command::new("bwrap");
    outer.args(["--dev-bind", "/", "/", "--bind"]).arg(program).arg("/usr/bin/bwrap").arg("--");
    outer.arg(command.get_program()).args(command.get_args()).env_clear();
    outer.env("PATH", "/usr/bin").envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    processes.ended(outer.output().unwrap().into())
}

#[test]
fn a_sandbox_that_cannot_be_had_is_never_done_without() {
    let processes = Processes::new().in_mode("bubblewrap");
    let broken = processes.world.path("bwrap");
    std::fs::write(
        &broken,
        "#!/bin/sh\necho 'bwrap: No permissions to creating new namespace' >&2\nexit 1\n",
    )
    .unwrap();
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (program, reason) in [(Path::new("/dev/null"), "bubblewrap_missing"), (&broken, "user_namespaces")] {
        let run = with_bubblewrap(&processes, &processes.asking("inspect", &[]), program);
        let error = run.error("sandbox_unavailable", 1);
        assert!(error["details"]["reason"].as_str().unwrap().starts_with(reason), "{error}");
        assert!(!error["details"]["remedy"].as_str().unwrap().is_empty(), "{error}");
        processes.assert_no_analysis();
    }
}

#[test]
fn faults_of_the_analysis_are_repeated_up_to_a_disclosed_bound() {
    let fault = |number: u32| json!({"kind": "engine_fault", "component": format!("c{number:02}"), "exception_class": "E", "message": "m"});
    let faults = json!({"total": 70, "items": (0..64).map(fault).collect::<Vec<_>>()});
    let processes = Processes::new();
    processes.script(&json!([{"do": "outcome", "at": "/analysis/faults", "value": faults}]));
    for _ in ["created", "reused"] {
        let run = processes.ask("inspect", &[]);
        let codes = run.warning_codes();
        assert_eq!(codes.iter().filter(|code| *code == "engine_fault").count(), 20, "{run}");
        let warnings = run.document()["warnings"].clone();
        let omitted =
            warnings.as_array().unwrap().iter().find(|warning| warning["code"] == "engine_faults_omitted");
        assert_eq!(omitted.unwrap()["details"], json!({"shown": 20, "omitted": 50}));
        assert_eq!(run.success()["data"]["analysis"]["completeness"]["complete"], false);
    }
}

/// The worker that only decompiles logs throwables too; they are of this answer, not of the Analysis.
#[test]
fn a_fault_during_a_query_is_a_warning_of_its_answer_alone() {
    let fault = json!({"kind": "engine_fault", "component": "ghidra.app.decompiler", "exception_class": "E", "message": "m"});
    let at = "/query/decompilation/faults";
    for cached in [false, true] {
        let processes = Processes::new();
        if cached {
            processes.ask("inspect", &[]).success();
        }
        processes.script(&json!([{"do": "outcome", "at": at, "value": {"total": 1, "items": [fault]}}]));
        let faulty = processes.ask("decompile", &["--name", "main"]);
        faulty.success();
        assert!(faulty.warning_codes().contains(&"engine_fault".to_owned()), "{faulty}");
        processes.script(&json!([]));
        for again in [processes.ask("decompile", &["--name", "main"]), processes.ask("inspect", &[])] {
            again.success();
            assert!(!again.warning_codes().contains(&"engine_fault".to_owned()), "it was kept: {again}");
        }
    }
}

#[test]
fn what_the_answer_stands_on_is_warned_of() {
    let processes = Processes::new();
    let descriptor = processes.world.path("bundle/engine.json");
    let text = std::fs::read_to_string(&descriptor).unwrap();
    std::fs::write(&descriptor, text.replace("\"10.3\"", "\"10.4\"")).unwrap();
    let run = processes.ask("inspect", &[]);
    assert_eq!(run.warning_codes(), ["sandbox_disabled", "unverified_engine", "unverified_target"]);
    let external = Processes::new().in_mode("external");
    let run = external.ask("inspect", &[]);
    assert_eq!(run.warning_codes(), ["external_sandbox_unverified", "unverified_target"]);
}

/// The exchange is private, and nothing of it outlives the command.
#[test]
fn the_request_is_private_while_it_exists_and_gone_afterwards() {
    use std::os::unix::fs::PermissionsExt as _;
    let processes = Processes::new();
    processes.script(&json!([{"do": "progress", "line": "analysis\n"}, {"do": "await_term"}]));
    let child = processes.asking("inspect", &[]).spawn().unwrap();
    let staging = processes.world.store().join("staging");
    let invocation = wait_for("the worker", || {
        let found = tree::names(&staging).pop()?;
        let invocation = staging.join(found).join("invocation");
        invocation.join("progress").exists().then_some(invocation)
    });
    let mode = |path: &Path| std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&invocation.join("request.json")), 0o600);
    for directory in invocation.ancestors().take(4) {
        assert_eq!(mode(directory), 0o700, "{}", directory.display());
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
        .unwrap();
    processes.ended(child.wait_with_output().unwrap().into()).error("interrupted", 130);
    assert!(!invocation.exists());
}
