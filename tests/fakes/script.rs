//! What a scripted worker does: an honest answer, changed by the steps in `script.json` beside the adapter.
//!
//! It lives under the production rules of a worker. An unknown step is an error, so a test cannot pass by misspelling one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ghidr::process::worker_arguments::WorkerArguments;
use ghidr::process::worker_life::{self, WorkerEnd};
use rustix::process::{Signal, getpid, kill_process};
use serde::Deserialize;
use serde_json::{Value, json};

use super::fake_answer::{Answer, program};
use super::flood::flood;

/// The first argument of a process that only holds what it inherited.
pub const LINGER: &str = "--linger";
/// What a Java virtual machine leaves after SIGTERM.
const TERMINATED: u8 = 143;
/// What a worker leaves whose parent is gone.
const ABANDONED: u8 = 66;

/// SIGTERM arrived at a worker that goes on.
static TERM: AtomicBool = AtomicBool::new(false);

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// Says what it is doing.
    Progress { line: String },
    /// Writes this many bytes to standard error.
    FloodStderr { bytes: usize },
    /// Starts descendants that hold the output pipes.
    Linger,
    /// Starts this many threads.
    StartThreads { threads: u32 },
    /// Keeps this much memory.
    Allocate { mib: usize },
    /// Writes this much into the project.
    Fill { mib: usize },
    /// Fails as a whole.
    Fail { code: String, details: Value },
    /// Fails in the Query.
    FailQuery { code: String, details: Value },
    /// Sets a part of the honest outcome.
    Outcome { at: String, value: Value },
    /// Changes one member or element of the finished response.
    Response { at: String, how: How },
    /// Changes one member of the first answer to a Query.
    Answered { at: String, how: How },
    /// Puts these bytes in the place of the response.
    Raw { text: String },
    /// Does something to a file of the answer, after it was written: `facts/…`, `project/…` or `invocation/…`.
    File { path: PathBuf, how: FileHow },
    /// Writes a file wherever it likes.
    Plant { path: PathBuf, text: String },
    /// Writes the answer now rather than at the end.
    Answer,
    /// Lets a second process write the response after this one is gone.
    AnswerFromBeyond,
    /// Goes on after SIGTERM, from here when it arrives.
    AwaitTerm,
    /// Ignores SIGTERM for good.
    IgnoreTerm,
    /// Does nothing, for ever.
    Hang,
    /// Ends so.
    Exit { status: u8 },
    /// Ends by this signal.
    Kill { signal: i32 },
}

/// How the response is changed at a place.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    Removed,
    Duplicated,
    Retyped,
    Oversized,
}

/// What becomes of a file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FileHow {
    Removed,
    Symlink,
    HardLink,
    Fifo,
    Directory,
    /// A hole of this size follows what is there.
    Sparse(u64),
    /// Only the first half is there.
    Unfinished,
    Renamed(PathBuf),
    Replaced(String),
}

/// Runs the worker.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let arguments = WorkerArguments::decode(arguments).expect("worker arguments");
    worker_life::restrict(arguments.file_size_bytes).expect("limits");
    let request: Value = serde_json::from_slice(&fs::read(&arguments.request).unwrap()).unwrap();
    let adapter = Path::new(request["boot"]["class_path"][0].as_str().unwrap()).parent().unwrap();
    let steps: Vec<Step> = fs::read(adapter.join("script.json"))
        .map_or_else(|_| Vec::new(), |bytes| serde_json::from_slice(&bytes).expect("script"));
    let goes_on = steps.iter().any(|step| matches!(step, Step::AwaitTerm | Step::IgnoreTerm));
    let end = worker_life::live(move || {
        let mut worker = Worker { answer: Answer::honest(&request, program()), arguments, request };
        let status = steps.into_iter().find_map(|step| worker.obey(step));
        let status = status.unwrap_or_else(|| {
            worker.leave_behind();
            0
        });
        if goes_on {
            // The main thread has stopped listening to this one if SIGTERM came first.
            std::process::exit(status.into());
        }
        status
    });
    match end.expect("threads") {
        WorkerEnd::Done(status) => ExitCode::from(status),
        WorkerEnd::Lost => ExitCode::from(99),
        WorkerEnd::Terminated if goes_on => {
            TERM.store(true, Ordering::SeqCst);
            loop {
                thread::park();
            }
        }
        WorkerEnd::Terminated => ExitCode::from(TERMINATED),
        WorkerEnd::Abandoned => ExitCode::from(ABANDONED),
    }
}

