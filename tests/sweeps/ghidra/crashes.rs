//! SIGKILL of the command, of the worker and of both while a worker runs, at moments of every phase.
//!
//! Everything is stopped before it is killed, so the phase in which it dies is what the worker's
//! progress file says then. A moment that came too late is tried again earlier.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Stage, grandchildren};
use crate::support::boots;
use crate::support::ghidr::Run;
use crate::support::processes::{descendants, wait_until_gone};
use crate::support::random::Random;
use crate::support::sweep::{Counts, Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "crashes",
    about: "SIGKILL of the command, of the worker, or of both, at random moments of each phase of a worker. No \
            incomplete Analysis is visible, no process and no temporary file survives, and the next command succeeds. \
            Real engine.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

const PHASES: [&str; 5] = ["boot", "import", "analysis", "export", "decompile"];
const VICTIMS: [&str; 3] = ["command", "worker", "both"];
const ATTEMPTS: u32 = 8;

fn cases(ledger: &mut Ledger) {
    let _boot = boots::take();
    let stage = Stage::new();
    let durations = measure(&stage);
    let moments = ledger.many(3, 25);
    for (index, phase) in PHASES.iter().enumerate() {
        for moment in 0..moments {
            // The subset covers all phases with a victim each, and all victims.
            let victim = VICTIMS[(moment + index) % VICTIMS.len()];
            if !ledger.is_long() && moment > 0 {
                continue;
            }
            ledger.case(format!("{victim} in {phase}, moment {moment}"), |random, counts| {
                kill(&stage, phase, victim, durations[*phase], random, counts);
            });
        }
    }
}

/// How long each phase takes undisturbed.
fn measure(stage: &Stage) -> BTreeMap<&'static str, Duration> {
    stage.reset(false);
    let mut child = start(stage, "bubblewrap", &["decompile", "--name", "main"]);
    let mut seen: Vec<(&str, Instant)> = Vec::new();
    while child.try_wait().unwrap().is_none() {
        let entered = phase(&stage.store()).filter(|now| seen.last().is_none_or(|(last, _)| last != now));
        seen.extend(entered.map(|now| (now, Instant::now())));
        std::thread::sleep(Duration::from_millis(1));
    }
    seen.push(("end", Instant::now()));
    let mut durations = BTreeMap::from(PHASES.map(|phase| (phase, Duration::from_millis(1))));
    for pair in seen.windows(2) {
        *durations.get_mut(pair[0].0).unwrap() += pair[1].1 - pair[0].1;
    }
    durations
}

/// What the worker of the one running command is doing, if there is one.
fn phase(store: &Path) -> Option<&'static str> {
    let staging = store.join("staging");
    let invocation = staging.join(tree::names(&staging).first()?).join("invocation");
    let progress = std::fs::read_to_string(invocation.join("progress")).unwrap_or_default();
    match progress.split('\t').next().unwrap() {
        "" if invocation.join("request.json").exists() => Some("boot"),
        "" => None,
        "application" => Some("boot"),
        "import" => Some("import"),
        "analysis" => Some("analysis"),
        "facts" | "save" => Some("export"),
        "open" | "query" => Some("decompile"),
        // The file is being written.
        _ => None,
    }
}

fn start(stage: &Stage, mode: &str, arguments: &[&str]) -> Child {
    let line = stage.line(&[&["--sandbox", mode], arguments].concat());
    stage.ghidr.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn kill(
    stage: &Stage,
    wanted: &str,
    victim: &str,
    duration: Duration,
    random: &mut Random,
    counts: &mut Counts,
) {
    let mode = random.pick(&["bubblewrap", "bubblewrap", "bubblewrap", "off"]);
    let mut delay = duration.mul_f64(random.below(1_000) as f64 / 1_000.0);
    for _ in 0..ATTEMPTS {
        stage.reset(wanted == "decompile");
        let mut child = start(stage, mode, &["decompile", "--name", "main"]);
        let in_time = wait_for_phase(stage, &mut child, wanted, delay);
        let everything = stop(&child);
        let worker = everything.iter().copied().find(|pid| is_worker(*pid));
        let died_in = phase(&stage.store());
        if let (true, Some(worker), true) = (in_time, worker, died_in == Some(wanted)) {
            die(stage, child, victim, worker, &everything, &format!("{victim} in {wanted}, {mode}"));
            count(counts, format!("{victim} killed in {wanted}"));
            return;
        }
        send(&everything, Signal::KILL);
        child.wait().unwrap();
        wait_until_gone(stage.ghidr.root());
        delay /= 2;
    }
    panic!("no moment of {wanted} could be met");
}

/// Waits until the phase is entered and then for `delay`; false when the command ended before.
fn wait_for_phase(stage: &Stage, child: &mut Child, wanted: &str, delay: Duration) -> bool {
    while phase(&stage.store()) != Some(wanted) {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(delay);
    true
}

/// Stops the command and then all below it; gives the processes, the command first.
fn stop(child: &Child) -> Vec<u32> {
    let mut everything = vec![child.id()];
    send(&everything, Signal::STOP);
    // Twice, for what was just being started.
    for _ in 0..2 {
        everything.truncate(1);
        everything.extend(descendants(child.id()));
        send(&everything, Signal::STOP);
    }
    everything
}

fn send(pids: &[u32], signal: Signal) {
    for pid in pids {
        // One that is gone needs no signal.
        let _ = kill_process(Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap(), signal);
    }
}

fn is_worker(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(b"--worker")
}

fn die(stage: &Stage, mut child: Child, victim: &str, worker: u32, everything: &[u32], what: &str) {
    let command = child.id();
    let victims = match victim {
        "command" => vec![command],
        "worker" => vec![worker],
        _ => vec![worker, command],
    };
    send(&victims, Signal::KILL);
    send(everything, Signal::CONT);
    let mut allowed = Vec::new();
    if victim == "worker" {
        let run = Run::from(child.wait_with_output().unwrap());
        run.check_framing();
        let error = run.error("worker_failed", 1);
        assert!(error["details"]["ending"].as_str().unwrap().contains("SIGKILL"), "{what}: {run}");
        assert!(error.get("diagnostic_log").is_some(), "{what}: {run}");
        allowed.push("diagnostics");
    } else {
        child.wait().unwrap();
    }
    wait_until_gone(stage.ghidr.root());
    let expected = usize::from(what.contains("decompile"));
    assert_eq!(grandchildren(&stage.store().join("analyses")).len(), expected, "{what}: promoted");
    stage.recovers(&allowed, what);
}
