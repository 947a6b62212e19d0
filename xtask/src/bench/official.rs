//! The engine's own command-line tool on the same jar, JDK and heap, as its documentation says to run it.
//!
//! It gets every advantage that a user could give it: a home that earlier runs have filled (unpacked natives, compiled
//! scripts), and for decompiling a script that is compiled beforehand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::error::{AtPath, TaskError};
use crate::files;

const MAIN_CLASS: &str = "ghidra.JarRun";
const PROJECT: &str = "bench";
const SCRIPT: &str = "DecompileMain";
const SCRIPT_SOURCE: &str = include_str!("DecompileMain.java");

/// The tool, ready to be run.
#[derive(Debug)]
pub struct OfficialTool {
    java_home: PathBuf,
    jar: PathBuf,
    max_heap_mib: u64,
    max_cpu: u32,
    directory: PathBuf,
    runs: std::cell::Cell<u32>,
}

impl OfficialTool {
    /// Compiles the script; everything is kept below `directory`.
    pub fn new(
        java_home: &Path,
        jar: &Path,
        max_heap_mib: u64,
        max_cpu: u32,
        directory: PathBuf,
    ) -> Result<Self, TaskError> {
        let tool = Self {
            java_home: java_home.to_owned(),
            jar: jar.to_owned(),
            max_heap_mib,
            max_cpu,
            directory,
            runs: std::cell::Cell::new(0),
        };
        for needed in [tool.scripts(), tool.home(), tool.home().join("tmp")] {
            files::create_public_directory(&needed)?;
        }
        let source = tool.scripts().join(format!("{SCRIPT}.java"));
        fs::write(&source, SCRIPT_SOURCE).at("write", &source)?;
        command::output(
            Command::new(java_home.join("bin/javac"))
                .args(["-proc:none", "-nowarn", "-cp"])
                .arg(jar)
                .arg("-d")
                .arg(tool.scripts())
                .arg(&source),
        )?;
        files::remove(&source)?;
        Ok(tool)
    }

    /// Imports and analyses `sample` into a project that is thrown away with the directory.
    pub fn import(&self, sample: &Path) -> Result<Command, TaskError> {
        let run = self.runs.get();
        self.runs.set(run + 1);
        self.import_into(&self.directory.join(format!("project-{run}")), sample)
    }

    /// Imports `sample` into the project that [`Self::decompile`] reads.
    pub fn import_kept(&self, sample: &Path) -> Result<Command, TaskError> {
        self.import_into(&self.kept_project(), sample)
    }

    /// Decompiles `main` of the kept project.
    pub fn decompile(&self) -> Command {
        let mut command = self.java();
        command.arg(self.kept_project()).arg(PROJECT).args(["-process", "-readOnly", "-noanalysis"]);
        command.args(["-postScript", &format!("{SCRIPT}.class")]);
        command
    }

    fn import_into(&self, project: &Path, sample: &Path) -> Result<Command, TaskError> {
        files::create_public_directory(project)?;
        let mut command = self.java();
        command.arg(project).args([PROJECT, "-import"]).arg(sample);
        command.args(["-max-cpu", &self.max_cpu.to_string()]);
        Ok(command)
    }

    fn java(&self) -> Command {
        let mut command = Command::new(self.java_home.join("bin/java"));
        let mut class_path = self.jar.clone().into_os_string();
        class_path.push(":");
        class_path.push(self.scripts());
        command
            .env_clear()
            .envs([("LC_ALL", "C.UTF-8"), ("PATH", "/usr/bin:/bin")])
            .env("HOME", self.home())
            .arg(format!("-Xmx{}m", self.max_heap_mib))
            .arg(format!("-Duser.home={}", self.home().display()))
            .arg(format!("-Djava.io.tmpdir={}", self.home().join("tmp").display()))
            .arg("-cp")
            .arg(class_path)
            .arg(MAIN_CLASS);
        command
    }

    fn scripts(&self) -> PathBuf {
        self.directory.join("scripts")
    }

    fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    fn kept_project(&self) -> PathBuf {
        self.directory.join("project-kept")
    }
}
