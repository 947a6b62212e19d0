//! How a worker and its command can end: in time, by its watchdog, by the user, or without a reader.

use std::fs::File;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::fake_process::Processes;
use crate::support::ghidr::Run;
use crate::support::processes::{descendants, exchanged, wait_for};
use crate::support::tree;

const MODES: [&str; 3] = ["bubblewrap", "external", "off"];
/// Long enough to be seen, short enough to be waited for.
const GRACE_MS: u64 = 700;

fn progress(line: &str) -> Value {
    json!({"do": "progress", "line": line})
}

/// Starts `inspect` and waits until its worker says that it analyzes.
fn start(processes: &Processes) -> Child {
    let child = processes.asking("inspect", &[]).spawn().unwrap();
    wait_for("the worker", || {
        exchanged(&processes.world.store(), "progress").filter(|line| line.starts_with(b"analysis"))
    });
    child
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn the_watchdog_ends_a_worker_in_every_mode_and_says_how() {
    let polite = json!([progress("analysis\tStack\n"), {"do": "answer"}, {"do": "hang"}]);
    let stubborn =
        json!([{"do": "ignore_term"}, progress("analysis\tStack\n"), {"do": "answer"}, {"do": "hang"}]);
    for mode in MODES {
        for (steps, termination) in [(&polite, "graceful"), (&stubborn, "forced")] {
            let processes = Processes::new()
                .in_mode(mode)
                .with("FAKE_WATCHDOG_MS", 1_000)
                .with("FAKE_GRACE_MS", GRACE_MS);
            processes.script(steps);
            let error = processes.ask("inspect", &[]).error("watchdog_timeout", 124);
            let progress = json!({"phase": "analysis", "analyzer": "Stack"});
            let expected = json!({"watchdog_seconds": 720, "termination": termination, "progress": progress});
            assert_eq!(error["details"], expected, "{mode}");
            processes.assert_no_analysis();
        }
    }
}

/// The bound that is reported is the sum of the time-outs of what the worker does, plus two minutes.
#[test]
fn the_watchdog_follows_from_the_limits_of_what_the_worker_does() {
    let flags = ["--analysis-timeout-seconds", "7", "--decompile-timeout-seconds", "5"];
    let watchdog = |command: &str, more: &[&str]| {
        let processes = Processes::new().with("FAKE_WATCHDOG_MS", 300);
        processes.script(&json!([{"do": "hang"}]));
        let error = processes.ask(command, &[&flags[..], more].concat()).error("watchdog_timeout", 124);
        error["details"]["watchdog_seconds"].as_u64().unwrap()
    };
    assert_eq!(watchdog("inspect", &[]), 127);
    assert_eq!(watchdog("decompile", &["--name", "main"]), 132);
    let cached = Processes::new().with("FAKE_WATCHDOG_MS", 2_000);
    cached.ask("inspect", &[]).success();
    cached.script(&json!([{"do": "hang"}]));
    let error =
        cached.ask("decompile", &[&flags[..], &["--name", "main"]].concat()).error("watchdog_timeout", 124);
    assert_eq!(error["details"]["watchdog_seconds"], 125);
}

#[test]
fn every_interruption_ends_the_command_with_130_and_says_how_the_worker_ended() {
    let polite = json!([progress("analysis\n"), {"do": "hang"}]);
    let stubborn = json!([{"do": "ignore_term"}, progress("analysis\n"), {"do": "hang"}]);
    let signals = [("SIGINT", Signal::INT), ("SIGTERM", Signal::TERM), ("SIGHUP", Signal::HUP)];
    for (name, number) in signals {
        for (steps, times, termination) in
            [(&polite, 1, "graceful"), (&stubborn, 1, "forced"), (&stubborn, 2, "forced")]
        {
            // A second interruption does not wait for the grace period.
            let grace = if times == 2 { 60_000 } else { GRACE_MS };
            let processes = Processes::new().with("FAKE_GRACE_MS", grace);
            processes.script(steps);
            let child = start(&processes);
            let started = Instant::now();
            for _ in 0..times {
                signal(&child, number);
                std::thread::sleep(Duration::from_millis(50));
            }
            let run = processes.ended(child.wait_with_output().unwrap().into());
            let error = run.error("interrupted", 130);
            assert_eq!(error["details"], json!({"signal": name, "termination": termination}), "{times}");
            assert!(started.elapsed() < Duration::from_secs(20));
            processes.assert_no_analysis();
        }
    }
}

/// The worker finishes, perfectly, while it is being ended.
#[test]
fn no_promotion_after_cancel_although_the_worker_answers_in_the_grace_period() {
    let steps =
        json!([progress("analysis\n"), {"do": "await_term"}, {"do": "answer"}, {"do": "exit", "status": 0}]);
    for mode in MODES {
        let interrupted = Processes::new().in_mode(mode);
        interrupted.script(&steps);
        let child = start(&interrupted);
        signal(&child, Signal::INT);
        let run = interrupted.ended(child.wait_with_output().unwrap().into());
        assert_eq!(run.error("interrupted", 130)["details"]["termination"], "graceful", "{mode}");
        interrupted.assert_no_analysis();

        let expired = Processes::new().in_mode(mode).with("FAKE_WATCHDOG_MS", 1_000);
        expired.script(&steps);
        expired.ask("inspect", &[]).error("watchdog_timeout", 124);
        expired.assert_no_analysis();
        expired.script(&json!([]));
        assert_eq!(expired.ask("inspect", &[]).success()["data"]["analysis"]["disposition"], "created");
    }
}

/// As the kernel may when memory runs out. What the worker wrote to stderr is not what bubblewrap said.
#[test]
fn a_killed_bubblewrap_is_a_failure_of_the_worker_and_not_of_the_sandbox() {
    let processes = Processes::new().in_mode("bubblewrap");
    processes.script(&json!([{"do": "flood_stderr", "bytes": 100}, progress("analysis\n"), {"do": "hang"}]));
    let child = start(&processes);
    let is_bubblewrap = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == "bwrap")
    };
    let outermost = descendants(child.id()).into_iter().find(is_bubblewrap).unwrap();
    crate::support::processes::signal(outermost, Signal::KILL);
    let run = processes.ended(child.wait_with_output().unwrap().into());
    let error = run.error("worker_failed", 1);
    assert!(error["diagnostic_log"].is_object(), "{error}");
    processes.assert_no_analysis();
}

