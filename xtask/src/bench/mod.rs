//! `cargo xtask bench`: compares `ghidr` with the engine's own tool and writes `docs/performance.md`.
//!
//! Fails when a goal is missed, after the document is written. Not part of any test: times depend on the machine.

mod document;
mod memory;
mod official;
mod synthetic;
mod timing;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ghidr::domain::limits::{DEFAULT_MAX_CPU, DEFAULT_MAX_HEAP_MIB};

use crate::error::{AtPath, TaskError};
use crate::project::{Profile, Project};
use crate::setup::Setup;
use crate::{command, files, report, setup};
use document::{Finding, Goal, Row, Setting};
use official::OfficialTool;
use timing::{Pair, Subject};

const ELF: &str = "fixtures/bin/elf-x86_64-pie";
const PE: &str = "fixtures/bin/pe32plus-x86_64.exe";
const ONE_MEBIBYTE: u64 = 1 << 20;
const HUNDRED_MEBIBYTES: u64 = 100 << 20;
const LARGE_SAMPLE_BYTES: u64 = 150 << 20;
const MANY_FUNCTIONS: u64 = 200_000;

/// Measures everything.
pub fn run(project: &Project) -> Result<(), TaskError> {
    let setup = setup::run(project, Profile::Release)?;
    let directory = std::env::temp_dir().join(format!("ghidr-bench-{}", std::process::id()));
    let measured = Bench::new(project, &setup, &directory).and_then(|bench| bench.measure());
    files::remove(&directory)?;
    let (rows, phases) = measured?;
    let path = project.root.join("docs/performance.md");
    fs::write(&path, document::render(&setting(project, &setup)?, &rows, &phases)).at("write", &path)?;
    report::say(format!("written: {}", path.display()));
    let missed: Vec<String> =
        rows.iter().filter(|row| !row.met()).map(|row| format!("goal missed: {}", row.what)).collect();
    if missed.is_empty() { Ok(()) } else { Err(TaskError::Steps(missed)) }
}

struct Bench<'a> {
    project: &'a Project,
    executable: PathBuf,
    official: OfficialTool,
    directory: &'a Path,
    stores: Cell<u32>,
}

impl<'a> Bench<'a> {
    fn new(project: &'a Project, setup: &Setup, directory: &'a Path) -> Result<Self, TaskError> {
        files::create_public_directory(directory)?;
        let official = OfficialTool::new(
            &setup.jdk.home,
            &setup.engine_jar,
            DEFAULT_MAX_HEAP_MIB,
            DEFAULT_MAX_CPU,
            directory.join("official"),
        )?;
        let executable = project.executable("release");
        Ok(Self { project, executable, official, directory, stores: Cell::new(0) })
    }

    fn measure(&self) -> Result<(Vec<Row>, String), TaskError> {
        let (elf, pe) = (self.project.root.join(ELF), self.project.root.join(PE));
        let padded = self.padded(&elf, ONE_MEBIBYTE)?;
        let many = self.directory.join("store-many");
        command::output(&mut self.ghidr(&many, &["inspect"], &elf))?;
        synthetic::replace_functions(&many, MANY_FUNCTIONS)?;
        let kept = self.directory.join("store-kept");
        command::output(&mut self.ghidr(&kept, &["inspect"], &padded))?;
        command::output(&mut self.ghidr(&kept, &["decompile", "--name", "main"], &elf))?;
        command::output(&mut self.official.import_kept(&elf)?)?;
        let mut rows = Vec::new();
        for (what, command) in [
            ("cached `inspect`, 1 MB sample", "inspect"),
            ("cached `functions` page, 1 MB sample", "functions"),
        ] {
            let mut cached = Subject::new(|| Ok(self.ghidr(&kept, &[command], &padded)));
            let mut version = Subject::new(|| Ok(self.version()));
            let goal = Goal::ExtraMilliseconds(20.0);
            rows.push(self.times(what, "`ghidr --version`", &mut cached, &mut version, goal)?);
        }
        let large = self.padded(&elf, LARGE_SAMPLE_BYTES)?;
        command::output(&mut self.ghidr(&kept, &["inspect"], &large))?;
        for (what, command, store, sample) in [
            ("cached `inspect`, 200,000 functions", "inspect", &many, &elf),
            ("cached `functions` page, 200,000 functions", "functions", &many, &elf),
            ("cached `inspect`, 150 MB sample", "inspect", &kept, &large),
            ("cached `functions` page, 150 MB sample", "functions", &kept, &large),
        ] {
            let nowhere = self.directory.join("store-nowhere");
            let mut cached = Subject::new(|| Ok(self.ghidr(store, &[command], sample)));
            // With nothing stored, this hashes the Sample and does nothing else.
            let mut hash = Subject::new(|| Ok(self.ghidr(&nowhere, &["clean", "--dry-run"], sample)));
            let goal = Goal::ExtraMilliseconds(60.0);
            rows.push(self.times(what, "hashing that sample", &mut cached, &mut hash, goal)?);
        }
        let decompile = ["decompile", "--name", "main"];
        rows.push(self.times(
            "repeated `decompile`",
            "`ghidr --version`",
            &mut Subject::new(|| Ok(self.ghidr(&kept, &decompile, &elf))),
            &mut Subject::new(|| Ok(self.version())),
            Goal::ExtraMilliseconds(20.0),
        )?);
        rows.push(self.times(
            "first `decompile` on a cached Analysis",
            "`JarRun -process -readOnly -noanalysis`, compiled script",
            &mut Subject::new(|| {
                forget_results(&kept)?;
                Ok(self.ghidr(&kept, &decompile, &elf))
            }),
            &mut Subject::new(|| Ok(self.official.decompile())),
            Goal::Ratio(0.5),
        )?);
        for (what, sample) in [("cold `inspect`, small ELF", &elf), ("cold `inspect`, PE", &pe)] {
            rows.push(self.times(
                what,
                "`JarRun -import`",
                &mut Subject::new(|| Ok(self.ghidr(&self.new_store(), &["inspect"], sample))),
                &mut Subject::new(|| self.official.import(sample)),
                Goal::Ratio(0.8),
            )?);
        }
        rows.push(self.times(
            "cold `decompile`, small ELF",
            "cold `inspect` of the same",
            &mut Subject::new(|| Ok(self.ghidr(&self.new_store(), &decompile, &elf))),
            &mut Subject::new(|| Ok(self.ghidr(&self.new_store(), &["inspect"], &elf))),
            Goal::ExtraMilliseconds(500.0),
        )?);
        rows.extend(self.memory(&elf, &many)?);
        Ok((rows, self.phases(&kept, &elf)?))
    }