/// Outlives its parent until somebody ends it.
pub fn linger(arguments: &[OsString]) -> ExitCode {
    if let Some(response) = arguments.get(2) {
        thread::sleep(Duration::from_millis(300));
        let _ = fs::rename(Path::new(response).with_extension("late"), response);
    }
    thread::sleep(Duration::from_secs(600));
    ExitCode::SUCCESS
}

struct Worker {
    answer: Answer,
    arguments: WorkerArguments,
    request: Value,
}

impl Worker {
    /// Carries out one step; a status ends the script.
    fn obey(&mut self, step: Step) -> Option<u8> {
        match step {
            Step::Progress { line } => {
                fs::write(self.request["progress_path"].as_str().unwrap(), line).unwrap();
            }
            Step::FloodStderr { bytes } => flood(bytes),
            Step::Linger => start_lingerer(&[]),
            Step::StartThreads { threads } => {
                for _ in 0..threads {
                    thread::Builder::new().stack_size(64 << 10).spawn(wait_for_ever).unwrap();
                }
                wait_for_ever();
            }
            Step::Allocate { mib } => {
                std::mem::forget(vec![1_u8; mib << 20]);
                wait_for_ever();
            }
            Step::Fill { mib } => {
                fill(&self.directory("project").join("analysis.rep/filler"), mib);
                wait_for_ever();
            }
            Step::Fail { code, details } => self.answer.fail(&code, details),
            Step::FailQuery { code, details } => self.answer.fail_query(&code, details),
            Step::Outcome { at, value } => *self.answer.outcome_at(&at) = value,
            Step::Response { at, how: How::Duplicated } => {
                let duplicated = at.clone();
                self.answer.spell = Box::new(move |response| spell(response, "", &duplicated).into_bytes());
            }
            Step::Answered { at, how } => {
                self.answer.spell_answer = Box::new(move |answer| {
                    let mut changed = answer.clone();
                    match how {
                        How::Duplicated => return spell(answer, "", &at).into_bytes(),
                        how => change(&mut changed, &at, how),
                    }
                    changed.to_string().into_bytes()
                });
            }
            Step::Response { at, how } => self.answer.claim(move |response| change(response, &at, how)),
            Step::Raw { text } => self.answer.raw_response = Some(text.into_bytes()),
            Step::File { path, how } => self.change_file(&path, how),
            Step::Plant { path, text } => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Step::Answer => self.leave_behind(),
            Step::AnswerFromBeyond => {
                self.answer.leave_behind(&self.arguments.response.with_extension("late"));
                start_lingerer(&[self.arguments.response.as_os_str().to_owned()]);
                return Some(0);
            }
            Step::AwaitTerm => {
                while !TERM.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(5));
                }
            }
            Step::IgnoreTerm => {}
            Step::Hang => wait_for_ever(),
            Step::Exit { status } => return Some(status),
            Step::Kill { signal } => loop {
                // Rust's own handler for faults takes the first one for itself.
                kill_process(getpid(), Signal::from_named_raw(signal).unwrap()).unwrap();
                thread::sleep(Duration::from_millis(20));
            },
        }
        None
    }

    fn leave_behind(&mut self) {
        self.answer.leave_behind(&self.arguments.response);
    }

    fn directory(&self, name: &str) -> PathBuf {
        match name {
            "invocation" => self.arguments.response.parent().unwrap().to_owned(),
            name => self.request["arguments"][format!("{name}_directory")].as_str().unwrap().into(),
        }
    }

    fn change_file(&self, path: &Path, how: FileHow) {
        let mut parts = path.iter();
        let path = self.directory(parts.next().unwrap().to_str().unwrap()).join(parts.as_path());
        let other = path.with_extension("other");
        match how {
            FileHow::Removed => fs::remove_file(path).unwrap(),
            FileHow::Symlink => {
                fs::rename(&path, &other).unwrap();
                symlink(other.file_name().unwrap(), path).unwrap();
            }
            FileHow::HardLink => fs::hard_link(path, other).unwrap(),
            FileHow::Fifo => {
                fs::remove_file(&path).unwrap();
                rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
            }
            FileHow::Directory => {
                fs::remove_file(&path).unwrap();
                fs::create_dir(path).unwrap();
            }
            FileHow::Sparse(bytes) => {
                File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
            }
            FileHow::Unfinished => {
                let bytes = fs::read(&path).unwrap();
                fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
            }
            FileHow::Renamed(name) => fs::rename(&path, path.with_file_name(name)).unwrap(),
            FileHow::Replaced(text) => fs::write(path, text).unwrap(),
        }
    }
}

