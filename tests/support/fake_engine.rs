//! A world for commands without any child process: a bundle, a store, samples, and an in-memory
//! launcher that plays a scripted worker. The honest worker knows a small program; a test edits
//! what it leaves behind, or how it ends.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ghidr::commands;
use ghidr::commands::host::{Ask, Environment, Host};
use ghidr::domain::invocation_id::InvocationId;
use ghidr::engine::bundle::Bundle;
use ghidr::output::sink::Sink;
use ghidr::process::{EndedBy, Interrupts, LaunchPlan, Launcher, Outcome, ProcessError, Supervision};
use ghidr::store::{CleanupStep, CleanupStepKind};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::fake_answer::{Answer, program};
use super::ghidr::Run;
use super::scripted_worker::{self, Called};

/// Edits what the honest worker would do.
pub type Edit = Box<dyn FnOnce(&mut Answer)>;

/// One run of the worker as the launcher saw it.
pub struct Seen {
    /// The whole plan.
    pub plan: LaunchPlan,
    /// The request.
    pub request: Value,
    /// Permission bits of the request file.
    pub request_mode: u32,
    /// Where the request was.
    pub invocation: PathBuf,
    /// Digest of the Sample the worker was given, if it was.
    pub sample_sha256: Option<String>,
}

/// The world.
pub struct World {
    root: tempfile::TempDir,
    edits: RefCell<VecDeque<Edit>>,
    /// Every run so far.
    pub seen: RefCell<Vec<Seen>>,
    /// Interruptions of the command.
    pub interrupts: Interrupts,
    /// Sandbox mode.
    pub mode: &'static str,
    /// Largest response accepted.
    pub max_response_bytes: u64,
    /// Free space beyond a Sample.
    pub reserve_bytes: u64,
    store: PathBuf,
    new_invocation_id: fn() -> std::io::Result<InvocationId>,
    /// What the person at the terminal says; `None` when there is nobody. The questions are kept.
    pub person: Option<fn() -> Option<String>>,
    /// Every question that was put to that person.
    pub questions: RefCell<Vec<String>>,
    /// Asked before each step of a cleanup.
    pub before_cleanup_step: RefCell<BeforeStep>,
}

/// May refuse a step, or never return from it.
pub type BeforeStep = Box<dyn FnMut(&CleanupStep) -> std::io::Result<()>>;

/// How often a command that meets a lock is repeated.
const BUSY_ATTEMPTS: usize = 100;

