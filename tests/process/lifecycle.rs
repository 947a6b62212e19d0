//! Every way a worker can end, be ended, or try not to.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::support::worker_run::{MODES, WorkerRun, eventually, eventually_gone, survivors};

fn in_every_mode(test: impl Fn(&str)) {
    for mode in MODES {
        test(mode);
    }
}

#[test]
fn a_worker_that_ends_reports_its_status_and_output() {
    in_every_mode(|mode| {
        let report = WorkerRun::new(mode, "print hello\nexit 7").finish();
        assert_eq!(report.outcome["worker_status"], 7);
        assert_eq!(report.outcome["program_status"], 7);
        assert_eq!(report.outcome["ended_by"], "finished");
        assert_eq!(report.outcome["termination"], serde_json::Value::Null);
        assert_eq!(report.stdout, "hello\n");
    });
}

#[test]
fn a_killed_worker_has_the_shells_status_in_every_mode() {
    // The first process of a PID namespace cannot kill itself, so only the modes without one can show it.
    for mode in ["external", "off"] {
        let report = WorkerRun::new(mode, "kill-self").finish();
        assert_eq!(report.outcome["worker_status"], 137, "{mode}");
    }
}

#[test]
fn the_watchdog_asks_and_term_reaches_the_worker_which_leaves() {
    in_every_mode(|mode| {
        let report = WorkerRun::new(mode, "hang").with("watchdog_ms", "400").finish();
        assert_eq!(report.outcome["ended_by"], "watchdog");
        assert_eq!(report.outcome["termination"], "graceful");
        assert_eq!(report.outcome["worker_status"], 41);
        assert!(report.outcome["elapsed_ms"].as_u64().unwrap() < 9_000, "the grace was waited out");
        assert!(report.outcome["ticks"].as_u64().unwrap() >= 3);
    });
}

#[test]
fn a_worker_that_ignores_the_request_is_killed_after_the_grace() {
    in_every_mode(|mode| {
        let run =
            WorkerRun::new(mode, "ignore-term\nhang").with("watchdog_ms", "300").with("grace_ms", "700");
        let report = run.finish();
        assert_eq!(report.outcome["ended_by"], "watchdog");
        assert_eq!(report.outcome["termination"], "forced");
        assert!(report.outcome["elapsed_ms"].as_u64().unwrap() >= 1_000, "the grace was cut short");
    });
}

#[test]
fn one_interrupt_asks_and_a_second_kills_at_once() {
    in_every_mode(|mode| {
        let run = WorkerRun::new(mode, "print ready\nignore-term\nhang");
        let child = run.start();
        eventually("the worker's start", || ready(run.root()));
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(200));
        let second = Instant::now();
        interrupt(&child);
        let report = run.finish_started(child);
        assert!(second.elapsed() < Duration::from_secs(5), "the grace was waited out");
        assert_eq!(report.outcome["ended_by"], "interrupted");
        assert_eq!(report.outcome["termination"], "forced");
    });
}

#[test]
fn one_interrupt_ends_a_polite_worker() {
    in_every_mode(|mode| {
        let run = WorkerRun::new(mode, "print ready\nhang");
        let child = run.start();
        eventually("the worker's start", || ready(run.root()));
        interrupt(&child);
        let report = run.finish_started(child);
        assert_eq!(report.outcome["ended_by"], "interrupted");
        assert_eq!(report.outcome["termination"], "graceful");
    });
}

#[test]
fn a_flood_is_drained_counted_and_kept_at_both_ends() {
    in_every_mode(|mode| {
        let report = WorkerRun::new(mode, "flood-stderr 67108864\nexit 0").finish();
        assert_eq!(report.outcome["worker_status"], 0);
        let stderr = &report.outcome["stderr"];
        assert_eq!(stderr["observed_bytes"], 67_108_864);
        assert_eq!(stderr["truncated"], true);
        assert_eq!(stderr["segments"][1]["offset"], 67_108_864 - 4_194_304);
        for (at, file) in ["stderr.head.log", "stderr.tail.log"].iter().enumerate() {
            assert_eq!(stderr["segments"][at]["file"], *file);
            assert_eq!(std::fs::metadata(report.root.join("capture").join(file)).unwrap().len(), 4_194_304);
        }
    });
}

#[test]
fn descendants_hold_the_pipes_and_yet_no_process_survives_a_run() {
    for kind in ["child", "orphan"] {
        in_every_mode(|mode| {
            let report = WorkerRun::new(mode, &format!("linger {kind}\nexit 0")).finish();
            assert_eq!(report.outcome["worker_status"], 0);
            assert!(report.stdout.contains("lingering"));
            assert!(report.outcome["elapsed_ms"].as_u64().unwrap() < 5_000);
        });
    }
}

#[test]
fn a_worker_that_dies_of_a_panic_is_no_hang() {
    in_every_mode(|mode| {
        let report = WorkerRun::new(mode, "die").finish();
        assert_eq!(report.outcome["worker_status"], 99);
    });
}

#[test]
fn too_much_memory_is_noticed_and_ended() {
    in_every_mode(|mode| {
        let run = WorkerRun::new(mode, "allocate-mib 400\nhang").with("memory_mib", "200");
        let report = run.finish();
        assert_eq!(report.outcome["ended_by"], "memory_limit");
        assert_eq!(report.outcome["termination"], "forced");
        assert!(report.outcome["peak_memory_mib"].as_u64().unwrap() > 200);
    });
}