fn wait_for_ever() -> ! {
    loop {
        thread::park();
    }
}

fn fill(path: &Path, mib: usize) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = File::create(path).unwrap();
    let block = vec![1_u8; 1 << 20];
    for _ in 0..mib {
        file.write_all(&block).unwrap();
    }
}

#[allow(clippy::zombie_processes, reason = "outliving its parent is what a lingerer is for")]
fn start_lingerer(arguments: &[OsString]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(LINGER).args(arguments).stdin(Stdio::null()).spawn().unwrap();
}

/// Changes what is at a JSON pointer.
fn change(response: &mut Value, at: &str, how: How) {
    let (parent, name) = at.rsplit_once('/').unwrap();
    let parent = response.pointer_mut(parent).unwrap();
    let index = name.parse::<usize>();
    if matches!(how, How::Removed) {
        match (parent, index) {
            (Value::Object(members), _) => drop(members.remove(name).unwrap()),
            (Value::Array(elements), Ok(index)) => drop(elements.remove(index)),
            (other, _) => panic!("nothing to remove at {at} of {other}"),
        }
        return;
    }
    let place = match index {
        Ok(index) if parent.is_array() => &mut parent[index],
        _ => &mut parent[name],
    };
    *place = if matches!(how, How::Retyped) { retyped(place) } else { oversized(place) };
}

/// A value of another type that looks as much like this one as it can.
fn retyped(value: &Value) -> Value {
    match value {
        Value::Null => json!(0),
        Value::Bool(flag) => json!(flag.to_string()),
        Value::Number(number) => json!(number.to_string()),
        Value::String(_) => json!(1),
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(at, element)| (at.to_string(), element.clone())).collect()
        }
        Value::Object(members) => members.values().cloned().collect(),
    }
}

/// A value of the same type that no honest worker would write.
fn oversized(value: &Value) -> Value {
    match value {
        Value::String(_) => json!("x".repeat(2 << 20)),
        Value::Number(_) => json!(1e300),
        Value::Array(elements) => {
            let element = elements.first().cloned().unwrap_or(Value::Null);
            json!(vec![element; 200_000])
        }
        Value::Object(members) => {
            let mut members: BTreeMap<String, Value> = members.clone().into_iter().collect();
            members.extend((0..100_000).map(|number| (format!("unknown {number}"), Value::Null)));
            json!(members)
        }
        other => panic!("{other} cannot be larger"),
    }
}

/// The JSON text of a value in which the member at one pointer is written twice.
fn spell(value: &Value, here: &str, duplicated: &str) -> String {
    let join = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(members) => {
            let spell_member = |(name, member): (&String, &Value)| {
                let at = format!("{here}/{name}");
                let text = format!("{}:{}", json!(name), spell(member, &at, duplicated));
                if at == duplicated { format!("{text},{text}") } else { text }
            };
            format!("{{{}}}", join(members.iter().map(spell_member).collect()))
        }
        Value::Array(elements) => {
            let spell_element = |(at, element)| spell(element, &format!("{here}/{at}"), duplicated);
            format!("[{}]", join(elements.iter().enumerate().map(spell_element).collect()))
        }
        other => other.to_string(),
    }
}
