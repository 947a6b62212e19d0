//! Valid command lines with one defect.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

use super::lines::{NUMBERS, valid};
use super::place::NOWHERE;

/// A valid line with one thing wrong, and what that is.
pub fn defective() -> impl Strategy<Value = (String, Vec<OsString>)> {
    (valid(), 0..20_usize, any::<Index>(), any::<u64>()).prop_map(|(line, defect, which, number)| {
        let mut words = line.arguments(Path::new(NOWHERE));
        let numbers: Vec<&str> = NUMBERS.iter().map(|(flag, ..)| *flag).collect();
        // The flag under test is appended, so it must not be there already.
        let free: Vec<&str> = numbers.into_iter().filter(|flag| !line.flags.contains_key(flag)).collect();
        let flag = *which.get(&free);
        let bad = ["0", "-1", "+1", "007", "1k", "1 MiB", "1e3", "unlimited", "0x10", "", "\u{665}", " 1"];
        let (what, more): (_, Vec<&str>) = match defect {
            0 => ("no number", vec![flag, *which.get(&bad)]),
            1 => ("overflow", vec![flag, "99999999999999999999999999"]),
            2 => ("no value", vec![flag]),
            3 => ("twice", vec![flag, "1000", flag, "1000"]),
            4 => ("a value for a flag without one", vec!["--verbose=1"]),
            5 => ("unknown flag", vec!["--unheard-of"]),
            6 => ("unknown mode", vec!["--sandbox", "maybe"]),
            7 => ("unknown format", vec!["--format", "yaml"]),
            8 => ("too many samples", vec!["another", "sample"]),
            9 => ("format twice", vec!["--format", "json", "--format", "json"]),
            10 => ("flags of other commands", vec!["--name", "a", "--address", "ram:0x1", "--limit", "1"]),
            11 => {
                words.insert(0, format!("{number}").into());
                ("unknown first word", Vec::new())
            }
            12 => ("conflict", vec!["--all", "--limit", "1"]),
            13 => ("two targets, one of them no digest", vec!["--all", "--digest", "00"]),
            14 => ("consent twice, or where nothing is to be consented to", vec!["--yes", "--yes"]),
            15 => ("twice, or a flag of another command", vec!["--fail-fast", "--fail-fast"]),
            16 => {
                ("two kinds of questions, or a flag of another command", vec!["--decompile-all", "queries"])
            }
            17 => ("no path", vec!["--ghidra", ""]),
            18 => {
                ("no number, or a flag of another command", vec!["--batch-timeout-seconds", *which.get(&bad)])
            }
            _ => {
                words.extend([flag.into(), OsString::from_vec(vec![b'1', 0xff])]);
                ("a number that is not text", Vec::new())
            }
        };
        words.extend(more.into_iter().map(OsString::from));
        (what.to_owned(), words)
    })
}