thread_local! {
    /// The file that changes when this thread's command asks for an invocation id.
    static CHANGING: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

impl World {
    /// A bundle whose engine never runs, and an unused store.
    pub fn new() -> Self {
        super::signals::heed();
        let root = tempfile::Builder::new().prefix("ghidr-world-").tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for directory in [
            "bundle/adapter/scripts",
            "bundle/cache/jar.resource.copied.files",
            "jdk/bin",
            "jdk/lib/server",
            "samples",
            "home",
        ] {
            std::fs::create_dir_all(path(directory)).unwrap();
        }
        for file in [
            "bundle/ghidra.jar",
            "bundle/adapter/ghidr-adapter.jar",
            "jdk/bin/javac",
            "jdk/lib/server/libjvm.so",
        ] {
            std::fs::write(path(file), "").unwrap();
        }
        std::fs::write(path("jdk/release"), "JAVA_VERSION=\"17.0.1\"\nMODULES=\"java.base jdk.compiler\"\n")
            .unwrap();
        let descriptor = serde_json::json!({
            "descriptor_version": 1, "layout": "single_jar", "path": "ghidra.jar", "ghidra_version": "10.3",
            "ghidra_build": "build", "ghidra_release_name": "PUBLIC", "java_minimum": 17, "java_maximum": null,
            "java_home": path("jdk"), "cache": "cache", "cache_sha256": "0".repeat(64)
        });
        std::fs::write(path("bundle/engine.json"), descriptor.to_string()).unwrap();
        let store = path("store");
        let world = Self {
            root,
            edits: RefCell::default(),
            seen: RefCell::default(),
            interrupts: Interrupts::none(),
            mode: "off",
            max_response_bytes: 1 << 20,
            reserve_bytes: 0,
            store,
            new_invocation_id: random_id,
            person: None,
            questions: RefCell::default(),
            before_cleanup_step: RefCell::new(Box::new(|_| Ok(()))),
        };
        world.write_sample("sample", b"not even a program");
        world
    }

    /// A file of the world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.store.clone()
    }

    /// Works on another world's store.
    pub fn use_store(&mut self, store: PathBuf) {
        self.store = store;
    }

    /// The Sample is written to after it was identified and before it is copied: when the
    /// command asks for the id of its staging directory.
    pub fn change_sample_when_staging(&mut self) {
        CHANGING.set(Some(self.sample()));
        self.new_invocation_id = || {
            if let Some(path) = CHANGING.take() {
                std::fs::write(path, b"other bytes").unwrap();
            }
            random_id()
        };
    }

    /// Writes a Sample and gives its path.
    pub fn write_sample(&self, name: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
        let path = self.path("samples").join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The Sample that is always there.
    pub fn sample(&self) -> PathBuf {
        self.path("samples/sample")
    }

    /// Edits what the next run of the worker does; a run without an edit is honest.
    pub fn next(&self, edit: impl FnOnce(&mut Answer) + 'static) {
        self.edits.borrow_mut().push_back(Box::new(edit));
    }

    /// How often a worker ran.
    pub fn runs(&self) -> usize {
        self.seen.borrow().len()
    }

    /// Operations that ran, in order.
    pub fn operations(&self) -> Vec<String> {
        self.seen.borrow().iter().map(|seen| seen.request["operation"].as_str().unwrap().to_owned()).collect()
    }

    /// Runs a command on this world and checks the framing of its JSON.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        let run = self.run_unframed(arguments);
        run.check_framing();
        let left = std::fs::read_dir(self.store().join("staging")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "staging is not empty after {run}");
        run
    }

    /// `command SAMPLE arguments…`.
    pub fn ask(&self, command: &str, arguments: &[&str]) -> Run {
        let sample = self.sample().into_os_string();
        self.run([OsString::from(command), sample].into_iter().chain(arguments.iter().map(OsString::from)))
    }

    /// Runs a command on this world. Another test of this process that starts a program holds, for
    /// the moment until that program runs, copies of every lock that is held here; a command that
    /// meets one tries again.
    pub fn run_unframed<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        let given: Vec<OsString> =
            arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        self.run_given(&self.in_mode(&given))
    }

    fn in_mode(&self, arguments: &[OsString]) -> Vec<OsString> {
        let mode = ["--sandbox".into(), self.mode.into()];
        mode.into_iter().chain(arguments.iter().cloned()).collect()
    }

    /// Runs a command on this world, once.
    pub fn run_once(&self, arguments: &[OsString]) -> Run {
        self.execute(&self.in_mode(arguments))
    }

    /// The same for a command line that says itself which sandbox mode it wants.
    pub fn run_given(&self, arguments: &[OsString]) -> Run {
        let mut run = self.execute(arguments);
        for _ in 0..BUSY_ATTEMPTS {
            let told = String::from_utf8_lossy(&run.stderr).into_owned();
            if !told.contains("\"code\":\"analysis_busy\"") && !told.contains("another process is using") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
            run = self.execute(arguments);
        }
        run
    }

    fn execute(&self, arguments: &[OsString]) -> Run {
        let arguments: Vec<OsString> =
            std::iter::once("ghidr".into()).chain(arguments.iter().cloned()).collect();
        let ask = |question: &str| {
            self.questions.borrow_mut().push(question.to_owned());
            Ok(self.person.and_then(|says| says()))
        };
        let host = Host {
            executable: env!("CARGO_BIN_EXE_ghidr").into(),
            bundle: Bundle::at(self.path("bundle")),
            environment: Environment {
                ghidr_store: Some(self.store().into()),
                home: Some(self.path("home").into()),
                ..Environment::default()
            },
            launcher: self,
            interrupts: &self.interrupts,
            now: || time::OffsetDateTime::UNIX_EPOCH,
            new_invocation_id: self.new_invocation_id,
            stderr_is_terminal: false,
            ask: self.person.is_some().then_some(&ask as &Ask<'_>),
            before_cleanup_step: &|step| (self.before_cleanup_step.borrow_mut())(step),
            standard_input: || Ok(std::fs::File::open("/dev/null")?.into()),
            store_reserve_bytes: self.reserve_bytes,
            max_response_bytes: self.max_response_bytes,
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let status = commands::run(&arguments, &host, &mut Sink::new(&mut stdout, &mut stderr));
        Run { status: Some(status as i32), stdout, stderr }
    }

    /// Begins to remove everything of the Sample and fails to delete the first of it, so that all of it is
    /// left in a transaction.
    pub fn leave_a_cleanup_unfinished(&self) {
        *self.before_cleanup_step.borrow_mut() = Box::new(|step| match step.kind {
            CleanupStepKind::Delete => Err(rustix::io::Errno::IO.into()),
            _ => Ok(()),
        });
        self.ask("clean", &[]).error("cleanup_incomplete", 1);
        *self.before_cleanup_step.borrow_mut() = Box::new(|_| Ok(()));
    }

    /// The one Analysis in the store.
    pub fn analysis(&self) -> PathBuf {
        let analyses: Vec<PathBuf> = self.analyses();
        assert_eq!(analyses.len(), 1, "{analyses:?}");
        analyses[0].clone()
    }

    /// Every Analysis in the store.
    pub fn analyses(&self) -> Vec<PathBuf> {
        grandchildren(&self.store().join("analyses"))
    }

    /// Every Diagnostic Log bundle.
    pub fn diagnostics(&self) -> Vec<PathBuf> {
        grandchildren(&self.store().join("diagnostics"))
    }
}

/// The directories two levels below.
pub fn grandchildren(directory: &Path) -> Vec<PathBuf> {
    let children = |directory: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    children(directory).iter().flat_map(|child| children(child)).collect()
}

fn random_id() -> std::io::Result<InvocationId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(InvocationId::from_bytes(bytes))
}

impl Launcher for World {
    fn run(&self, plan: &LaunchPlan, supervision: &mut Supervision<'_>) -> Result<Outcome, ProcessError> {
        use std::os::unix::fs::PermissionsExt as _;
        let called = scripted_worker::called(plan);
        let Called { arguments, request } = &called;
        let sample = request["arguments"]["sample_path"].as_str();
        self.seen.borrow_mut().push(Seen {
            plan: plan.clone(),
            request_mode: std::fs::metadata(&arguments.request).unwrap().permissions().mode() & 0o7777,
            sample_sha256: sample.map(|path| hex::encode(Sha256::digest(std::fs::read(path).unwrap()))),
            invocation: arguments.request.parent().unwrap().to_owned(),
            request: request.clone(),
        });
        let mut answer = Answer::honest(request, program());
        if let Some(edit) = self.edits.borrow_mut().pop_front() {
            edit(&mut answer);
        }
        Ok(scripted_worker::play(&called, supervision, answer))
    }
}

/// How the worker ended, for edits.
pub fn ends(ended_by: EndedBy) -> impl FnOnce(&mut Answer) {
    move |answer| {
        answer.ended_by = ended_by;
        answer.status = Some(143);
        answer.termination = Some(ghidr::process::Termination::Graceful);
    }
}
