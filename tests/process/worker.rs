//! The real worker with a real Java virtual machine and a stand-in for the adapter, in every sandbox mode.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ghidr::domain::engine_layout::EngineLayout;
use ghidr::domain::invocation_id::InvocationId;
use ghidr::domain::selector::FunctionSelector;
use ghidr::protocol::encode::encode;
use ghidr::protocol::limits::PROTOCOL_VERSION;
use ghidr::protocol::request::{Arguments, Boot, Queries, Request, WorkerEngine, WorkerLimits, WorkerQuery};
use rustix::process::{Pid, Signal};

use crate::support::worker_run::{MODES, Report, WorkerRun, eventually, eventually_gone};

fn java_home() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        return PathBuf::from(home);
    }
    let output =
        Command::new("java").args(["-XshowSettings:properties", "-version"]).output().expect("a JDK");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    PathBuf::from(text.lines().find_map(|line| line.trim().strip_prefix("java.home = ")).expect("java.home"))
}

/// The stand-in adapter, compiled once for all tests.
fn adapter_classes() -> &'static Path {
    static CLASSES: OnceLock<tempfile::TempDir> = OnceLock::new();
    let compile = || {
        let classes = tempfile::tempdir().unwrap();
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/java/io/ghidr/adapter/Main.java");
        let mut compiler = Command::new(java_home().join("bin/javac"));
        assert!(compiler.arg("-d").arg(classes.path()).arg(source).status().unwrap().success());
        classes
    };
    CLASSES.get_or_init(compile).path()
}

/// A run of the real worker whose stand-in adapter is told `test`.
fn worker(mode: &str, test: &str) -> WorkerRun {
    const CLASS: &str = "io/ghidr/adapter/Main.class";
    let java_home = java_home().canonicalize().unwrap();
    let run = WorkerRun::new(mode, "");
    let adapter = run.root().join("adapter");
    std::fs::create_dir_all(adapter.join("io/ghidr/adapter")).unwrap();
    std::fs::copy(adapter_classes().join(CLASS), adapter.join(CLASS)).unwrap();
    let class_path = if mode == "bubblewrap" { "/ghidr/adapter".into() } else { adapter };
    let request = Request {
        protocol_version: PROTOCOL_VERSION,
        invocation_id: InvocationId::from_bytes([0; 16]),
        arguments: Arguments::Query {
            project_directory: String::new(),
            queries: Queries {
                items: vec![WorkerQuery::Decompile {
                    selector: FunctionSelector::Name { value: test.to_owned() },
                }],
                answers_path: String::new(),
                stop_at_failure: false,
                timeout_seconds: None,
                max_answers_bytes: 1,
            },
        },
        boot: Boot {
            libjvm: java_home.join("lib/server/libjvm.so").to_str().unwrap().to_owned(),
            class_path: vec![class_path.to_str().unwrap().to_owned()],
            jvm_options: ["-Xmx48m", "-XX:+ExitOnOutOfMemoryError", "-XX:+UseSerialGC"]
                .map(str::to_owned)
                .to_vec(),
            main_stack_mib: 8,
        },
        engine: WorkerEngine { layout: EngineLayout::SingleJar, path: String::new() },
        grants: Vec::new(),
        progress_path: String::new(),
        limits: WorkerLimits {
            analysis_timeout_seconds: 1,
            decompile_timeout_seconds: Some(1),
            max_cpu: 1,
            max_response_bytes: 1,
            max_facts_bytes: 1,
        },
    };
    std::fs::write(run.root().join("script"), encode(&request).unwrap()).unwrap();
    run.with("worker", env!("CARGO_BIN_EXE_ghidr")).with("java_home", &java_home)
}

fn stderr(report: &Report) -> String {
    std::fs::read_to_string(report.root.join("capture/stderr.log")).unwrap()
}

#[test]
fn the_adapter_answers_through_the_response_file() {
    for mode in MODES {
        let report = worker(mode, "answer").finish();
        assert_eq!(report.outcome["worker_status"], 0, "{mode}: {}", stderr(&report));
        let response = std::fs::read_to_string(report.root.join("invocation/response.json")).unwrap();
        assert!(response.starts_with(&*java_home().canonicalize().unwrap().to_string_lossy()), "{response}");
        assert_eq!(response.ends_with(" as 1"), mode == "bubblewrap", "{response}");
    }
}

#[test]
fn the_callers_java_options_are_not_obeyed() {
    for mode in MODES {
        let run = worker(mode, "answer")
            .environment("JAVA_TOOL_OPTIONS", "-Dpicked.up=1")
            .environment("_JAVA_OPTIONS", "-Xmx1k")
            .environment("JDK_JAVA_OPTIONS", "-Xmx1k");
        let report = run.finish();
        assert_eq!(report.outcome["worker_status"], 0, "{mode}");
        assert!(!stderr(&report).contains("Picked up"), "{}", stderr(&report));
    }
}

#[test]
fn an_exception_and_an_exhausted_heap_have_statuses_of_their_own() {
    for mode in MODES {
        let report = worker(mode, "throw").finish();
        assert_eq!(report.outcome["worker_status"], 65, "{mode}");
        assert!(stderr(&report).contains("uncaught Java exception java.lang.IllegalStateException: as told"));
        assert_eq!(worker(mode, "heap").finish().outcome["worker_status"], 3, "{mode}");
        assert_eq!(worker(mode, "exit").finish().outcome["worker_status"], 9, "{mode}");
        assert_eq!(worker(mode, "three").finish().outcome["worker_status"], 67, "an adapter cannot claim it");
    }
}

#[test]
fn a_virtual_machine_is_asked_to_leave_and_leaves() {
    for mode in MODES {
        let run = worker(mode, "hang");
        let child = run.start();
        eventually("the adapter's start", || ready(run.root()));
        rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let report = run.finish_started(child);
        assert_eq!(report.outcome["termination"], "graceful", "{mode}: {}", report.outcome);
        assert_eq!(report.outcome["worker_status"], 143, "{mode}");
    }
}

#[test]
fn a_virtual_machine_ends_with_its_parent_at_any_phase() {
    for mode in MODES {
        for delay_ms in [5, 20, 60, 120, 400] {
            let run = worker(mode, "hang");
            let mut child = run.start();
            std::thread::sleep(std::time::Duration::from_millis(delay_ms));
            child.kill().unwrap();
            child.wait().unwrap();
            eventually_gone(run.root());
        }
    }
}

#[test]
fn without_a_valid_request_the_worker_refuses() {
    let directory = tempfile::tempdir().unwrap();
    let request = directory.path().join("request.json");
    let response = directory.path().join("response.json");
    let large = vec![b' '; (1 << 20) + 1];
    for (content, reason) in [
        (&b"{}"[..], "missing field"),
        (b"{\"protocol_version\":1,\"protocol_version\":1}", "duplicate field"),
        (b"not json", "not valid"),
        (&large, "larger than"),
    ] {
        std::fs::write(&request, content).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_ghidr"))
            .arg("--worker")
            .args([&request, &response])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(64), "{reason}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(reason), "{said}");
    }
    let output =
        Command::new(env!("CARGO_BIN_EXE_ghidr")).args(["--worker", "request.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
}

fn ready(root: &Path) -> bool {
    std::fs::read_to_string(root.join("capture/stdout.log")).is_ok_and(|said| said.contains("ready"))
}
