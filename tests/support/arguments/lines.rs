//! Command lines with a meaning: valid ones, of every command and with every flag.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use proptest::collection::{btree_map, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{place, surface};

/// Number flags of every command, with the range each takes.
pub const NUMBERS: [(&str, u64, u64); 7] = [
    ("--analysis-timeout-seconds", 1, 2_147_483),
    ("--decompile-timeout-seconds", 1, 2_147_483),
    ("--max-heap-mib", 2, 33_554_432),
    ("--max-memory-mib", 1, u64::MAX),
    ("--max-cpu", 1, 65_536),
    ("--max-sample-bytes", 1, u64::MAX),
    ("--max-inline-bytes", 1, u64::MAX),
];
/// Flags whose value is the path of something in a world.
const PATHS: [&str; 3] = ["--store", "--ghidra", "--java-home"];
/// Flags that lead to text about the program instead of a command.
const DISCOVERY: [&str; 2] = ["--help", "--version"];
/// More flags than one line has.
const MOST_FLAGS: usize = 24;

/// What a line asks for: a command, its positional arguments, and the command's own flags.
type Question = (&'static str, Vec<String>, Vec<(&'static str, String)>);

/// A valid line: a command, its flags with their values, and how it is written.
#[derive(Debug, Clone)]
pub struct Line {
    /// The command, with all its words.
    pub command: &'static str,
    /// Its positional arguments, files by their names in a world.
    pub positionals: Vec<String>,
    /// Flags that were given; the value of one that takes none is empty.
    pub flags: BTreeMap<&'static str, String>,
    order: Vec<(Index, bool)>,
}

/// A valid line.
pub fn valid() -> impl Strategy<Value = Line> {
    let numbers = btree_map(select(NUMBERS.to_vec()), any::<u64>(), 0..5).prop_map(|given| {
        given
            .into_iter()
            .map(|((flag, least, most), number)| (flag, within(least, most, number)))
            .collect::<BTreeMap<_, _>>()
    });
    let order = vec((any::<Index>(), any::<bool>()), MOST_FLAGS);
    (question(), numbers, settings(), order).prop_map(
        |((command, positionals, own), mut flags, settings, order)| {
            flags.extend(own);
            flags.extend(settings);
            let number = |flag| flags.get(flag).and_then(|value| value.parse::<u64>().ok());
            // The whole has room for a heap that is asked for.
            if number("--max-memory-mib").zip(number("--max-heap-mib")).is_some_and(|(all, heap)| all < heap)
            {
                flags.remove("--max-memory-mib");
            }
            Line { command, positionals, flags, order }
        },
    )
}

/// A number of this range. Small ones half of the time: they are the ones that change what happens.
fn within(least: u64, most: u64, number: u64) -> String {
    let size = (most - least).saturating_add(1);
    let spread = if number.is_multiple_of(2) { number % size } else { (number % 5_000) % size };
    (least + spread).to_string()
}

/// Flags of every command that take no number.
fn settings() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let one = |flag: &'static str, values: Vec<String>| {
        weighted(0.3, select(values)).prop_map(move |value| value.map(|value| (flag, value)))
    };
    let stores: Vec<String> = place::STORES.map(str::to_owned).to_vec();
    let engine = weighted(0.4, select(place::ENGINES.to_vec())).prop_map(|pair| {
        let (ghidra, java) = pair.unwrap_or_default();
        [("--ghidra", ghidra), ("--java-home", java)].map(|(flag, name)| (flag, name.to_owned()))
    });
    let singles = (
        one("--format", surface::values_of("--format")),
        one("--sandbox", surface::values_of("--sandbox")),
        one("--store", stores),
        one("--verbose", vec![String::new()]),
    );
    (singles, engine).prop_map(|((format, sandbox, store, verbose), engine)| {
        let given = engine.into_iter().filter(|(_, name)| !name.is_empty());
        [format, sandbox, store, verbose].into_iter().flatten().chain(given).collect::<Vec<_>>()
    })
}

