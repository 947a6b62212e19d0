//! The production command whose worker is scripted instead of booting a Java virtual machine, or with `FAKE_EXECUTABLE`
//! the worker of that one. A process of its own also because a launcher ends whatever its process started.
//!
//! Everything else is the code that ships: command line, store, sandbox, guard, supervision, protocol and output. Its own
//! environment stands for what a test cannot wait for or fill: `FAKE_BUNDLE`, `FAKE_WATCHDOG_MS`, `FAKE_GRACE_MS`,
//! `FAKE_DISK_QUOTA_BYTES`, `FAKE_MAX_RESPONSE_BYTES`, `FAKE_RESERVE_BYTES`, and
//! `FAKE_DELETION_FAILS`. With `FAKE_BOOT_DATA` it makes boot data, as set-up does: STORE OUTPUT SAMPLE FUNCTION.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::exit)]

#[allow(dead_code, reason = "a process has an output and an end of its own")]
#[path = "../support/fake_answer.rs"]
mod fake_answer;
mod flood;
mod script;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ghidr::commands::boot_data::{self, BootDataPlan};
use ghidr::commands::{self, host::Host};
use ghidr::engine::bundle::Bundle;
use ghidr::output::sink::Sink;
use ghidr::process::worker_arguments::WORKER;
use ghidr::process::{
    ChildLauncher, Interrupts, LaunchPlan, Launcher, Outcome, ProcessError, Supervision, guard,
};
use ghidr::store::CleanupStepKind;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match arguments.get(1) {
        Some(first) if first == WORKER => return script::main(&arguments[1..]),
        Some(first) if first == guard::GUARD => return guard::main(&arguments[1..]),
        Some(first) if first == script::LINGER => return script::linger(&arguments),
        _ => {}
    }
    let (mut stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    let stderr_is_terminal = stderr.is_terminal();
    let mut sink = Sink::new(&mut stdout, &mut stderr);
    let interrupts = Interrupts::install().unwrap();
    let other = std::env::var_os("FAKE_EXECUTABLE").map(PathBuf::from);
    let is_scripted = other.is_none();
    let executable = other.unwrap_or_else(|| std::env::current_exe().unwrap());
    let mut host = Host::of_process(executable, &Impatient, &interrupts, stderr_is_terminal);
    if is_scripted {
        host.bundle = Bundle::at(std::env::var_os("FAKE_BUNDLE").expect("FAKE_BUNDLE").into());
    }
    host.store_reserve_bytes = number("FAKE_RESERVE_BYTES").unwrap_or(0);
    host.max_response_bytes = number("FAKE_MAX_RESPONSE_BYTES").unwrap_or(host.max_response_bytes);
    if std::env::var_os("FAKE_DELETION_FAILS").is_some() {
        host.before_cleanup_step = &|step| match step.kind {
            CleanupStepKind::Delete => Err(std::io::Error::other("as told")),
            _ => Ok(()),
        };
    }
    if std::env::var_os("FAKE_BOOT_DATA").is_some() {
        let [_, store, output, sample, function] = &arguments[..] else { panic!("{arguments:?}") };
        let plan = BootDataPlan {
            store: store.into(),
            output: output.into(),
            samples: vec![sample.into()],
            function: function.to_str().unwrap().to_owned(),
        };
        boot_data::make(&host, &plan).unwrap();
        return ExitCode::SUCCESS;
    }
    commands::run(&arguments, &host, &mut sink).into()
}

/// The production launcher with other bounds.
struct Impatient;

impl Launcher for Impatient {
    fn run(&self, plan: &LaunchPlan, supervision: &mut Supervision<'_>) -> Result<Outcome, ProcessError> {
        let duration = |name| number(name).map(Duration::from_millis);
        supervision.watchdog = duration("FAKE_WATCHDOG_MS").unwrap_or(supervision.watchdog);
        supervision.grace = duration("FAKE_GRACE_MS").unwrap_or(supervision.grace);
        supervision.max_disk_bytes = number("FAKE_DISK_QUOTA_BYTES").or(supervision.max_disk_bytes);
        ChildLauncher.run(plan, supervision)
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}