    fn times(
        &self,
        what: &'static str,
        against: &'static str,
        ours: &mut Subject<'_>,
        theirs: &mut Subject<'_>,
        goal: Goal,
    ) -> Result<Row, TaskError> {
        report::say(format!("measuring: {what}"));
        let pair = Pair::measure(ours, theirs)?;
        Ok(Row { what, against, finding: Finding::Times(pair), goal })
    }

    fn memory(&self, elf: &Path, many: &Path) -> Result<[Row; 3], TaskError> {
        report::say("measuring: peak memory");
        // No program: refused by the worker after it was hashed and copied, which is what costs the parent memory.
        let large = self.directory.join("large");
        fs::File::create(&large).and_then(|file| file.set_len(HUNDRED_MEBIBYTES)).at("write", &large)?;
        let parent = memory::peak(&mut self.ghidr(&self.new_store(), &["inspect"], &large))?;
        let reader = memory::peak(&mut self.ghidr(many, &["functions"], elf))?;
        let ours = memory::peak(&mut self.ghidr(&self.new_store(), &["inspect"], elf))?;
        let theirs = memory::peak(&mut self.official.import(elf)?)?;
        Ok([
            Row {
                what: "peak memory of the command itself, `functions` page of 200,000 functions",
                against: "–",
                finding: Finding::Memory(reader.process_bytes, None),
                goal: Goal::Mebibytes(64.0),
            },
            Row {
                what: "peak memory of the command itself, 100 MB sample",
                against: "–",
                finding: Finding::Memory(parent.process_bytes, None),
                goal: Goal::Mebibytes(32.0),
            },
            Row {
                what: "peak memory of the worker and all below it, cold small ELF",
                against: "`JarRun -import` and all below it",
                finding: Finding::Memory(ours.descendants_bytes, Some(theirs.tree_bytes)),
                goal: Goal::Ratio(1.0),
            },
        ])
    }

    /// What `--verbose` says about one more cached decompilation.
    fn phases(&self, store: &Path, sample: &Path) -> Result<String, TaskError> {
        let arguments = ["--format", "human", "--verbose", "decompile", "--name", "main"];
        forget_results(store)?;
        let mut ghidr = self.ghidr(store, &arguments, sample);
        let output = command::spawned(&mut ghidr, Command::output)?;
        let said = String::from_utf8_lossy(&output.stderr);
        Ok(said.lines().filter(|line| line.starts_with("worker ")).collect::<Vec<_>>().join("\n"))
    }

    fn ghidr(&self, store: &Path, arguments: &[&str], sample: &Path) -> Command {
        let mut command = Command::new(&self.executable);
        command.env_clear().args(arguments).arg(sample).arg("--store").arg(store);
        command
    }

    fn version(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.env_clear().arg("--version");
        command
    }

    /// A store that no run has used.
    fn new_store(&self) -> PathBuf {
        let number = self.stores.get();
        self.stores.set(number + 1);
        self.directory.join(format!("store-{number}"))
    }

    /// `sample` with zeros after it, which no loader maps.
    fn padded(&self, sample: &Path, bytes: u64) -> Result<PathBuf, TaskError> {
        let path = self.directory.join(format!("padded-{bytes}"));
        files::copy(sample, &path)?;
        fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_len(bytes))
            .at("write", &path)?;
        Ok(path)
    }
}

/// Removes what the store kept of earlier Queries, so that the next one needs a worker.
fn forget_results(store: &Path) -> Result<(), TaskError> {
    let results = store.join("results");
    match fs::remove_dir_all(&results) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", &results),
        _ => Ok(()),
    }
}

fn setting(project: &Project, setup: &Setup) -> Result<Setting, TaskError> {
    let git =
        |arguments: &[&str]| command::output(Command::new("git").current_dir(&project.root).args(arguments));
    let mut commit = git(&["rev-parse", "--short=12", "HEAD"])?.trim().to_owned();
    if !git(&["status", "--porcelain", "--untracked-files=no"])?.trim().is_empty() {
        commit.push_str(" with changes");
    }
    Ok(Setting {
        commit,
        engine: format!("Ghidra {} (single jar), Java {}", setup.facts.version, setup.jdk.feature),
        limits: format!(
            "the same JDK, Java heap of at most {DEFAULT_MAX_HEAP_MIB} MiB, {DEFAULT_MAX_CPU} cores"
        ),
    })
}
