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
            15 => {
                add(&["--fail-fast", "--fail-fast"]);
                "twice, or a flag of another command"
            }
            16 => {
                add(&["--decompile-all", "queries"]);
                "two kinds of questions, or a flag of another command"
            }
            17 => {
                add(&["--ghidra", ""]);
                "no path"
            }
            18 => {
                add(&["--batch-timeout-seconds", *which.get(&bad)]);
                "no number, or a flag of another command"
            }
            _ => {
                words.extend([flag.into(), OsString::from_vec(vec![b'1', 0xff])]);
                "a number that is not text"
            }
        };
        (what.to_owned(), words)
    })
}
