//! A world whose commands run as processes of their own: the production executable with a scripted worker.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::fake_engine::World;
use super::ghidr::Run;
use super::processes;
use super::tree;

/// One world and how its processes are started.
pub struct Processes {
    /// What is on disk.
    pub world: World,
    /// The sandbox mode.
    pub mode: &'static str,
    executable: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl Processes {
    /// A fresh world, without a sandbox around the worker.
    pub fn new() -> Self {
        let world = World::new();
        let environment = vec![
            ("FAKE_BUNDLE", world.path("bundle").into()),
            ("GHIDR_STORE", world.store().into()),
            ("HOME", world.path("home").into()),
        ];
        Self { world, mode: "off", executable: env!("CARGO_BIN_EXE_fake_ghidr").into(), environment }
    }

    /// The worker runs in this sandbox mode.
    pub fn in_mode(mut self, mode: &'static str) -> Self {
        self.mode = mode;
        self
    }

    /// Sets a variable of the command's environment.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.environment.push((name, value.to_string().into()));
        self
    }

    /// Runs a copy of the executable at this place.
    pub fn at(mut self, executable: PathBuf) -> Self {
        std::fs::copy(&self.executable, &executable).unwrap();
        self.executable = executable;
        self
    }

    /// What the worker does from now on; an empty list is an honest one.
    pub fn script(&self, steps: &Value) -> &Self {
        std::fs::write(self.world.path("bundle/adapter/script.json"), steps.to_string()).unwrap();
        self
    }

    /// The command, not started yet.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(["--sandbox", self.mode]).args(arguments).env_clear().stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// `command SAMPLE arguments…`, not started yet.
    pub fn asking(&self, command: &str, arguments: &[&str]) -> Command {
        let sample = self.world.sample().into_os_string();
        let arguments = arguments.iter().map(OsString::from);
        self.command([OsString::from(command), sample].into_iter().chain(arguments))
    }

    /// Runs `command SAMPLE arguments…` to its end; see [`Self::ended`].
    pub fn ask(&self, command: &str, arguments: &[&str]) -> Run {
        self.ended(self.asking(command, arguments).output().unwrap().into())
    }

    /// What every command leaves that ended by itself: one document on one stream, no process, nothing in staging.
    pub fn ended(&self, run: Run) -> Run {
        run.check_framing();
        assert_eq!(tree::names(&self.world.store().join("staging")), Vec::<String>::new(), "{run}");
        processes::wait_until_gone(&self.world.path(""));
        run
    }

    /// Nothing was promoted.
    pub fn assert_no_analysis(&self) {
        assert_eq!(self.world.analyses(), Vec::<PathBuf>::new());
    }
}
