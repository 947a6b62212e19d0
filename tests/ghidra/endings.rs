//! However a command ends, no process survives it and the next command simply succeeds.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::{descendants, exchanged, maps, marked, wait_for, wait_until_gone};
use crate::support::{boots, fixtures, processes, tree};

fn start(ghidr: &Ghidr, fixture: &str) -> Child {
    start_in(ghidr, fixture, "bubblewrap")
}

fn start_in(ghidr: &Ghidr, fixture: &str, mode: &str) -> Child {
    let path = fixtures::path(fixture);
    let mut command = ghidr.command(["--sandbox", mode, "inspect", path.to_str().unwrap()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits until Ghidra analyzes, as the worker's progress file says.
fn wait_for_analysis(ghidr: &Ghidr) {
    wait_for("the analysis", || {
        exchanged(&ghidr.store(), "progress").filter(|line| line.starts_with(b"analysis\t"))
    });
}

fn assert_nothing_promoted(ghidr: &Ghidr) {
    let analyses = ghidr.store().join("analyses");
    for sample in tree::names(&analyses) {
        assert_eq!(tree::names(&analyses.join(sample)), Vec::<String>::new());
    }
}

fn succeeds_next(ghidr: &Ghidr, fixture: &str) {
    let run = ghidr.run(["inspect".as_ref(), fixtures::path(fixture).as_os_str()]);
    assert_eq!(run.success()["data"]["analysis"]["disposition"], "created", "{run}");
    assert_eq!(tree::names(&ghidr.store().join("staging")), Vec::<String>::new(), "orphans are swept");
    wait_until_gone(ghidr.root());
}

#[test]
fn a_parent_killed_at_any_moment_leaves_no_process_and_no_analysis() {
    let ghidr = Ghidr::new();
    let fixture = "elf-aarch64";
    let _boot = boots::take();
    for milliseconds in [0, 2, 5, 10, 20, 35, 50, 80, 120, 200, 400, 800, 1_600, 3_000] {
        let mut child = start(&ghidr, fixture);
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until_gone(ghidr.root());
        assert_nothing_promoted(&ghidr);
    }
    succeeds_next(&ghidr, fixture);
}

#[test]
fn a_parent_killed_while_ghidra_analyzes_leaves_no_process_in_any_mode() {
    let fixture = "elf-aarch64";
    for mode in ["bubblewrap", "off"] {
        let ghidr = Ghidr::new();
        let _boot = boots::take();
        let mut child = start_in(&ghidr, fixture, mode);
        wait_for_analysis(&ghidr);
        let worker_tree = descendants(child.id());
        assert!(!marked(ghidr.root()).is_empty(), "the marker finds the worker");
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for("the end of the whole tree", || {
            worker_tree.iter().all(|pid| !maps(*pid, "libjvm")).then_some(())
        });
        wait_until_gone(ghidr.root());
        assert_nothing_promoted(&ghidr);
        succeeds_next(&ghidr, fixture);
    }
}

#[test]
fn an_interrupted_analysis_exits_130_promotes_nothing_and_leaves_no_process() {
    let ghidr = Ghidr::new();
    let fixture = "elf-i386";
    let _boot = boots::take();
    for (name, number, signals) in
        [("SIGINT", Signal::INT, 1), ("SIGTERM", Signal::TERM, 1), ("SIGHUP", Signal::HUP, 2)]
    {
        let child = start(&ghidr, fixture);
        wait_for_analysis(&ghidr);
        for _ in 0..signals {
            signal(&child, number);
            std::thread::sleep(Duration::from_millis(50));
        }
        let run = Run::from(child.wait_with_output().unwrap());
        run.check_framing();
        let error = run.error("interrupted", 130);
        assert_eq!(error["details"]["signal"], name);
        let termination = error["details"]["termination"].as_str().unwrap();
        assert!(["graceful", "forced"].contains(&termination), "{error}");
        if signals == 1 {
            assert_eq!(termination, "graceful", "a JVM leaves when it is asked to: {error}");
        }
        assert_eq!(error["retryable"], true);
        wait_until_gone(ghidr.root());
        assert_nothing_promoted(&ghidr);
        assert_eq!(tree::names(&ghidr.store().join("staging")), Vec::<String>::new());
    }
    succeeds_next(&ghidr, fixture);
}

/// A crash of native code, as far as the virtual machine can tell.
#[test]
fn a_crashed_virtual_machine_leaves_its_report_in_the_diagnostic_log() {
    let fixture = "elf-i386";
    for mode in ["bubblewrap", "off"] {
        let ghidr = Ghidr::new();
        let _boot = boots::take();
        let child = start_in(&ghidr, fixture, mode);
        wait_for_analysis(&ghidr);
        let worker = descendants(child.id()).into_iter().find(|pid| maps(*pid, "libjvm.so")).unwrap();
        processes::signal(worker, Signal::SEGV);
        let run = Run::from(child.wait_with_output().unwrap());
        run.check_framing();
        let error = run.error("worker_failed", 1);
        assert_eq!(error["details"]["progress"]["phase"], "analysis", "{error}");
        let manifest = Path::new(error["diagnostic_log"]["path"]["value"].as_str().unwrap());
        let report = std::fs::read_to_string(manifest.with_file_name("crash_report.log")).unwrap();
        assert!(report.contains("SIGSEGV") && report.contains("libjvm.so"), "{mode}: {report}");
        wait_until_gone(ghidr.root());
        assert_nothing_promoted(&ghidr);
    }
}
