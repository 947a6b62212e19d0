//! What is wrong with a combination of arguments, in the words that help uses.

use std::ffi::OsString;

use clap::error::{ContextKind, ErrorKind};

use super::suggestion::texts;

/// What is said instead of the parser's message; `None` where that one will do.
pub(super) fn describe(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let named = |kind| texts(error, kind).iter().map(|text| plain(text)).collect::<Vec<_>>();
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            let mut arguments = named(ContextKind::InvalidArg);
            arguments.extend(named(ContextKind::PriorArg));
            let flags: Vec<&str> =
                arguments.iter().filter_map(|argument| argument.split(' ').next()).collect();
            Some(excluded(&flags))
        }
        ErrorKind::MissingRequiredArgument => {
            Some(format!("required, but not given: {}", named(ContextKind::InvalidArg).join("; ")))
        }
        ErrorKind::InvalidValue => {
            let argument = named(ContextKind::InvalidArg).into_iter().next()?;
            let name = argument.split(' ').next().unwrap_or_default();
            let is_empty =
                texts(error, ContextKind::InvalidValue).is_empty() && is_given_empty(name, arguments);
            is_empty.then(|| format!("the value of {name} is empty"))
        }
        _ => None,
    }
}

/// Whether the value is there and empty; the parser says of such a one, too, that there is none.
fn is_given_empty(name: &str, arguments: &[OsString]) -> bool {
    let assigned = OsString::from(format!("{name}="));
    let follows = arguments.windows(2).any(|pair| pair[0] == name && pair[1].is_empty());
    // What is no flag has no other way to be without a value.
    !name.starts_with('-') || follows || arguments.contains(&assigned)
}

fn excluded(flags: &[&str]) -> String {
    let all_of = |known: &[&str]| flags.iter().all(|flag| known.contains(flag));
    if flags.contains(&"--yes") {
        "--yes goes only with --all: to remove what is stored of one sample needs no confirmation".to_owned()
    } else if all_of(&["SAMPLE", "--digest", "--all"]) {
        "exactly one of SAMPLE, --digest and --all can be given".to_owned()
    } else if let [flag, again] = flags
        && flag == again
    {
        format!("{flag} is given twice")
    } else {
        format!("{} cannot be given together", flags.join(" and "))
    }
}

/// An argument without the marks of a usage line: `<--name <NAME>|--all>` is `--name NAME or --all`.
fn plain(usage: &str) -> String {
    usage.replace(['<', '>', '[', ']'], "").replace('|', " or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_marks_are_no_words() {
        assert_eq!(plain("<--name <NAME>|--address <A>>"), "--name NAME or --address A");
        assert_eq!(plain("[SAMPLE]"), "SAMPLE");
    }
}