fn question() -> impl Strategy<Value = Question> {
    let selector = prop_oneof![
        name().prop_map(|name| ("--name", name)),
        select(vec!["main", "main", "main", "parse", "A::parse", "getenv", "nothing"])
            .prop_map(|name| ("--name", name.to_owned())),
        select(vec![0x1000_u64, 0x1020, 0x1040, 0x1080])
            .prop_map(|offset| ("--address", format!("ram:0x{offset:016x}"))),
        any::<u16>().prop_map(|offset| ("--address", format!("ram:0x{offset:016x}"))),
        any::<u64>().prop_map(|offset| ("--address", format!("space:0x{offset:x}"))),
    ];
    let sample = || vec![place::SAMPLE.to_owned()];
    let alone = |word: String| vec![word];
    prop_oneof![
        1 => Just(("doctor", Vec::new(), Vec::new())),
        3 => Just(("inspect", sample(), Vec::new())),
        3 => page().prop_map(move |page| ("functions", sample(), page)),
        3 => selector.prop_map(move |selector| ("decompile", sample(), vec![selector])),
        3 => batch(),
        2 => page().prop_map(|page| ("store list", Vec::new(), page)),
        2 => cleaning(),
        1 => select(surface::words_after("completions")).prop_map(move |shell| ("completions", alone(shell), Vec::new())),
        1 => select(surface::words_after("schema")).prop_map(move |kind| ("schema", alone(kind), Vec::new())),
    ]
}

fn page() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    prop_oneof![
        Just(vec![("--all", String::new())]),
        (any::<u64>(), any::<u64>(), 0..4_u8).prop_map(|(limit, offset, which)| {
            let mut page = Vec::new();
            if which & 1 != 0 {
                page.push(("--limit", limit.max(1).to_string()));
            }
            if which & 2 != 0 {
                page.push(("--offset", offset.to_string()));
            }
            page
        }),
    ]
}

fn batch() -> impl Strategy<Value = Question> {
    let queries = weighted(0.7, select(place::QUERIES.to_vec()));
    (queries, any::<bool>(), weighted(0.5, any::<u64>())).prop_map(|(queries, fail_fast, seconds)| {
        let mut positionals = vec![place::SAMPLE.to_owned()];
        positionals.extend(queries.map(str::to_owned));
        let mut flags = Vec::new();
        flags.extend(queries.is_none().then(|| ("--decompile-all", String::new())));
        flags.extend(fail_fast.then(|| ("--fail-fast", String::new())));
        flags.extend(seconds.map(|number| ("--batch-timeout-seconds", within(1, 2_147_483, number))));
        ("batch", positionals, flags)
    })
}

fn cleaning() -> impl Strategy<Value = Question> {
    let none = String::new;
    let target = prop_oneof![
        Just((true, vec![])),
        "[0-9a-fA-F]{64}".prop_map(|digest| (false, vec![("--digest", digest)])),
        Just((false, vec![("--all", none())])),
        Just((false, vec![("--all", none()), ("--yes", none())])),
    ];
    (target, any::<bool>()).prop_map(move |((names_sample, mut flags), dry)| {
        flags.extend(dry.then(|| ("--dry-run", none())));
        ("clean", names_sample.then(|| place::SAMPLE.to_owned()).into_iter().collect(), flags)
    })
}

/// Anything that a function may be called.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{1,20}",
        "\\PC{1,12}",
        select(vec![
            "",
            "\u{1b}]0;x\u{7}",
            "a\rb",
            "\u{202e}nim",
            "-[Foo bar:]",
            "--limit",
            "{\"ok\":true}",
            "\n"
        ])
        .prop_map(str::to_owned),
    ]
}

