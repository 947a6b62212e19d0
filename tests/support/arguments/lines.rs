//! Command lines with a meaning: valid ones, whose meaning is known, and valid ones with one defect.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use proptest::collection::btree_map;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Number flags of every command, with the range each takes.
const NUMBERS: [(&str, u64, u64); 7] = [
    ("--analysis-timeout-seconds", 1, 2_147_483),
    ("--decompile-timeout-seconds", 1, 2_147_483),
    ("--max-heap-mib", 2, 33_554_432),
    ("--max-memory-mib", 1, u64::MAX),
    ("--max-cpu", 1, 65_536),
    ("--max-sample-bytes", 1, u64::MAX),
    ("--max-inline-bytes", 1, u64::MAX),
];

/// What a line asks for: a command, whether it names the Sample, and the command's own flags.
type Question = (&'static str, bool, Vec<(&'static str, String)>);

/// Flags that a command has of its own. They come after it, the others anywhere.
const OWN: [&str; 8] =
    ["--limit", "--offset", "--all", "--name", "--address", "--digest", "--dry-run", "--yes"];

/// A valid line: a command, its flags with their values, and how it is written.
#[derive(Debug, Clone)]
pub struct Line {
    /// The command, with all its words.
    pub command: &'static str,
    /// Whether the Sample is named.
    pub names_sample: bool,
    /// Flags that were given; the value of one that takes none is empty.
    pub flags: BTreeMap<&'static str, String>,
    order: Vec<(Index, bool)>,
}

/// A valid line.
pub fn valid() -> impl Strategy<Value = Line> {
    let numbers = btree_map(select(NUMBERS.to_vec()), any::<u64>(), 0..5).prop_map(|given| {
        given
            .into_iter()
            .map(|((flag, least, most), number)| {
                let size = (most - least).saturating_add(1);
                // Small values half of the time: they are the ones that change what happens.
                let spread = if number.is_multiple_of(2) { number % size } else { (number % 5_000) % size };
                (flag, (least + spread).to_string())
            })
            .collect::<BTreeMap<_, _>>()
    });
    let order = proptest::collection::vec((any::<Index>(), any::<bool>()), 12);
    (question(), numbers, any::<bool>(), order).prop_map(
        |((command, names_sample, own), mut flags, verbose, order)| {
            flags.extend(own);
            let number = |flag| flags.get(flag).and_then(|value| value.parse::<u64>().ok());
            // The whole has room for a heap that is asked for.
            if number("--max-memory-mib").zip(number("--max-heap-mib")).is_some_and(|(all, heap)| all < heap)
            {
                flags.remove("--max-memory-mib");
            }
            if verbose {
                flags.insert("--verbose", String::new());
            }
            Line { command, names_sample, flags, order }
        },
    )
}

