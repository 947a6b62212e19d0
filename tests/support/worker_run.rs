//! Runs the fake worker under a real parent process and reads back what became of it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The sandbox modes, all three of which every lifecycle promise holds in.
pub const MODES: [&str; 3] = ["bubblewrap", "external", "off"];

/// A private directory, a script for the worker, and options for its parent.
pub struct WorkerRun {
    root: tempfile::TempDir,
    options: Vec<OsString>,
    environment: Vec<(String, String)>,
    outer: Vec<String>,
}

/// What the parent reported, and what the worker said.
pub struct Report {
    pub outcome: Value,
    pub stdout: String,
    pub root: PathBuf,
    _root: tempfile::TempDir,
}

impl WorkerRun {
    pub fn new(mode: &str, script: &str) -> Self {
        let root = tempfile::Builder::new().prefix("ghidr-run-").tempdir().unwrap();
        fs::write(root.path().join("script"), script).unwrap();
        fs::write(root.path().join("secret"), "the caller's").unwrap();
        Self { root, options: Vec::new(), environment: Vec::new(), outer: Vec::new() }
            .with("mode", mode)
            .with("worker", env!("CARGO_BIN_EXE_fake_worker"))
    }

    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let mut option = OsString::from(format!("{name}="));
        option.push(value);
        self.options.push(option);
        self
    }

    /// Sets a variable of the parent's own environment.
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts the parent with another program, whose words these are.
    pub fn below(mut self, outer: &[&str]) -> Self {
        self.outer = outer.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// A program of this run, in its own directory.
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn command(&self) -> Command {
        super::signals::heed();
        let mut words = self.outer.iter().map(String::as_str).chain([env!("CARGO_BIN_EXE_fake_harness")]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        let mut root = OsString::from("root=");
        root.push(self.root.path());
        command.arg(root).args(&self.options).stdout(Stdio::piped());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the parent and leaves it to the caller.
    pub fn start(&self) -> Child {
        self.command().spawn().unwrap()
    }

    /// Runs to the end; whatever the script did, no process may be left.
    pub fn finish(self) -> Report {
        let child = self.start();
        self.finish_started(child)
    }

    pub fn finish_started(self, child: Child) -> Report {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the parent failed");
        let left = survivors(self.root.path());
        assert_eq!(left, Vec::<String>::new(), "processes survived the run");
        let outcome = serde_json::from_slice(&output.stdout).unwrap();
        let root = self.root.path().to_owned();
        let stdout = fs::read_to_string(root.join("capture/stdout.log")).unwrap_or_default();
        Report { outcome, stdout, root, _root: self.root }
    }
}

/// Processes that have `root` on their command line or mounted. The threads are asked, because a process whose first thread
/// has ended shows nothing of its own.
pub fn survivors(root: &Path) -> Vec<String> {
    let needle = root.as_os_str().as_encoded_bytes();
    let mentions = |path: PathBuf| {
        fs::read(path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
    };
    let own = std::process::id().to_string();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|entry| entry.file_name() != *own)
        .map(|entry| entry.path())
        .filter(|process| {
            let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten();
            threads
                .map(|thread| thread.path())
                .any(|thread| mentions(thread.join("cmdline")) || mentions(thread.join("mountinfo")))
        })
        .map(|process| {
            let file = |name: &str| fs::read_to_string(process.join(name)).unwrap_or_default();
            let state: String = file("status").lines().take(8).collect::<Vec<_>>().join(" ");
            format!("{} [{state}] in {}: {:?}", process.display(), file("wchan"), file("cmdline"))
        })
        .collect()
}

/// Waits until no process of a run is left; fails the test, naming them, when some stay for ten seconds.
pub fn eventually_gone(root: &Path) {
    let give_up_at = Instant::now() + Duration::from_secs(10);
    loop {
        let left = survivors(root);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < give_up_at, "processes outlive their parent: {left:#?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until `condition` holds; fails the test when it does not within ten seconds.
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let give_up_at = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < give_up_at, "{what} did not happen in time");
        std::thread::sleep(Duration::from_millis(2));
    }
}
