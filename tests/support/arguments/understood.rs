//! What parsing a valid line must give: every value that it has, and the default of every flag that it
//! has not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use ghidr::cli::{self, Command, StoreCommand};
use proptest::prelude::*;

use super::lines::Line;
use super::place::{self, NOWHERE};

/// The values of a valid line are what the command gets, and what is not given has its default.
pub fn is_understood(line: &Line) -> Result<(), TestCaseError> {
    let root = Path::new(NOWHERE);
    let arguments: Vec<OsString> = std::iter::once("ghidr".into()).chain(line.arguments(root)).collect();
    let cli = cli::parse(&arguments)
        .map_err(|refusal| TestCaseError::fail(format!("{arguments:?}: {refusal:?}")))?;
    let global = &cli.global;
    let numbers = [
        ("--analysis-timeout-seconds", global.analysis_timeout_seconds, 600),
        ("--decompile-timeout-seconds", global.decompile_timeout_seconds, 60),
        ("--max-heap-mib", global.max_heap_mib, 2_048),
        ("--max-cpu", global.max_cpu.into(), 2),
        ("--max-sample-bytes", global.max_sample_bytes, 1 << 30),
        ("--max-inline-bytes", global.max_inline_bytes, 65_536),
    ];
    for (flag, found, default) in numbers {
        prop_assert_eq!(found, line.number(flag, default), "{}", flag);
    }
    prop_assert_eq!(global.max_memory_mib, number(line, "--max-memory-mib"));
    prop_assert_eq!(global.verbose, line.has("--verbose"));
    prop_assert_eq!(word(&global.format), line.flag("--format").unwrap_or("json"));
    prop_assert_eq!(word(&global.sandbox), line.sandbox());
    let typed = |flag| line.value(flag, root);
    prop_assert_eq!(&global.store, &typed("--store").map(OsString::from));
    prop_assert_eq!(&global.ghidra, &typed("--ghidra").map(PathBuf::from));
    prop_assert_eq!(&global.java_home, &typed("--java-home").map(PathBuf::from));
    let is_asked = match cli.command {
        Command::Doctor => "doctor",
        Command::Inspect(inspect) => {
            prop_assert_eq!(inspect.sample, sample(root));
            "inspect"
        }
        Command::Functions(functions) => {
            prop_assert_eq!(functions.sample, sample(root));
            is_page(line, functions.page)?;
            "functions"
        }
        Command::Decompile(decompile) => {
            prop_assert_eq!(decompile.sample, sample(root));
            prop_assert_eq!(decompile.name, typed("--name"));
            prop_assert_eq!(decompile.address, typed("--address"));
            "decompile"
        }
        Command::Batch(batch) => {
            prop_assert_eq!(batch.sample, sample(root));
            let queries = line.positionals.get(1).map(|name| place::resolve(root, name));
            prop_assert_eq!(batch.queries, queries.map(PathBuf::from));
            prop_assert_eq!(batch.decompile_all, line.has("--decompile-all"));
            prop_assert_eq!(batch.fail_fast, line.has("--fail-fast"));
            prop_assert_eq!(batch.batch_timeout_seconds, line.number("--batch-timeout-seconds", 3_600));
            "batch"
        }
        Command::Store(store) => {
            let StoreCommand::List(page) = store.command;
            is_page(line, page)?;
            "store list"
        }
        Command::Clean(clean) => {
            prop_assert_eq!(clean.sample, line.positionals.first().map(|_| sample(root)));
            prop_assert_eq!(clean.digest.map(|digest| digest.to_string()), digest(line));
            for (flag, found) in [("--all", clean.all), ("--dry-run", clean.dry_run), ("--yes", clean.yes)] {
                prop_assert_eq!(found, line.has(flag), "{}", flag);
            }
            "clean"
        }
        Command::Completions(completions) => {
            prop_assert_eq!(&word(&completions.shell), &line.positionals[0]);
            "completions"
        }
        Command::Schema(schema) => {
            prop_assert_eq!(&schema.kind, &line.positionals[0]);
            "schema"
        }
    };
    prop_assert_eq!(is_asked, line.command);
    Ok(())
}

fn is_page(line: &Line, page: cli::PageArguments) -> Result<(), TestCaseError> {
    prop_assert_eq!(page.limit, number(line, "--limit"));
    prop_assert_eq!(page.offset, number(line, "--offset"));
    prop_assert_eq!(page.all, line.has("--all"));
    Ok(())
}

fn sample(root: &Path) -> PathBuf {
    root.join(place::SAMPLE)
}

fn number(line: &Line, flag: &str) -> Option<u64> {
    line.flag(flag).map(|value| value.parse().unwrap())
}

/// The word that is typed for a value.
fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().unwrap().get_name().to_owned()
}

/// The digest that a line names, as it is understood.
pub fn digest(line: &Line) -> Option<String> {
    line.flag("--digest").map(str::to_lowercase)
}