fn question() -> impl Strategy<Value = Question> {
    let selector = prop_oneof![
        name().prop_map(|name| ("--name", name)),
        select(vec!["main", "parse", "A::parse", "getenv", "nothing"])
            .prop_map(|name| ("--name", name.to_owned())),
        any::<u16>().prop_map(|offset| ("--address", format!("ram:0x{offset:016x}"))),
        any::<u64>().prop_map(|offset| ("--address", format!("space:0x{offset:x}"))),
    ];
    let none = String::new;
    let target = prop_oneof![
        Just((true, vec![])),
        "[0-9a-fA-F]{64}".prop_map(|digest| (false, vec![("--digest", digest)])),
        Just((false, vec![("--all", none())])),
        Just((false, vec![("--all", none()), ("--yes", none())])),
    ];
    prop_oneof![
        1 => Just(("doctor", false, Vec::new())),
        3 => Just(("inspect", true, Vec::new())),
        3 => page().prop_map(|page| ("functions", true, page)),
        3 => selector.prop_map(|selector| ("decompile", true, vec![selector])),
        2 => page().prop_map(|page| ("store list", false, page)),
        2 => (target, any::<bool>()).prop_map(move |((names_sample, mut flags), dry)| {
            flags.extend(dry.then(|| ("--dry-run", none())));
            ("clean", names_sample, flags)
        }),
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
    /// The arguments, in the order and spelling that were drawn.
    pub fn arguments(&self, sample: &str) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = self.command.split(' ').map(OsString::from).collect();
        // Where the last word of the command is.
        let mut command_at = arguments.len() - 1;
        arguments.extend(self.names_sample.then(|| sample.into()));
        for ((flag, value), (at, joined)) in self.flags.iter().zip(&self.order) {
            let own = OWN.contains(flag);
            let words: Vec<OsString> = match (value.as_str(), joined) {
                ("", _) if *flag != "--name" => vec![flag.into()],
                (value, true) => vec![format!("{flag}={value}").into()],
                (value, false) => vec![flag.into(), value.into()],
            };
            // Never inside a pair.
            let places: Vec<usize> = (if own { command_at + 1 } else { 0 }..=arguments.len())
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
        let value = word.to_str().and_then(|word| self.flags.get(word));
        value.is_some_and(|value| !value.is_empty() || word == "--name")
    }

    /// Whether a flag is given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains_key(flag)
    }

    /// The value of a number flag, or what it is when it is not given.
    pub fn number(&self, flag: &str, default: u64) -> u64 {
        self.flags.get(flag).map_or(default, |value| value.parse().unwrap())
    }
}

/// A valid line with one thing wrong, and what that is.
pub fn defective() -> impl Strategy<Value = (String, Vec<OsString>)> {
    (valid(), 0..16_usize, any::<Index>(), any::<u64>()).prop_map(|(line, defect, which, number)| {
        let mut words = line.arguments("/nonexistent/sample");
        let numbers: Vec<&str> = NUMBERS.iter().map(|(flag, ..)| *flag).collect();
        // The flag under test is appended, so it must not be there already.
        let free: Vec<&str> = numbers.into_iter().filter(|flag| !line.flags.contains_key(flag)).collect();
        let flag = *which.get(&free);
        let mut add = |more: &[&str]| words.extend(more.iter().map(OsString::from));
        let bad = ["0", "-1", "+1", "007", "1k", "1 MiB", "1e3", "unlimited", "0x10", "", "\u{665}", " 1"];
        let what = match defect {
            0 => {
                add(&[flag, *which.get(&bad)]);
                "no number"
            }
            1 => {
                add(&[flag, "99999999999999999999999999"]);
                "overflow"
            }
            2 => {
                add(&[flag]);
                "no value"
            }
            3 => {
                add(&[flag, "1000", flag, "1000"]);
                "twice"
            }
            4 => {
                add(&["--verbose=1"]);
                "a value for a flag without one"
            }
            5 => {
                add(&["--unheard-of"]);
                "unknown flag"
            }
            6 => {
                add(&["--sandbox", "maybe"]);
                "unknown mode"
            }
            7 => {
                add(&["--format", "yaml"]);
                "unknown format"
            }
            8 => {
                add(&["another", "sample"]);
                "too many samples"
            }
            9 => {
                add(&["--format", "json", "--format", "json"]);
                "format twice"
            }
            10 => {
                add(&["--name", "a", "--address", "ram:0x1", "--limit", "1"]);
                "flags of other commands"
            }
            11 => {
                words.insert(0, format!("{number}").into());
                "unknown first word"
            }
            12 => {
                add(&["--all", "--limit", "1"]);
                "conflict"
            }
            13 => {
                add(&["--all", "--digest", "00"]);
                "two targets, one of them no digest"
            }
            14 => {
                add(&["--yes", "--yes"]);
                "consent twice, or where nothing is to be consented to"
            }
            _ => {
                words.extend([flag.into(), OsString::from_vec(vec![b'1', 0xff])]);
                "a number that is not text"
            }
        };
        (what.to_owned(), words)
    })
}