impl Line {
    /// The arguments in a world at `root`, in the order and spelling that were drawn.
    pub fn arguments(&self, root: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = self.command.split(' ').map(OsString::from).collect();
        // Where the last word of the command is.
        let mut command_at = arguments.len() - 1;
        arguments.extend(self.positionals.iter().map(|name| place::resolve(root, name).into()));
        assert!(self.flags.len() <= self.order.len(), "{self:?}");
        for (flag, (at, joined)) in self.flags.keys().zip(&self.order) {
            let words: Vec<OsString> = match (self.value(flag, root), joined) {
                (None, _) => vec![flag.into()],
                (Some(value), true) => vec![format!("{flag}={value}").into()],
                (Some(value), false) => vec![flag.into(), value.into()],
            };
            // A command's own flags come after it, the others anywhere; none inside a pair.
            let first = if surface::is_of_every_command(flag) { 0 } else { command_at + 1 };
            let places: Vec<usize> = (first..=arguments.len())
                .filter(|place| {
                    place.checked_sub(1).is_none_or(|before| !self.opens_a_pair(&arguments[before]))
                })
                .collect();
            let place = *at.get(&places);
            if place <= command_at {
                command_at += words.len();
            }
            arguments.splice(place..place, words);
        }
        arguments
    }

    fn opens_a_pair(&self, word: &OsString) -> bool {
        word.to_str().is_some_and(|word| self.flag(word).is_some_and(|value| takes_value(word, value)))
    }

    /// What is typed as the value of a flag; none when it is not given or takes none.
    pub fn value(&self, flag: &str, root: &Path) -> Option<String> {
        let value = self.flag(flag).filter(|value| takes_value(flag, value))?;
        Some(if PATHS.contains(&flag) { place::resolve(root, value) } else { value.to_owned() })
    }

    /// The value of a flag as it was drawn; none when it is not given.
    pub fn flag(&self, flag: &str) -> Option<&str> {
        self.flags.get(flag).map(String::as_str)
    }

    /// Whether a flag is given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains_key(flag)
    }

    /// The value of a number flag, or what it is when it is not given.
    pub fn number(&self, flag: &str, default: u64) -> u64 {
        self.flag(flag).map_or(default, |value| value.parse().unwrap())
    }

    /// The sandbox mode.
    pub fn sandbox(&self) -> &str {
        self.flag("--sandbox").unwrap_or("bubblewrap")
    }

    /// Whether Ghidra is asked about the Sample.
    pub fn is_query(&self) -> bool {
        ["inspect", "functions", "decompile", "batch"].contains(&self.command)
    }

    /// The same line with another value of one flag.
    pub fn with(&self, flag: &'static str, value: &str) -> Self {
        let mut line = self.clone();
        line.flags.insert(flag, value.to_owned());
        line
    }
}

/// Only a name may be empty.
fn takes_value(flag: &str, value: &str) -> bool {
    !value.is_empty() || flag == "--name"
}

/// A new command, flag or value of a closed list is not forgotten.
#[test]
fn valid_lines_have_every_command_flag_and_word_of_the_definitions() {
    let mut expected = BTreeSet::new();
    for surface::Shape { words, flags, values } in surface::commands() {
        let command = words.join(" ");
        let mut expect = |flag: &str, value: &str| {
            expected.insert((command.clone(), flag.to_owned(), value.to_owned()));
        };
        for flag in flags.iter().filter(|flag| !DISCOVERY.contains(&flag.name.as_str())) {
            match flag.values.as_slice() {
                [] => expect(&flag.name, ""),
                values => values.iter().for_each(|value| expect(&flag.name, value)),
            }
        }
        values.iter().for_each(|word| expect("", word));
    }
    let drawn = std::cell::RefCell::new(BTreeSet::new());
    super::check(&mut super::Random::new(1, "surface"), 12_000, &valid(), |line| {
        let draw = |flag: &str, value: &str| {
            drawn.borrow_mut().insert((line.command.to_owned(), flag.to_owned(), value.to_owned()));
        };
        for (flag, value) in &line.flags {
            draw(flag, if surface::values_of(flag).contains(value) { value } else { "" });
        }
        let words = surface::words_after(line.command);
        line.positionals.iter().filter(|word| words.contains(word)).for_each(|word| draw("", word));
        Ok(())
    });
    assert_eq!(drawn.into_inner(), expected);
}