#[test]
fn sixty_four_mebibytes_on_stderr_are_drained_counted_and_bounded() {
    let processes = Processes::new();
    processes.script(&json!([{"do": "flood_stderr", "bytes": 64 << 20}, {"do": "exit", "status": 1}]));
    let run = processes.ask("inspect", &[]);
    run.error("worker_failed", 1);
    assert_eq!(run.warning_codes(), ["diagnostics_truncated"]);
    let bundle = processes.world.diagnostics().remove(0);
    let kept: u64 = tree::names(&bundle).iter().map(|name| bundle.join(name).metadata().unwrap().len()).sum();
    assert!(kept < 9 << 20, "{kept}");
    let manifest = std::fs::read_to_string(bundle.join("manifest.json")).unwrap();
    assert!(manifest.contains("67108864"), "{manifest}");

    processes.script(&json!([{"do": "flood_stderr", "bytes": 64 << 20}]));
    let run = processes.ask("inspect", &[]);
    assert_eq!(run.success()["kind"], "inspection");
    assert_eq!(run.warning_codes(), ["sandbox_disabled", "unverified_target"]);
}

#[test]
fn a_grandchild_that_holds_the_pipes_delays_nothing_and_is_gone() {
    for mode in MODES {
        let processes = Processes::new().in_mode(mode);
        processes.script(&json!([{"do": "linger"}]));
        let started = Instant::now();
        processes.ask("inspect", &[]).success();
        assert!(started.elapsed() < Duration::from_secs(20), "{mode}: {:?}", started.elapsed());
    }
}