/// The first thread is a zombie, and all that the process has is seen through the other one alone.
#[test]
fn a_process_whose_first_thread_has_ended_is_measured_and_killed_like_any_other() {
    in_every_mode(|mode| {
        let report = WorkerRun::new(mode, "leaderless-mib 400\nhang").with("memory_mib", "200").finish();
        assert_eq!(report.outcome["ended_by"], "memory_limit", "{mode}: {}", report.outcome);
        let report = WorkerRun::new(mode, "leaderless-mib 1\nexit 0").finish();
        assert_eq!(report.outcome["ended_by"], "finished", "{mode}: {}", report.outcome);
        assert_eq!(report.stdout, "leaderless\n", "{mode}");
        assert!(report.outcome["elapsed_ms"].as_u64().unwrap() < 5_000, "{mode}: {}", report.outcome);
    });
}

#[test]
fn too_many_processes_or_threads_are_noticed_and_ended() {
    in_every_mode(|mode| {
        let processes = "linger child\n".repeat(30) + "hang";
        for script in [processes.as_str(), "threads 30\nhang"] {
            let report = WorkerRun::new(mode, script).with("tasks", "30").finish();
            assert_eq!(report.outcome["ended_by"], "task_limit", "{mode}: {}", report.outcome);
            assert_eq!(report.outcome["termination"], "forced", "{mode}");
        }
        let report = WorkerRun::new(mode, "threads 10\nsleep-ms 300\nexit 0").with("tasks", "30").finish();
        assert_eq!(report.outcome["ended_by"], "finished", "{mode}: {}", report.outcome);
    });
}

#[test]
fn memory_below_the_limit_is_left_alone() {
    in_every_mode(|mode| {
        let script = "allocate-mib 100\nsleep-ms 300\nexit 0";
        let report = WorkerRun::new(mode, script).with("memory_mib", "200").finish();
        assert_eq!(report.outcome["ended_by"], "finished");
        assert!(report.outcome["peak_memory_mib"].as_u64().unwrap() >= 100);
    });
}

#[test]
fn files_in_memory_count_as_memory() {
    let script = "fill-mib 12 /tmp/a\nfill-mib 7 /ghidr/home/b\nhang";
    let report = WorkerRun::new("bubblewrap", script).with("memory_mib", "18").finish();
    assert_eq!(report.outcome["ended_by"], "memory_limit");
}

#[test]
fn too_much_disk_space_is_noticed_and_ended() {
    in_every_mode(|mode| {
        let run = WorkerRun::new(mode, "hang").with("disk_mib", "4");
        let project = match mode {
            "bubblewrap" => "/ghidr/analysis/project".to_owned(),
            _ => run.root().join("project").display().to_string(),
        };
        std::fs::write(run.root().join("script"), format!("fill-mib 9 {project}/big\nhang")).unwrap();
        let report = run.finish();
        assert_eq!(report.outcome["ended_by"], "disk_quota");
        assert_eq!(report.outcome["termination"], "forced");
    });
}

#[test]
fn a_parent_killed_at_any_moment_leaves_no_worker() {
    in_every_mode(|mode| {
        for delay_ms in [2, 5, 10, 20, 40] {
            for _ in 0..4 {
                let run = WorkerRun::new(mode, "linger child\nhang");
                let mut child = run.start();
                std::thread::sleep(Duration::from_millis(delay_ms));
                child.kill().unwrap();
                child.wait().unwrap();
                eventually_gone(run.root());
            }
        }
    });
}

#[test]
fn a_parent_killed_while_the_worker_works_leaves_no_worker() {
    in_every_mode(|mode| {
        let run = WorkerRun::new(mode, "linger child\nprint ready\nhang");
        let mut child = run.start();
        eventually("the worker's start", || ready(run.root()));
        assert!(
            survivors(run.root()).len() >= 3,
            "parent, worker and its child are visible: {:?}",
            survivors(run.root())
        );
        child.kill().unwrap();
        child.wait().unwrap();
        eventually_gone(run.root());
    });
}

#[test]
fn a_worker_that_ignores_its_parents_death_is_killed_with_all_it_started() {
    for kind in ["child", "orphan"] {
        in_every_mode(|mode| {
            let script = format!("ignore-parent\nignore-term\nlinger {kind}\nprint ready\nhang");
            let run = WorkerRun::new(mode, &script);
            let mut child = run.start();
            eventually("the worker's start", || ready(run.root()));
            child.kill().unwrap();
            child.wait().unwrap();
            eventually_gone(run.root());
        });
    }
}

#[test]
fn a_worker_that_holds_its_own_standard_input_open_ends_with_its_parent_nevertheless() {
    in_every_mode(|mode| {
        let run = WorkerRun::new(mode, "hold-stdin\nignore-term\nlinger orphan\nprint ready\nhang");
        let mut child = run.start();
        eventually("the worker's start", || ready(run.root()));
        child.kill().unwrap();
        child.wait().unwrap();
        eventually_gone(run.root());
    });
}

#[test]
fn a_bubblewrap_that_cannot_be_started_is_a_typed_error() {
    let outcome = WorkerRun::new("bubblewrap", "exit 0").with("bwrap", "/nonexistent/bwrap").finish().outcome;
    let message = outcome["error"].as_str().unwrap();
    assert!(message.contains("cannot start /nonexistent/bwrap: No such file"), "{message}");
}

#[test]
fn a_program_that_cannot_be_started_is_a_typed_error() {
    let run = WorkerRun::new("off", "exit 0").with("worker", "/nonexistent/worker");
    let outcome = run.finish().outcome;
    let message = outcome["error"].as_str().unwrap();
    assert!(message.contains("cannot start /nonexistent/worker"), "{message}");
}

fn ready(root: &std::path::Path) -> bool {
    std::fs::read_to_string(root.join("capture/stdout.log")).is_ok_and(|said| said.contains("ready"))
}

fn interrupt(child: &std::process::Child) {
    rustix::process::kill_process(Pid::from_child(child), Signal::INT).unwrap();
}
