//! The whole command in one process of its own: its worker is scripted and not even started.
//!
//! `scripted_ghidr WORLD SCRIPT ARGUMENTS...`: WORLD is a directory that the tests' `World` made, SCRIPT
//! what the worker does (`honest`, or `fails` to import), and the rest a command line of `ghidr`.
//! For tests that put faults between the system calls of a command: a run costs milliseconds and makes
//! the same calls each time, because nothing is waited for. `fake_ghidr` does start a worker.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(dead_code, reason = "the integration tests use the rest of the shared modules")]

#[path = "../support/fake_answer.rs"]
mod fake_answer;
#[path = "../support/scripted_worker.rs"]
mod scripted_worker;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use fake_answer::{Answer, program};
use ghidr::commands::{self, host::Host};
use ghidr::engine::bundle::Bundle;
use ghidr::output::sink::Sink;
use ghidr::process::outcome::CapturedStream;
use ghidr::process::{EndedBy, Interrupts, LaunchPlan, Launcher, Outcome, ProcessError, Supervision};

/// Files that are looked for in vain, so that a trace of system calls shows when the worker runs.
const BEGINS: &str = "/ghidr-scripted-worker-begins";
const ENDS: &str = "/ghidr-scripted-worker-ends";

struct Script {
    fails: bool,
}

impl Launcher for Script {
    fn run(&self, plan: &LaunchPlan, supervision: &mut Supervision<'_>) -> Result<Outcome, ProcessError> {
        assert!(std::fs::File::open(BEGINS).is_err());
        let called = scripted_worker::called(plan);
        let mut answer = Answer::honest(&called.request, program());
        answer.stdout = b"said".to_vec();
        if self.fails {
            answer.fail("import_failed", serde_json::json!({"reason": "as the script says"}));
        }
        // A worker that cannot write what it has to write dies; it does not take the command with it.
        std::panic::set_hook(Box::new(|_| {}));
        let played = catch_unwind(AssertUnwindSafe(|| scripted_worker::play(&called, supervision, answer)));
        let _ = std::panic::take_hook();
        let outcome = played.unwrap_or_else(|_| dead());
        assert!(std::fs::File::open(ENDS).is_err());
        Ok(outcome)
    }
}

/// How a worker is seen that died before it said anything.
fn dead() -> Outcome {
    let silent = || CapturedStream { observed_bytes: 0, truncated: false, segments: Vec::new() };
    Outcome {
        worker_status: Some(1),
        program_status: Some(1),
        ended_by: EndedBy::Finished,
        termination: None,
        stdout: silent(),
        stderr: silent(),
        peak_memory_bytes: 0,
        elapsed: Duration::from_millis(1),
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap();
    let world = PathBuf::from(arguments.next().unwrap());
    let fails = match arguments.next().unwrap().to_str().unwrap() {
        "honest" => false,
        "fails" => true,
        other => panic!("unknown script {other}"),
    };
    let line: Vec<OsString> =
        [program, "--sandbox".into(), "off".into()].into_iter().chain(arguments).collect();
    let interrupts = Interrupts::install().unwrap();
    let launcher = Script { fails };
    let host = Host {
        bundle: Bundle::at(world.join("bundle")),
        store_reserve_bytes: 0,
        ..Host::of_process(std::env::current_exe().unwrap(), &launcher, &interrupts, false)
    };
    let (mut stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    commands::run(&line, &host, &mut Sink::new(&mut stdout, &mut stderr)).into()
}
