//! What a caller can set is a closed list: flags and environment variables. A new one is a change of the contract, and
//! nothing among them names a remote destination.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use clap::CommandFactory as _;
use ghidr::cli::Cli;
use ghidr::cli::help::ENVIRONMENT;
use ghidr::commands::host::Environment;

use crate::support::ghidr::Ghidr;

const VARIABLES: [&str; 8] = [
    "GHIDR_GHIDRA",
    "GHIDR_JAVA_HOME",
    "GHIDR_STORE",
    "GHIDRA_INSTALL_DIR",
    "HOME",
    "JAVA_HOME",
    "NO_COLOR",
    "XDG_CACHE_HOME",
];

const FLAGS: [&str; 24] = [
    "address",
    "all",
    "analysis-timeout-seconds",
    "batch-timeout-seconds",
    "decompile-all",
    "decompile-timeout-seconds",
    "digest",
    "dry-run",
    "fail-fast",
    "format",
    "ghidra",
    "java-home",
    "limit",
    "max-cpu",
    "max-heap-mib",
    "max-inline-bytes",
    "max-memory-mib",
    "max-sample-bytes",
    "name",
    "offset",
    "sandbox",
    "store",
    "verbose",
    "yes",
];

/// Source files below `directory` that read the environment of the process.
fn readers_of_the_environment(directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            readers_of_the_environment(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with("_tests.rs") && text.contains("env::var") {
            found.push(name);
        }
    }
}

#[test]
fn the_environment_is_a_closed_list() {
    let asked = RefCell::new(BTreeSet::new());
    Environment::read(|name| {
        asked.borrow_mut().insert(name.to_owned());
        None
    });
    assert_eq!(asked.into_inner(), VARIABLES.map(str::to_owned).into());
    let mut readers = Vec::new();
    readers_of_the_environment(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut readers);
    readers.sort();
    // The sandbox probe looks at what reached the worker, and reports names only.
    assert_eq!(readers, ["environment.rs", "host.rs"], "only the host reads variables");
}

#[test]
fn the_flags_are_a_closed_list() {
    let command = Cli::command();
    let mut commands = vec![&command];
    let mut flags = BTreeSet::new();
    while let Some(command) = commands.pop() {
        flags.extend(command.get_arguments().filter_map(|flag| flag.get_long()));
        commands.extend(command.get_subcommands());
    }
    flags.retain(|flag| !["help", "version"].contains(flag));
    assert_eq!(flags, FLAGS.into());
}

#[test]
fn help_and_manual_list_the_variables_that_are_read() {
    let listed: BTreeSet<&str> = ENVIRONMENT.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, VARIABLES.into());
}

#[test]
fn help_calls_the_heap_limit_a_java_heap_limit() {
    let run = Ghidr::new().run_unframed(["--help"]);
    let help = String::from_utf8(run.stdout).unwrap();
    let line = help.lines().skip_while(|line| !line.contains("--max-heap-mib")).take(2).collect::<String>();
    assert!(line.contains("Java heap limit"), "{help}");
    assert!(line.contains("not a limit on total or resident memory"), "{help}");
    assert!(
        !help.contains("--worker") && !help.contains("--guard"),
        "internal parts are not advertised: {help}"
    );
}