#[test]
fn a_worker_that_dies_is_named_by_its_signal_or_status() {
    let cases = [
        (json!({"do": "kill", "signal": 9}), "killed by SIGKILL"),
        (json!({"do": "kill", "signal": 4}), "killed by SIGILL"),
        (json!({"do": "kill", "signal": 6}), "killed by SIGABRT"),
        (json!({"do": "exit", "status": 7}), "exit status 7"),
        (json!({"do": "exit", "status": 65}), "exit status 65"),
    ];
    for mode in MODES {
        let processes = Processes::new().in_mode(mode);
        for (ending, said) in &cases {
            if mode == "bubblewrap" && ending["do"] == "kill" {
                // The first process of a namespace is out of reach of its own signals.
                continue;
            }
            processes.script(&json!([progress("import\n"), ending]));
            let error = processes.ask("inspect", &[]).error("worker_failed", 1);
            assert_eq!(error["details"]["ending"], *said, "{mode}");
            assert_eq!(error["details"]["progress"]["phase"], "import", "{mode}");
        }
        processes.assert_no_analysis();
    }
}

/// What a caller leaves to its children, knowingly or not: SIGCHLD ignored, and a bound of files below a worker's own.
#[test]
fn what_a_caller_leaves_to_its_children_changes_nothing() {
    const FILE_BLOCKS: &str = "2000000";
    for mode in MODES {
        for wrapper in [
            &["env", "--ignore-signal=CHLD"][..],
            &["sh", "-c", &format!("ulimit -f {FILE_BLOCKS}; exec \"$@\""), "sh"],
        ] {
            let processes = Processes::new().in_mode(mode);
            let asking = processes.asking("inspect", &[]);
            let mut wrapped = Command::new(wrapper[0]);
            wrapped.args(&wrapper[1..]).arg(asking.get_program()).args(asking.get_args());
            wrapped.env_clear().envs(asking.get_envs().filter_map(|(name, value)| Some((name, value?))));
            wrapped.env("PATH", "/usr/bin:/bin");
            processes.ended(wrapped.output().unwrap().into()).success();
        }
    }
}

/// A command that cannot deliver its document has not succeeded, and whoever reads half of one sees a failure.
#[test]
fn without_a_reader_a_success_is_a_failure_and_never_a_panic() {
    let processes = Processes::new();
    processes.ask("inspect", &[]).success();
    let full = |command: &mut Command| {
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
    };
    let closed_pipe = |command: &mut Command| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(writer);
    };
    for (break_stdout, reason) in
        [(&full as &dyn Fn(&mut Command), "No space left on device"), (&closed_pipe, "Broken pipe")]
    {
        for mut command in [processes.asking("inspect", &[]), processes.asking("functions", &["--all"])] {
            break_stdout(&mut command);
            let run = processes.ended(command.output().unwrap().into());
            let error = run.error("output_failed", 1);
            assert!(error["details"]["reason"].as_str().unwrap().starts_with(reason), "{error}");
        }
        for arguments in [&["--help"][..], &["--version"], &["--format", "human", "doctor"]] {
            let mut command = processes.command(arguments);
            break_stdout(&mut command);
            let run = Run::from(command.output().unwrap());
            assert_eq!(run.status, Some(1), "{arguments:?}: {run}");
            assert!(!String::from_utf8_lossy(&run.stderr).contains("panicked"), "{run}");
        }
    }
}

/// A descriptor that is closed is one to nowhere: nothing else is opened in its place and written to by mistake.
#[test]
fn closed_descriptors_lead_nowhere() {
    let processes = Processes::new();
    processes.ask("inspect", &[]).success();
    let before = tree::state(&processes.world.store().join("analyses"));
    let command = processes.asking("inspect", &[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"]).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(shell.status().unwrap().success());
    assert_eq!(tree::state(&processes.world.store().join("analyses")), before);
}
