//! `cargo xtask profile`: on what the main thread of a worker spends its time, as text.
//!
//! Runs the production commands with a launcher of its own, which gives the worker's request to a Java machine of its own
//! with a sampler beside the adapter, because nothing can attach to a worker. There is neither a sandbox nor a class data
//! archive, so loading classes has a larger share than in production: what it shows is where to look, and times are measured by
//! `cargo xtask bench`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use ghidr::commands;
use ghidr::commands::host::{Environment, Host};
use ghidr::engine::bundle::Bundle;
use ghidr::output::sink::Sink;
use ghidr::process::launch::{LaunchPlan, Launcher, Supervision};
use ghidr::process::outcome::{CapturedStream, EndedBy};
use ghidr::process::worker_arguments::WorkerArguments;
use ghidr::process::{Interrupts, Outcome, ProcessError};
use ghidr::protocol::decode::decode;

use crate::error::{AtPath, TaskError};
use crate::project::{Profile, Project};
use crate::{command, files, report, setup};

const SAMPLER: &str = "io.ghidr.adapter.Sampler";
const SOURCE: &str = include_str!("Sampler.java");
const SAMPLE: &str = "fixtures/bin/elf-x86_64-pie";
/// The second finds the Analysis that the first has made.
const QUESTIONS: [(&str, &[&str]); 2] = [
    ("cold `decompile`", &["decompile", "--name", "main"]),
    ("first `decompile` on a cached Analysis", &["decompile", "--name", "classify"]),
];
const PREAMBLE: &str = "\
# Where a worker spends its time

Written by `cargo xtask profile`: the times that `--verbose` shows, then samples of the worker's main thread, each with its
share of all. Below a phase are the calls in it, below a call those it makes; what makes nothing but one other call, or has a
small share, is left out. There was neither a sandbox nor boot data, so loading classes has a larger share than in production,
and samples are taken where the virtual machine can stop: this shows where to look, not how long it takes.
";

/// Profiles the questions and writes `docs/performance/phases.md`.
pub fn run(project: &Project) -> Result<(), TaskError> {
    let setup = setup::run(project, Profile::Debug)?;
    let directory = std::env::temp_dir().join(format!("ghidr-profile-{}", std::process::id()));
    files::create_public_directory(&directory)?;
    let sampled = Sampled::new(&setup.jdk.home, &setup.adapter.jar, &directory)
        .and_then(|launcher| ask(project, &launcher, &directory));
    files::remove(&directory)?;
    let path = project.root.join("docs/performance/phases.md");
    fs::write(&path, sampled?).at("write", &path)?;
    report::say(format!("written: {}", path.display()));
    Ok(())
}

fn ask(project: &Project, launcher: &Sampled, directory: &Path) -> Result<String, TaskError> {
    let interrupts = Interrupts::none();
    let mut host = Host::of_process(project.executable("debug"), launcher, &interrupts, false);
    host.bundle = Bundle::at(project.bundled_tree());
    host.environment = Environment::default();
    let mut text = PREAMBLE.to_owned();
    for (title, words) in QUESTIONS {
        let mut line = vec![OsString::from("ghidr")];
        line.extend(words.iter().map(OsString::from));
        line.extend(["--format", "human", "--verbose", "--sandbox", "off", "--store"].map(OsString::from));
        line.extend([directory.join("store").into(), project.root.join(SAMPLE).into()]);
        let (mut answer, mut times) = (Vec::new(), Vec::new());
        commands::run(&line, &host, &mut Sink::new(&mut answer, &mut times));
        let profile = fs::read_to_string(&launcher.profile)
            .map_err(|_| TaskError::Refused(format!("not answered: {}", String::from_utf8_lossy(&answer))))?;
        files::remove(&launcher.profile)?;
        let times = String::from_utf8_lossy(&times);
        let times = times.lines().find(|line| line.starts_with("worker ")).unwrap_or_default();
        text += &format!("\n## {title}\n\n```text\n{times}\n\n{profile}```\n");
    }
    Ok(text)
}

/// Starts a sampled Java machine where production starts a worker.
struct Sampled {
    java: PathBuf,
    classes: PathBuf,
    profile: PathBuf,
}

impl Sampled {
    fn new(java_home: &Path, adapter: &Path, directory: &Path) -> Result<Self, TaskError> {
        let source = directory.join("Sampler.java");
        fs::write(&source, SOURCE).at("write", &source)?;
        let classes = directory.join("classes");
        let mut compiler = Command::new(java_home.join("bin/javac"));
        command::output(compiler.arg("-cp").arg(adapter).arg("-d").arg(&classes).arg(&source))?;
        Ok(Self { java: java_home.join("bin/java"), classes, profile: directory.join("profile.txt") })
    }

    fn command(&self, plan: &LaunchPlan) -> std::io::Result<Command> {
        let worker = WorkerArguments::decode(&plan.arguments).map_err(std::io::Error::other)?;
        let boot = decode(&fs::read(&worker.request)?).map_err(std::io::Error::other)?.boot;
        let class_path = format!("{}:{}", boot.class_path.join(":"), self.classes.display());
        let mut command = Command::new(&self.java);
        command.env_clear().envs(plan.environment.iter().cloned()).current_dir(&plan.current_directory);
        command.args(&boot.jvm_options).args(["-cp", &class_path, SAMPLER]);
        command.arg(&worker.request).arg(&worker.response).arg(&self.profile);
        Ok(command)
    }
}

impl Launcher for Sampled {
    fn run(&self, plan: &LaunchPlan, supervision: &mut Supervision<'_>) -> Result<Outcome, ProcessError> {
        let refused = |source| ProcessError::Spawn { program: self.java.clone(), source };
        let log = supervision.capture_directory.join("sampled.log");
        let log = File::create(log).map_err(refused)?;
        let started = Instant::now();
        let mut command = self.command(plan).map_err(refused)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let status = command.status().map_err(refused)?.code();
        let nothing = || CapturedStream { observed_bytes: 0, segments: Vec::new(), truncated: false };
        Ok(Outcome {
            worker_status: status,
            program_status: status,
            ended_by: EndedBy::Finished,
            termination: None,
            stdout: nothing(),
            stderr: nothing(),
            peak_memory_bytes: 0,
            elapsed: started.elapsed(),
        })
    }
}
