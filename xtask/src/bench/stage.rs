//! What the rows are measured on: executables, Samples and stores, each made when a row first needs it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ghidr::domain::limits::{DEFAULT_MAX_CPU, DEFAULT_MAX_HEAP_MIB};

use super::official::OfficialTool;
use super::synthetic;
use crate::error::{AtPath, TaskError};
use crate::project::Project;
use crate::setup::Setup;
use crate::{command, files};

/// A small program.
pub const ELF: &str = "elf-x86_64-pie";
/// A small program with resources.
pub const PE: &str = "pe32plus-x86_64.exe";
const FIXTURES: &str = "fixtures/bin";
const SMALL_SAMPLE_BYTES: u64 = 1 << 20;
const ZEROS_BYTES: u64 = 100 << 20;
const LARGE_SAMPLE_BYTES: u64 = 150 << 20;
const MANY_FUNCTIONS: u64 = 200_000;

/// One session of measuring.
#[derive(Debug)]
pub struct Stage<'a> {
    /// The engine's own tool.
    pub official: OfficialTool,
    project: &'a Project,
    executable: PathBuf,
    directory: &'a Path,
    stores: Cell<u32>,
}

impl<'a> Stage<'a> {
    /// Everything is kept below `directory`.
    pub fn new(project: &'a Project, setup: &Setup, directory: &'a Path) -> Result<Self, TaskError> {
        files::create_public_directory(directory)?;
        let official = OfficialTool::new(
            &setup.jdk.home,
            &setup.engine_jar,
            DEFAULT_MAX_HEAP_MIB,
            DEFAULT_MAX_CPU,
            directory.join("official"),
        )?;
        Ok(Self {
            official,
            project,
            executable: project.executable("release"),
            directory,
            stores: Cell::new(0),
        })
    }

    /// `ghidr` on a Sample and a store, in an empty environment.
    pub fn ghidr(&self, store: &Path, arguments: &[&str], sample: &Path) -> Command {
        let mut command = Command::new(&self.executable);
        command.env_clear().args(arguments).arg(sample).arg("--store").arg(store);
        command
    }

    /// The least that the executable can do.
    pub fn version(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.env_clear().arg("--version");
        command
    }

    /// Lets `ghidr` do something that the measured runs then find done.
    pub fn run_once(&self, store: &Path, arguments: &[&str], sample: &Path) -> Result<(), TaskError> {
        command::output(&mut self.ghidr(store, arguments, sample)).map(|_said| ())
    }

    /// What `--verbose` says about one more run.
    pub fn phases(&self, store: &Path, arguments: &[&str], sample: &Path) -> Result<String, TaskError> {
        let verbose = [&["--format", "human", "--verbose"], arguments].concat();
        let output = command::spawned(&mut self.ghidr(store, &verbose, sample), Command::output)?;
        let said = String::from_utf8_lossy(&output.stderr);
        Ok(said.lines().filter(|line| line.starts_with("worker ")).collect::<Vec<_>>().join("\n"))
    }

    /// A committed fixture.
    pub fn fixture(&self, name: &str) -> PathBuf {
        self.project.root.join(FIXTURES).join(name)
    }

    /// Where a row may keep a file of this name.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// A store that no run has used.
    pub fn new_store(&self) -> PathBuf {
        let number = self.stores.get();
        self.stores.set(number + 1);
        self.directory.join(format!("store-{number}"))
    }

    /// A store that no run makes.
    pub fn unused_store(&self) -> PathBuf {
        self.directory.join("store-unused")
    }

    /// A store that holds the small Samples' Analyses.
    pub fn kept(&self) -> Result<PathBuf, TaskError> {
        self.made("store-kept", |store| {
            for sample in [self.small_sample()?, self.fixture(ELF), self.fixture(PE)] {
                self.run_once(store, &["inspect"], &sample)?;
            }
            Ok(())
        })
    }

    /// A store in which the small program has 200,000 functions.
    pub fn many(&self) -> Result<PathBuf, TaskError> {
        self.made("store-many", |store| {
            self.run_once(store, &["inspect"], &self.fixture(ELF))?;
            synthetic::replace_functions(store, MANY_FUNCTIONS)
        })
    }

    /// The engine's own tool has a project to read.
    pub fn official_project(&self) -> Result<(), TaskError> {
        self.made("official-imported", |mark| {
            command::output(&mut self.official.import_kept(&self.fixture(ELF))?)?;
            fs::write(mark, "").at("write", mark)
        })
        .map(|_mark| ())
    }

    /// A program of 1 MB.
    pub fn small_sample(&self) -> Result<PathBuf, TaskError> {
        self.made("sample-small", |path| self.pad(path, SMALL_SAMPLE_BYTES))
    }

    /// A program of 150 MB.
    pub fn large_sample(&self) -> Result<PathBuf, TaskError> {
        self.made("sample-large", |path| self.pad(path, LARGE_SAMPLE_BYTES))
    }

    /// A large file that is no program.
    pub fn zeros(&self) -> Result<PathBuf, TaskError> {
        self.made("sample-zeros", |path| {
            fs::File::create(path).and_then(|file| file.set_len(ZEROS_BYTES)).at("write", path)
        })
    }

    /// The small program with zeros after it, which no loader maps.
    fn pad(&self, path: &Path, bytes: u64) -> Result<(), TaskError> {
        files::copy(&self.fixture(ELF), path)?;
        let file = fs::File::options().write(true).open(path);
        file.and_then(|file| file.set_len(bytes)).at("write", path)
    }

    fn made(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<(), TaskError>,
    ) -> Result<PathBuf, TaskError> {
        let path = self.directory.join(name);
        if !path.exists() {
            make(&path)?;
        }
        Ok(path)
    }
}

/// Removes what the store kept of earlier Queries, so that the next one needs a worker.
pub fn forget_results(store: &Path) -> Result<(), TaskError> {
    let results = store.join("results");
    match fs::remove_dir_all(&results) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", &results),
        _ => Ok(()),
    }
}
