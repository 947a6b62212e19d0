//! What can be typed, as the definitions of the command line have it: a new command or flag is
//! generated without being listed anywhere else.

use std::sync::LazyLock;

use clap::{Arg, Command};
use ghidr::cli::help;

/// One flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// With its dashes.
    pub name: String,
    /// The values it takes, when they are a closed list.
    pub values: Vec<String>,
}

/// One command, subcommands with all their words.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The words that name it; none for the program itself.
    pub words: Vec<String>,
    /// Its own flags and those of every command.
    pub flags: Vec<Flag>,
    /// Values of its positional arguments that are closed lists.
    pub values: Vec<String>,
}

/// The program and every command, parents before their subcommands.
pub static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let mut root = help::definitions();
    root.build();
    let mut shapes = Vec::new();
    collect(&root, &[], &mut shapes);
    shapes
});

/// Every flag of any command, each once.
pub static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let mut flags: Vec<Flag> = SHAPES.iter().flat_map(|shape| shape.flags.clone()).collect();
    flags.sort_by(|left, right| left.name.cmp(&right.name));
    flags.dedup();
    flags
});

/// Every word that the definitions know besides flags: commands and values of closed lists.
pub static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let words = SHAPES.iter().flat_map(|shape| shape.words.iter().chain(&shape.values).cloned());
    let mut words: Vec<String> = words.chain(FLAGS.iter().flat_map(|flag| flag.values.clone())).collect();
    words.sort();
    words.dedup();
    words
});

/// The commands that can be run.
pub fn commands() -> impl Iterator<Item = &'static Shape> {
    let leads_on = |words: &[String]| {
        SHAPES.iter().any(|shape| shape.words.len() > words.len() && shape.words.starts_with(words))
    };
    SHAPES.iter().filter(move |shape| !leads_on(&shape.words))
}

/// The words that a command takes as positional arguments, when they are a closed list.
pub fn words_after(command: &str) -> Vec<String> {
    commands()
        .filter(|shape| shape.words.join(" ") == command)
        .flat_map(|shape| shape.values.clone())
        .collect()
}

/// The values that a flag takes, when they are a closed list.
pub fn values_of(flag: &str) -> Vec<String> {
    let known = FLAGS.iter().find(|known| known.name == flag);
    known.map(|known| known.values.clone()).unwrap_or_default()
}

/// Whether a flag may stand anywhere: every command takes it.
pub fn is_of_every_command(flag: &str) -> bool {
    SHAPES[0].flags.iter().any(|known| known.name == flag)
}

fn collect(command: &Command, words: &[String], shapes: &mut Vec<Shape>) {
    let flags = command.get_arguments().filter_map(|argument| {
        Some(Flag { name: format!("--{}", argument.get_long()?), values: values(argument) })
    });
    let positionals = command.get_positionals().flat_map(values);
    shapes.push(Shape { words: words.to_vec(), flags: flags.collect(), values: positionals.collect() });
    for subcommand in command.get_subcommands() {
        collect(subcommand, &[words, &[subcommand.get_name().to_owned()]].concat(), shapes);
    }
}

fn values(argument: &Arg) -> Vec<String> {
    if !argument.get_action().takes_values() {
        return Vec::new();
    }
    argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

#[test]
fn commands_of_both_depths_and_flags_of_all_kinds_are_found() {
    let names: Vec<String> = SHAPES.iter().map(|shape| shape.words.join(" ")).collect();
    for name in ["", "doctor", "clean", "store", "store list", "schema"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    let flags: Vec<&str> = FLAGS.iter().map(|flag| flag.name.as_str()).collect();
    for flag in ["--format", "--digest", "--yes", "--dry-run", "--limit", "--help", "--version"] {
        assert!(flags.contains(&flag), "{flag}: {flags:?}");
    }
    for word in ["json", "bubblewrap", "list", "bash", "cleanup"] {
        assert!(WORDS.iter().any(|known| known == word), "{word}: {:?}", *WORDS);
    }
}
