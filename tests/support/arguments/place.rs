//! What generated lines name: files of a world, what is there, and what must come of naming it.
//!
//! A line holds names relative to the world; [`resolve`] gives the path that is typed.

use std::path::Path;

use super::lines::Line;
use crate::support::fake_engine::World;

/// The root of a world that does not exist.
pub const NOWHERE: &str = "/nonexistent";
/// The Sample.
pub const SAMPLE: &str = "samples/sample";
/// Stores, good ones more often. Ghidra itself refuses a hidden one; the last is no absolute path.
pub const STORES: [&str; 6] =
    ["stores/a", "stores/a", "stores/b c", "stores/b c", "stores/.hidden", "relative"];
/// An engine and a JDK to run it with, each maybe not given: an empty word. Good pairs more often.
pub const ENGINES: [(&str, &str); 13] = [
    ("engines/official", "jdks/21"),
    ("engines/official", "jdks/21"),
    ("engines/official", "jdks/21"),
    ("", "jdks/17"),
    ("", "jdks/17"),
    ("", "jdks/21"),
    ("", "jdks/21"),
    ("engines/official", ""),
    ("engines/official", "jdks/17"),
    ("engines/empty", ""),
    ("engines/none", "jdks/17"),
    ("", "jdks/bare"),
    ("", "jdks/none"),
];
/// Queries, good ones more often; the last is standard input, where there are none.
pub const QUERIES: [&str; 6] =
    ["queries/mixed", "queries/mixed", "queries/facts", "queries/facts", "queries/wrong", "-"];

/// One of these Queries finds no Function, so that what comes after it shows `--fail-fast`.
const MIXED: &str = "{\"op\":\"inspect\"}\n{\"op\":\"functions\",\"limit\":2}\n{\"op\":\"decompile\",\"name\":\"main\"}\n\
    {\"op\":\"decompile\",\"name\":\"nothing\"}\n{\"op\":\"decompile\",\"name\":\"main\"}\n{\"op\":\"inspect\"}\n";
const FACTS: &str = "{\"op\":\"functions\",\"all\":true}\n{\"op\":\"inspect\"}\n";
const WRONG: &str = "{\"op\":\"inspect\"}\n{\"op\":\"guess\"}\n";
const PROPERTIES: &str = "application.name=Ghidra\napplication.version=12.1.2\n\
    application.release.name=PUBLIC\napplication.java.min=21\napplication.revision.ghidra=official\n";

/// The path that a name stands for; what is no name of a file stands for itself.
pub fn resolve(root: &Path, name: &str) -> String {
    if name.contains('/') { root.join(name).to_str().unwrap().to_owned() } else { name.to_owned() }
}

/// Puts there what the names promise, beside what a world has.
pub fn prepare(world: &World) {
    let write = |name: &str, text: &str| {
        let path = world.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (name, text) in [("queries/mixed", MIXED), ("queries/facts", FACTS), ("queries/wrong", WRONG)] {
        write(name, text);
    }
    for (home, modules) in [
        ("jdks/17", "java.base jdk.compiler"),
        ("jdks/21", "java.base jdk.compiler"),
        ("jdks/bare", "java.base"),
    ] {
        let version = home.trim_start_matches("jdks/").replace("bare", "17");
        write(
            &format!("{home}/release"),
            &format!("JAVA_VERSION=\"{version}.0.1\"\nMODULES=\"{modules}\"\n"),
        );
        write(&format!("{home}/bin/javac"), "");
        write(&format!("{home}/lib/server/libjvm.so"), "");
    }
    write("engines/official/Ghidra/application.properties", PROPERTIES);
    for directory in ["engines/empty", "stores"] {
        std::fs::create_dir_all(world.path(directory)).unwrap();
    }
}

/// An engine that a command can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// Its version.
    pub ghidra: &'static str,
    /// The build it says it is.
    pub build: &'static str,
    /// The feature version of its JDK.
    pub java: u32,
}

/// The engine that a line chooses, or the code of the error that it must end in.
pub fn engine(line: &Line) -> Result<Chosen, &'static str> {
    let (ghidra, build, least_java, own_java) = match line.flag("--ghidra") {
        None => ("10.3", "build", 17, Some(17)),
        Some("engines/official") => ("12.1.2", "official", 21, None),
        Some("engines/empty") => return Err("ghidra_incompatible"),
        Some(_) => return Err("ghidra_missing"),
    };
    let java = match line.flag("--java-home") {
        None => own_java.ok_or("java_missing")?,
        Some("jdks/17") => 17,
        Some("jdks/21") => 21,
        Some("jdks/bare") => return Err("java_incompatible"),
        Some(_) => return Err("java_missing"),
    };
    if java < least_java { Err("java_incompatible") } else { Ok(Chosen { ghidra, build, java }) }
}

/// The store that a line chooses: its path, and the rule that chose it; none where it must be refused.
pub fn store(world: &World, line: &Line) -> Option<(String, &'static str)> {
    match line.flag("--store") {
        None => Some((world.store().to_str().unwrap().to_owned(), "environment")),
        Some("relative") => None,
        Some("stores/.hidden") if line.sandbox() != "bubblewrap" => None,
        Some(name) => Some((resolve(&world.path(""), name), "cli")),
    }
}

/// How many Queries of a batch succeed, fail, and are not run.
pub fn batch_counts(line: &Line) -> (u64, u64, u64) {
    match line.positionals.get(1).map(String::as_str) {
        Some("queries/mixed") if line.has("--fail-fast") => (3, 1, 2),
        Some("queries/mixed") => (5, 1, 0),
        Some(_) => (2, 0, 0),
        None => (5, 0, 0),
    }
}
