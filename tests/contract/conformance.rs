//! Registries, command line, schemas and the Java adapter agree (decision D1).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory as _;
use ghidr::cli::Cli;
use ghidr::commands::schemas;
use ghidr::domain::documents::DOCUMENT_KINDS;
use ghidr::domain::fault::FAULT_LIMIT;
use ghidr::domain::limits::CANDIDATE_LIMIT;
use ghidr::domain::program::FACTS_VERSION;
use ghidr::domain::selector::FunctionSelector;
use ghidr::protocol::limits::{
    MAX_LISTED_WARNINGS, MAX_PROGRESS_BYTES, MAX_QUERIES, MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES,
    MAX_TEXT_CHARS, PROTOCOL_VERSION,
};
use ghidr::protocol::registry::{COMMANDS, Category, OPERATIONS};
use ghidr::protocol::request::{Arguments, Operation, Queries, WorkerQuery};
use serde_json::Value;

use crate::support::committed;

#[test]
fn registered_commands_are_the_subcommands() {
    // They print text, not a document, and so have no place in the registry (decision D13).
    const TEXT_ONLY: [&str; 2] = ["completions", "schema"];
    let mut offered = leaves(&Cli::command(), "");
    offered.retain(|name| !TEXT_ONLY.contains(&name.as_str()));
    let registered: BTreeSet<String> = COMMANDS.iter().map(|command| command.name.to_owned()).collect();
    assert_eq!(offered, registered);
}

/// Names of the commands that do something: a subcommand's after its parent's.
fn leaves(command: &clap::Command, parent: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("{parent} {}", subcommand.get_name()).trim_start().to_owned();
        let below = leaves(subcommand, &name);
        names.extend(if below.is_empty() { BTreeSet::from([name]) } else { below });
    }
    names
}

#[test]
fn every_command_has_a_published_schema_and_no_document_kind_is_left_over() {
    let published: BTreeSet<&str> = schemas::published().iter().map(|published| published.kind).collect();
    for command in COMMANDS {
        assert!(published.contains(command.kind), "{}", command.name);
    }
    let kept_in_files = [
        "analysis_manifest",
        "analysis_profile",
        "decompilation_line",
        "diagnostic_manifest",
        "error",
        "store",
    ];
    let commands = COMMANDS.iter().map(|command| command.kind);
    assert_eq!(published, commands.chain(kept_in_files).collect());
    assert_eq!(published, DOCUMENT_KINDS.into(), "what `ghidr schema` offers");
}

/// `doctor`, `clean` and `store list` describe a machine and its store, `batch` repeats what the others answer; every
/// other command about a
/// Sample's Program has one per fixture.
#[test]
fn every_command_about_a_sample_has_goldens_of_every_engine_version() {
    // Beside the commands: refused fixtures, and what an Analysis records about its own making.
    const MORE: [&str; 2] = ["errors", "analysis"];
    let names = |directory: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let goldens = committed::project().join("tests/golden");
    let categories = [Category::Program, Category::Functions];
    let about_a_sample = COMMANDS.iter().filter(|command| categories.contains(&command.category));
    let about_a_sample: BTreeSet<String> = about_a_sample.map(|command| command.name.to_owned()).collect();
    let versions = names(&goldens);
    assert!(!versions.is_empty(), "no engine version has goldens");
    for version in versions {
        let mut folders = names(&goldens.join(&version));
        folders.retain(|folder| !MORE.contains(&folder.as_str()));
        assert_eq!(folders, about_a_sample, "{version}");
    }
}

#[test]
fn operations_are_the_variants_of_the_request() {
    let path = String::new;
    let queries = Queries {
        items: vec![WorkerQuery::Decompile { selector: FunctionSelector::Name { value: "f".into() } }],
        answers_path: path(),
        stop_at_failure: false,
        timeout_seconds: None,
        max_answers_bytes: 1,
    };
    let variants = [
        Arguments::Probe {},
        Arguments::Analyze {
            sample_path: path(),
            project_directory: path(),
            facts_directory: path(),
            queries: Some(queries.clone()),
        },
        Arguments::Query { project_directory: path(), queries },
    ];
    let written = variants.map(|arguments| {
        // No wildcard: a new variant does not compile until it is listed here.
        match arguments.operation() {
            Operation::Probe | Operation::Analyze | Operation::Query => {}
        }
        serde_json::to_value(&arguments).unwrap()["operation"].as_str().unwrap().to_owned()
    });
    let registered: Vec<&str> = OPERATIONS.iter().map(|operation| operation.id).collect();
    assert_eq!(written.to_vec(), registered);
}

#[test]
fn every_operation_is_run_by_some_command() {
    let used: BTreeSet<Operation> =
        COMMANDS.iter().flat_map(|command| command.operations.iter().copied()).collect();
    assert_eq!(used, OPERATIONS.iter().map(|operation| operation.operation).collect());
}

#[test]
fn the_adapter_dispatches_the_same_operations_under_the_same_limits() {
    let adapter = list_operations();
    let names: BTreeSet<&str> =
        adapter["operations"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, OPERATIONS.iter().map(|operation| operation.id).collect());
    let shared = [
        ("protocol_version", u64::from(PROTOCOL_VERSION)),
        ("facts_version", u64::from(FACTS_VERSION)),
        ("max_request_bytes", MAX_REQUEST_BYTES as u64),
        ("max_response_bytes", MAX_RESPONSE_BYTES),
        ("max_queries", MAX_QUERIES as u64),
        ("max_progress_bytes", MAX_PROGRESS_BYTES as u64),
        ("max_listed_items", CANDIDATE_LIMIT as u64),
        ("max_listed_faults", FAULT_LIMIT as u64),
        ("max_listed_warnings", MAX_LISTED_WARNINGS as u64),
        ("max_text_chars", MAX_TEXT_CHARS as u64),
        ("max_facts_line_bytes", 1 << 20),
        ("max_fault_message_chars", 1_024),
    ];
    for (name, value) in shared {
        assert_eq!(adapter[name], value, "{name}");
    }
    assert_eq!((&adapter["project_name"], &adapter["program_name"]), (&"analysis".into(), &"sample".into()));
    assert_eq!(adapter.as_object().unwrap().len(), shared.len() + 3, "an unshared constant: {adapter}");
}

/// It is a part of the adapter's package that only `cargo xtask profile` compiles.
#[test]
fn the_sampler_of_the_profile_fits_the_adapter() {
    let classes = tempfile::tempdir().unwrap();
    let sampler = Path::new(env!("CARGO_MANIFEST_DIR")).join("xtask/src/profile/Sampler.java");
    let mut compiler = Command::new(java_home().join("bin/javac"));
    compiler.arg("-cp").arg(bundle().join("adapter/ghidr-adapter.jar")).arg("-d").arg(classes.path());
    let output = compiler.arg(sampler).env_clear().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What the built adapter says about itself, on a bare JDK without Ghidra. A missing JDK or adapter fails.
fn list_operations() -> Value {
    let output = Command::new(java_home().join("bin/java"))
        .arg("-cp")
        .arg(bundle().join("adapter/ghidr-adapter.jar"))
        .arg("io.ghidr.adapter.ListOperations")
        .env_clear()
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The JDK that set-up found.
fn java_home() -> PathBuf {
    let descriptor = std::fs::read(bundle().join("engine.json")).expect("run: cargo xtask setup");
    let descriptor: Value = serde_json::from_slice(&descriptor).unwrap();
    descriptor["java_home"].as_str().unwrap().into()
}

/// What set-up laid out beside the executable under test.
fn bundle() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_ghidr")).parent().unwrap().join("../lib/ghidr")
}
