//! Arguments without any regard for meaning: commands, flags, values and bytes, in any order and number.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;

use ghidr::cli::{self, Cli, Format, Refusal};
use ghidr::domain::error::PublicError;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::surface::{self, Flag, Shape};

/// What a line may be made of besides what the definitions know and random bytes. Nothing here is a
/// directory that exists.
const WORDS: [&str; 45] = [
    "help",
    "JSON",
    "none",
    "/nonexistent/sample",
    "relative",
    "main",
    "ram:0x0000000000001000",
    "0x1000",
    "2C26B46B68FFC68FF99B453C1D30413413422D706483BFA0F98A5E886266E7AE",
    "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7a",
    "",
    " ",
    "-",
    "--",
    "---",
    "-h",
    "-V",
    "-x",
    "--worker",
    "--guard",
    "--sandbx",
    "--max-cpus",
    "0",
    "1",
    "-1",
    "+1",
    "01",
    "1k",
    "1MiB",
    "2147483",
    "2147484",
    "65537",
    "18446744073709551615",
    "18446744073709551616",
    "\u{1b}[31m",
    "a\nb",
    "a\rb",
    "\u{202e}txt",
    "{\"code\":1}",
    "'",
    "\\",
    "=",
    "--=",
    "--yes=true",
    "\u{1f980}",
];
const HUGE_BYTES: usize = 60_000;

fn word() -> impl Strategy<Value = OsString> {
    prop_oneof![
        8 => select(WORDS.to_vec()).prop_map(OsString::from),
        4 => select(surface::WORDS.clone()).prop_map(OsString::from),
        4 => any::<u64>().prop_map(|number| number.to_string().into()),
        2 => vec(1_u8..=255, 0..12).prop_map(OsString::from_vec),
        1 => Just("x".repeat(HUGE_BYTES).into()),
    ]
}

/// A flag with or without a value, which may be one that the flag takes.
fn flag(flags: Vec<Flag>) -> impl Strategy<Value = Vec<OsString>> {
    (select(flags), word(), any::<Index>(), any::<bool>(), 0..8_u8).prop_map(
        |(flag, mut value, which, takes_it, spelling)| {
            if takes_it && !flag.values.is_empty() {
                value = which.get(&flag.values).into();
            }
            match spelling {
                0 => vec![flag.name.into()],
                1..5 => vec![flag.name.into(), value],
                _ => {
                    let mut joined = OsString::from(flag.name);
                    joined.push("=");
                    joined.push(value);
                    vec![joined]
                }
            }
        },
    )
}

/// The arguments of one command line, without the program's name: of a command mostly its own flags.
pub fn line() -> impl Strategy<Value = Vec<OsString>> {
    select(surface::SHAPES.clone()).prop_flat_map(|Shape { words, flags, .. }| {
        let piece = prop_oneof![
            6 => word().prop_map(|word| vec![word]),
            6 => flag(flags),
            2 => flag(surface::FLAGS.clone()),
        ];
        vec(piece, 0..7).prop_map(move |pieces| {
            words.iter().map(OsString::from).chain(pieces.into_iter().flatten()).collect()
        })
    })
}

/// What parsing a line led to.
pub enum Parsed {
    /// A command.
    Accepted(Box<Cli>),
    /// Text about the program.
    Discovery,
    /// An error, to be reported in this format.
    Refused(Format),
}

/// Parses a line and checks what must be true of every line: it is refused with the one error for
/// it, whose reason is one line of text, or no word of it is ignored.
pub fn parse(line: &[OsString]) -> Result<Parsed, TestCaseError> {
    let whole: Vec<OsString> = std::iter::once("ghidr".into()).chain(line.iter().cloned()).collect();
    match cli::parse(&whole) {
        Ok(cli) => {
            let meaning = format!("{cli:?}").to_lowercase();
            for word in line {
                prop_assert!(accounted(word, &meaning), "{word:?} was ignored: {cli:?}");
            }
            Ok(Parsed::Accepted(Box::new(cli)))
        }
        Err(Refusal::Discovery(text)) => {
            prop_assert!(!text.is_empty());
            Ok(Parsed::Discovery)
        }
        Err(Refusal::Invalid { error, format }) => {
            let PublicError::InvalidArguments { reason, .. } = &*error else {
                return Err(TestCaseError::fail(format!("{error:?}")));
            };
            prop_assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}");
            prop_assert_eq!(error.exit_status() as i32, 2);
            Ok(Parsed::Refused(format))
        }
    }
}

/// Whether a word is a flag, a command, or to be found in what the line was taken to mean.
fn accounted(word: &OsStr, meaning: &str) -> bool {
    let shown = |text: &OsStr| format!("{text:?}").to_lowercase();
    let bare = |text: &OsStr| {
        let shown = shown(text);
        shown[1..shown.len() - 1].to_owned()
    };
    let known = |text: &OsStr| surface::FLAGS.iter().any(|flag| text == OsStr::new(&flag.name));
    if word == "--" || known(word) || meaning.contains(&bare(word)) {
        return true;
    }
    let Some(text) = word.to_str() else {
        let bytes = word.as_encoded_bytes();
        let Some(at) = bytes.iter().position(|byte| *byte == b'=') else { return false };
        let (flag, value) = (&bytes[..at], OsString::from_vec(bytes[at + 1..].to_vec()));
        return known(&OsString::from_vec(flag.to_vec())) && meaning.contains(&bare(&value));
    };
    text.split_once('=')
        .is_some_and(|(flag, value)| known(OsStr::new(flag)) && meaning.contains(&bare(OsStr::new(value))))
}
