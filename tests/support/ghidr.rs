//! Runs the built `ghidr` as a user would, from an empty environment, and holds every
//! answer against the framing contract.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A private home and store, and a way to run `ghidr` on them.
pub struct Ghidr {
    root: PathBuf,
    executable: PathBuf,
    _removed_on_drop: Option<tempfile::TempDir>,
    environment: Vec<(String, OsString)>,
}

/// What one run printed and how it ended.
#[derive(Debug)]
pub struct Run {
    /// Exit status; `None` after a signal.
    pub status: Option<i32>,
    /// Exact stdout.
    pub stdout: Vec<u8>,
    /// Exact stderr.
    pub stderr: Vec<u8>,
}

impl Ghidr {
    /// A fresh home with an unused store.
    pub fn new() -> Self {
        let temporary = tempfile::Builder::new().prefix("ghidr-test-").tempdir().unwrap();
        let ghidr = Self::in_directory(temporary.path().to_owned());
        Self { _removed_on_drop: Some(temporary), ..ghidr }
    }

    /// The same in a directory that outlives this value.
    ///
    /// `GHIDR_TEST_GHIDRA` and `GHIDR_TEST_JAVA_HOME` of the test run select another engine.
    pub fn in_directory(root: PathBuf) -> Self {
        super::signals::heed();
        let home = root.join("home");
        std::fs::create_dir_all(&home).unwrap();
        let mut environment = vec![("HOME".to_owned(), home.into())];
        let selected = [("GHIDR_TEST_GHIDRA", "GHIDR_GHIDRA"), ("GHIDR_TEST_JAVA_HOME", "GHIDR_JAVA_HOME")];
        for (of_the_tests, of_ghidr) in selected {
            environment.extend(std::env::var_os(of_the_tests).map(|value| (of_ghidr.to_owned(), value)));
        }
        let executable = PathBuf::from(env!("CARGO_BIN_EXE_ghidr"));
        Self { root, executable, _removed_on_drop: None, environment }
    }

    /// Runs another installation's executable.
    pub fn executable(mut self, executable: PathBuf) -> Self {
        self.executable = executable;
        self
    }

    /// Sets a variable of the otherwise empty environment.
    pub fn environment(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Removes a variable, `HOME` for example.
    pub fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    /// A private directory for test files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the store is by default: the home fall-back.
    pub fn store(&self) -> PathBuf {
        self.root.join("home/ghidr-store")
    }

    /// The directory of the Analysis that a document is about.
    pub fn analysis(&self, document: &Value) -> PathBuf {
        let digest = |name: &str| document["provenance"][name].as_str().unwrap();
        let analyses = self.store().join("analyses");
        analyses.join(digest("sample_sha256")).join(digest("analysis_profile_sha256"))
    }

    /// The environment as a command run inside this process sees it.
    pub fn closed_environment(&self) -> ghidr::commands::host::Environment {
        let find = |name: &str| self.environment.iter().find(|(known, _)| known == name);
        ghidr::commands::host::Environment::read(|name| find(name).map(|(_, value)| value.clone()))
    }

    /// The command, not started yet.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        self.command_of(&self.executable, arguments)
    }

    /// The same on a host that is changed as a variable of `tests/fakes/fake_ghidr.rs` says, with the real worker.
    pub fn command_on_host<S: AsRef<OsStr>>(
        &self,
        (name, value): (&str, &str),
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = self.command_of(Path::new(env!("CARGO_BIN_EXE_fake_ghidr")), arguments);
        command.env("FAKE_EXECUTABLE", &self.executable).env(name, value);
        command
    }

    fn command_of<S: AsRef<OsStr>>(&self, program: &Path, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs to the end and checks the framing of JSON format; for human format use
    /// [`Self::run_unframed`].
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        let run = self.run_unframed(arguments);
        run.check_framing();
        run
    }

    /// Runs to the end.
    pub fn run_unframed<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.command(arguments).output().unwrap().into()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self { status: output.status.code(), stdout: output.stdout, stderr: output.stderr }
    }
}

impl Run {
    /// One document on exactly one stream, as the exit status says.
    pub fn check_framing(&self) {
        let (document, silent) = match self.status {
            Some(0) => (&self.stdout, &self.stderr),
            _ => (&self.stderr, &self.stdout),
        };
        assert!(silent.is_empty(), "both streams were used: {self}");
        assert!(document.ends_with(b"\n"), "no final line feed: {self}");
        assert_eq!(document.iter().filter(|byte| **byte == b'\n').count(), 1, "not one line: {self}");
        super::contract::check_bytes(document);
    }

    /// The one document, from whichever stream has it.
    pub fn document(&self) -> Value {
        let bytes = if self.status == Some(0) { &self.stdout } else { &self.stderr };
        serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("no document: {error}: {self}"))
    }

    /// The success document.
    pub fn success(&self) -> Value {
        assert_eq!(self.status, Some(0), "{self}");
        self.document()
    }

    /// The error of a failed run, which must have this code and exit status.
    pub fn error(&self, code: &str, status: i32) -> Value {
        let document = self.document();
        assert_eq!(document["error"]["code"], code, "{self}");
        assert_eq!(self.status, Some(status), "{self}");
        document["error"].clone()
    }

    /// Codes of the document's warnings, in order.
    pub fn warning_codes(&self) -> Vec<String> {
        let warnings = self.document()["warnings"].clone();
        let codes = warnings.as_array().into_iter().flatten();
        codes.map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(4_000)]).into_owned();
        write!(
            formatter,
            "status {:?}\nstdout: {}\nstderr: {}",
            self.status,
            text(&self.stdout),
            text(&self.stderr)
        )
    }
}
