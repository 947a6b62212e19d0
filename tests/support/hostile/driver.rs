//! A launcher that keeps one Java machine and lets it answer request after request.
//!
//! Everything on both sides of a worker's start is the product's: the harness stages, writes the
//! request, validates the response and the facts, and promotes; the adapter's entry point runs the
//! real operation. Only the process, its sandbox and its boot are missing, which makes thousands of
//! Samples affordable.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ghidr::process::worker_arguments::WorkerArguments;
use ghidr::process::{
    CapturedStream, EndedBy, LaunchPlan, Launcher, Outcome, ProcessError, Supervision, Termination,
};
use serde_json::Value;

/// How long one request may take. Analysis has a native limit of its own, import has none.
const PATIENCE: Duration = Duration::from_secs(60);
/// Requests after which the machine is replaced, so that what one Sample leaves behind stays small.
const REQUESTS_PER_MACHINE: u32 = 150;

/// The launcher.
pub struct Driver {
    root: tempfile::TempDir,
    machine: RefCell<Option<Machine>>,
    /// How many Java machines were started.
    pub machines: Cell<u32>,
}

struct Machine {
    child: Child,
    requests: ChildStdin,
    statuses: Receiver<i32>,
    served: u32,
}

impl Driver {
    /// A launcher whose machine is started by the first request.
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("ghidr-driver-").tempdir().unwrap();
        Self { root, machine: RefCell::default(), machines: Cell::default() }
    }

    fn start(&self, request: &Value) -> Machine {
        let home = self.root.path().join("home");
        let temporary = self.root.path().join("temporary");
        let _ = std::fs::remove_dir_all(&home);
        let _ = std::fs::remove_dir_all(&temporary);
        std::fs::create_dir(&temporary).unwrap();
        let boot = &request["boot"];
        let texts = |name: &str| -> Vec<String> {
            boot[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let mut options = texts("jvm_options");
        for option in &mut options {
            let Some((name, value)) = option.split_once('=') else { continue };
            match name {
                "-Duser.home" => copy_links(Path::new(value), &home),
                "-Djava.io.tmpdir"
                | "-Dapplication.settingsdir"
                | "-Dapplication.cachedir"
                | "-Dapplication.tempdir"
                | "-XX:ErrorFile" => {}
                _ => continue,
            }
            let replacement = match name {
                "-Duser.home" | "-Dapplication.settingsdir" => home.clone(),
                "-XX:ErrorFile" => self.root.path().join("hs_err.log"),
                _ => temporary.clone(),
            };
            *option = format!("{name}={}", replacement.display());
        }
        let libjvm = PathBuf::from(boot["libjvm"].as_str().unwrap());
        let java = libjvm.ancestors().nth(3).unwrap().join("bin/java");
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/java/io/ghidr/driver/Driver.java");
        let log = self.root.path().join(format!("stderr-{}", self.machines.get()));
        let mut child = Command::new(java)
            .args(options)
            .arg("-cp")
            .arg(texts("class_path").join(":"))
            .arg(source)
            .arg(boot["main_stack_mib"].to_string())
            .env_clear()
            .env("HOME", &home)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(&temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(log).unwrap())
            .spawn()
            .unwrap();
        let (send, statuses) = channel();
        let answers = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in answers.lines().map_while(Result::ok) {
                let sent = line.parse().map(|status: i32| send.send(status));
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
        });
        self.machines.set(self.machines.get() + 1);
        Machine { requests: child.stdin.take().unwrap(), child, statuses, served: 0 }
    }

    /// Lets the engine, which an earlier request has booted, write a program in its own packed form.
    pub fn pack(&self, path: &Path) {
        let mut slot = self.machine.borrow_mut();
        let machine = slot.as_mut().expect("a booted engine");
        machine.requests.write_all(format!("pack\t{}\n", path.display()).as_bytes()).unwrap();
        let status = machine.statuses.recv_timeout(PATIENCE);
        assert_eq!(status, Ok(0), "{}", self.last_output());
    }

    /// What the last machine printed, its end only.
    pub fn last_output(&self) -> String {
        let log = self.root.path().join(format!("stderr-{}", self.machines.get().saturating_sub(1)));
        let text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

impl Launcher for Driver {
    fn run(&self, plan: &LaunchPlan, supervision: &mut Supervision<'_>) -> Result<Outcome, ProcessError> {
        let worker = plan.arguments.iter().position(|argument| argument == "--worker").expect("a worker");
        let arguments = WorkerArguments::decode(&plan.arguments[worker..]).expect("worker arguments");
        let request: Value = serde_json::from_slice(&std::fs::read(&arguments.request).unwrap()).unwrap();
        let started = Instant::now();
        let mut slot = self.machine.borrow_mut();
        let mut machine = slot.take().unwrap_or_else(|| self.start(&request));
        let mut line = OsString::from(&arguments.request);
        line.push("\t");
        line.push(&arguments.response);
        line.push("\n");
        let written = machine.requests.write_all(line.as_encoded_bytes());
        let answer = match written {
            Ok(()) => machine.statuses.recv_timeout(PATIENCE.min(supervision.watchdog)),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        let (status, ended_by, termination) = match answer {
            Ok(status) => {
                machine.served += 1;
                if machine.served < REQUESTS_PER_MACHINE {
                    *slot = Some(machine);
                }
                (Some(status), EndedBy::Finished, None)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let ended = machine.child.wait().unwrap();
                let status = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal));
                (status, EndedBy::Finished, None)
            }
            Err(RecvTimeoutError::Timeout) => (None, EndedBy::Watchdog, Some(Termination::Forced)),
        };
        Ok(Outcome {
            worker_status: status,
            program_status: status,
            ended_by,
            termination,
            stdout: silence(),
            stderr: silence(),
            peak_memory_bytes: 0,
            elapsed: started.elapsed(),
        })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn silence() -> CapturedStream {
    CapturedStream { observed_bytes: 0, segments: Vec::new(), truncated: false }
}

/// The harness linked the prepared engine into the home of the first invocation, which is about to go.
fn copy_links(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path()).unwrap(), target).unwrap();
        } else if kind.is_dir() {
            copy_links(&entry.path(), &target);
        }
    }
}
