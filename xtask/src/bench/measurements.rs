//! The rows of `docs/performance.md`: what is compared with what, and what it has to show.

use std::fs;
use std::path::Path;

use super::record::{Finding, Goal, Measured};
use super::stage::{ELF, PE, Stage};
use super::timing::{Pair, Subject};
use super::{batch, memory, stage};
use crate::error::{AtPath, TaskError};

/// One row.
#[derive(Debug)]
pub struct Measurement {
    /// Its name on the command line, and of its record.
    pub name: &'static str,
    /// What the product does.
    pub what: &'static str,
    /// What it is compared with.
    pub against: &'static str,
    /// What it has to show.
    pub goal: Goal,
    /// Whether one run takes a minute or more.
    pub slow: bool,
    /// Measures it, running each side so often.
    pub measure: fn(&Stage<'_>, u32) -> Result<Measured, TaskError>,
}

const VERSION: &str = "`ghidr --version`";
const HASHING: &str = "hashing that sample";
const IMPORT: &str = "`JarRun -import`";
const ALONE: &str = "one `decompile` and the decompiler's own time for all";
const NOTHING: &str = "–";
const BASH: &str = "/bin/bash";
const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";
const DECOMPILE: [&str; 3] = ["decompile", "--name", "main"];
const INSPECT: [&str; 1] = ["inspect"];

/// Every row, in the order of the document.
pub const MEASUREMENTS: &[Measurement] = &[
    Measurement {
        name: "inspect-cached",
        what: "cached `inspect`, 1 MB sample",
        against: VERSION,
        goal: Goal::ExtraMilliseconds(20.0),
        slow: false,
        measure: |stage, runs| small(stage, runs, &INSPECT),
    },
    Measurement {
        name: "functions-cached",
        what: "cached `functions` page, 1 MB sample",
        against: VERSION,
        goal: Goal::ExtraMilliseconds(20.0),
        slow: false,
        measure: |stage, runs| small(stage, runs, &["functions"]),
    },
    Measurement {
        name: "inspect-many",
        what: "cached `inspect`, 200,000 functions",
        against: HASHING,
        goal: Goal::ExtraMilliseconds(60.0),
        slow: false,
        measure: |stage, runs| hashed(stage, runs, &stage.many()?, &stage.fixture(ELF), &INSPECT),
    },
    Measurement {
        name: "functions-many",
        what: "cached `functions` page, 200,000 functions",
        against: HASHING,
        goal: Goal::ExtraMilliseconds(60.0),
        slow: false,
        measure: |stage, runs| hashed(stage, runs, &stage.many()?, &stage.fixture(ELF), &["functions"]),
    },
    Measurement {
        name: "inspect-150mb",
        what: "cached `inspect`, 150 MB sample",
        against: HASHING,
        goal: Goal::ExtraMilliseconds(60.0),
        slow: false,
        measure: |stage, runs| hashed(stage, runs, &stage.kept()?, &stage.large_sample()?, &INSPECT),
    },
    Measurement {
        name: "functions-150mb",
        what: "cached `functions` page, 150 MB sample",
        against: HASHING,
        goal: Goal::ExtraMilliseconds(60.0),
        slow: false,
        measure: |stage, runs| hashed(stage, runs, &stage.kept()?, &stage.large_sample()?, &["functions"]),
    },
    Measurement {
        name: "decompile-repeated",
        what: "repeated `decompile`",
        against: VERSION,
        goal: Goal::ExtraMilliseconds(20.0),
        slow: false,
        measure: |stage, runs| {
            let (kept, elf) = (stage.kept()?, stage.fixture(ELF));
            stage.run_once(&kept, &DECOMPILE, &elf)?;
            times(
                runs,
                &mut Subject::new(|| Ok(stage.ghidr(&kept, &DECOMPILE, &elf))),
                &mut Subject::new(|| Ok(stage.version())),
            )
        },
    },
    Measurement {
        name: "decompile-first",
        what: "first `decompile` on a cached Analysis",
        against: "`JarRun -process -readOnly -noanalysis`, compiled script",
        goal: Goal::Ratio(0.5),
        slow: false,
        measure: |stage, runs| {
            let (kept, elf) = (stage.kept()?, stage.fixture(ELF));
            stage.official_project()?;
            let forgetful = || {
                stage::forget_results(&kept)?;
                Ok(stage.ghidr(&kept, &DECOMPILE, &elf))
            };
            let theirs = &mut Subject::new(|| Ok(stage.official.decompile()));
            let measured = times(runs, &mut Subject::new(forgetful), theirs)?;
            stage::forget_results(&kept)?;
            Ok(Measured { phases: Some(stage.phases(&kept, &DECOMPILE, &elf)?), ..measured })
        },
    },
    Measurement {
        name: "cold-elf",
        what: "cold `inspect`, small ELF",
        against: IMPORT,
        goal: Goal::Ratio(0.8),
        slow: false,
        measure: |stage, runs| cold(stage, runs, &stage.fixture(ELF)),
    },
    Measurement {
        name: "cold-pe",
        what: "cold `inspect`, PE",
        against: IMPORT,
        goal: Goal::Ratio(0.8),
        slow: false,
        measure: |stage, runs| cold(stage, runs, &stage.fixture(PE)),
    },
    Measurement {
        name: "cold-bash",
        what: "cold `inspect`, `/bin/bash`",
        against: IMPORT,
        goal: Goal::Ratio(0.9),
        slow: true,
        measure: |stage, runs| cold(stage, runs, Path::new(BASH)),
    },
    Measurement {
        name: "cold-libc",
        what: "cold `inspect`, `libc.so.6`",
        against: IMPORT,
        goal: Goal::Ratio(1.0),
        slow: true,
        measure: |stage, runs| cold(stage, runs, Path::new(LIBC)),
    },
    Measurement {
        name: "cold-decompile",
        what: "cold `decompile`, small ELF",
        against: "cold `inspect` of the same",
        goal: Goal::ExtraMilliseconds(500.0),
        slow: false,
        measure: |stage, runs| {
            let elf = stage.fixture(ELF);
            times(
                runs,
                &mut Subject::new(|| Ok(stage.ghidr(&stage.new_store(), &DECOMPILE, &elf))),
                &mut Subject::new(|| Ok(stage.ghidr(&stage.new_store(), &INSPECT, &elf))),
            )
        },
    },
    Measurement {
        name: "batch-10",
        what: "10 decompilations in one `batch`",
        against: ALONE,
        goal: Goal::Ratio(1.1),
        slow: false,
        measure: |stage, runs| batch::measure(stage, runs, 10),
    },
    Measurement {
        name: "batch-50",
        what: "50 decompilations in one `batch`",
        against: ALONE,
        goal: Goal::Ratio(1.1),
        slow: false,
        measure: |stage, runs| batch::measure(stage, runs, 50),
    },
    Measurement {
        name: "memory-page",
        what: "peak memory of the command itself, `functions` page of 200,000 functions",
        against: NOTHING,
        goal: Goal::Mebibytes(64.0),
        slow: false,
        measure: |stage, _| parent_memory(stage, &stage.many()?, &["functions"], &stage.fixture(ELF)),
    },
    Measurement {
        name: "memory-all",
        what: "peak memory of the command itself, `functions --all` of 200,000 functions",
        against: NOTHING,
        goal: Goal::Mebibytes(64.0),
        slow: false,
        measure: |stage, _| {
            parent_memory(stage, &stage.many()?, &["functions", "--all"], &stage.fixture(ELF))
        },
    },
    Measurement {
        name: "memory-batch",
        what: "peak memory of the command itself, `batch` of five lists of 200,000 functions",
        against: NOTHING,
        goal: Goal::Mebibytes(64.0),
        slow: false,
        measure: |stage, _| {
            let queries = stage.file("queries-lists.jsonl");
            fs::write(&queries, "{\"op\":\"functions\",\"all\":true}\n".repeat(5)).at("write", &queries)?;
            let sample = stage.fixture(ELF);
            parent_memory(stage, &stage.many()?, &["batch", &sample.to_string_lossy()], &queries)
        },
    },
    Measurement {
        name: "memory-sample",
        what: "peak memory of the command itself, 100 MB sample",
        against: NOTHING,
        goal: Goal::Mebibytes(32.0),
        slow: false,
        // No program: refused by the worker after it was hashed and copied, which is what costs the parent memory.
        measure: |stage, _| parent_memory(stage, &stage.new_store(), &INSPECT, &stage.zeros()?),
    },
    Measurement {
        name: "memory-worker",
        what: "peak memory of the worker and all below it, cold small ELF",
        against: "`JarRun -import` and all below it",
        goal: Goal::Ratio(1.0),
        slow: false,
        measure: |stage, _| {
            let elf = stage.fixture(ELF);
            let ours = memory::peak(&mut stage.ghidr(&stage.new_store(), &INSPECT, &elf))?;
            let theirs = memory::peak(&mut stage.official.import(&elf)?)?;
            Ok(once(Finding::Memory(ours.descendants_bytes, Some(theirs.tree_bytes))))
        },
    },
];

/// A stored answer about a small Sample, compared with starting the executable at all.
fn small(stage: &Stage<'_>, runs: u32, command: &[&str]) -> Result<Measured, TaskError> {
    let (kept, sample) = (stage.kept()?, stage.small_sample()?);
    times(
        runs,
        &mut Subject::new(|| Ok(stage.ghidr(&kept, command, &sample))),
        &mut Subject::new(|| Ok(stage.version())),
    )
}

/// A stored answer, compared with hashing the Sample it is about.
fn hashed(
    stage: &Stage<'_>,
    runs: u32,
    store: &Path,
    sample: &Path,
    command: &[&str],
) -> Result<Measured, TaskError> {
    stage.run_once(store, &INSPECT, sample)?;
    // With nothing stored, this hashes the Sample and does nothing else.
    let hash = || Ok(stage.ghidr(&stage.unused_store(), &["clean", "--dry-run"], sample));
    times(runs, &mut Subject::new(|| Ok(stage.ghidr(store, command, sample))), &mut Subject::new(hash))
}

/// Import and analysis, by both tools.
fn cold(stage: &Stage<'_>, runs: u32, sample: &Path) -> Result<Measured, TaskError> {
    let ours = || Ok(stage.ghidr(&stage.new_store(), &INSPECT, sample));
    let measured = times(runs, &mut Subject::new(ours), &mut Subject::new(|| stage.official.import(sample)))?;
    Ok(Measured { phases: Some(stage.phases(&stage.new_store(), &INSPECT, sample)?), ..measured })
}

fn parent_memory(
    stage: &Stage<'_>,
    store: &Path,
    command: &[&str],
    sample: &Path,
) -> Result<Measured, TaskError> {
    let peak = memory::peak(&mut stage.ghidr(store, command, sample))?;
    Ok(once(Finding::Memory(peak.process_bytes, None)))
}

fn times(runs: u32, ours: &mut Subject<'_>, theirs: &mut Subject<'_>) -> Result<Measured, TaskError> {
    Ok(Measured { finding: Finding::Times(Pair::measure(runs, ours, theirs)?), runs, phases: None })
}

const fn once(finding: Finding) -> Measured {
    Measured { finding, runs: 1, phases: None }
}
