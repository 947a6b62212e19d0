//! What is wrong with a combination of arguments, in the words that help uses.

use clap::error::{ContextKind, ErrorKind};

use super::suggestion::texts;

/// What is said instead of the parser's message; `None` where that one will do.
pub(super) fn describe(error: &clap::Error) -> Option<String> {
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
        _ => None,
    }
}

fn excluded(flags: &[&str]) -> String {
    let all_of = |known: &[&str]| flags.iter().all(|flag| known.contains(flag));
    if flags.contains(&"--yes") {
        "--yes goes only with --all: to remove what is stored of one sample needs no confirmation".to_owned()
    } else if all_of(&["SAMPLE", "--digest", "--all"]) {
        "exactly one of SAMPLE, --digest and --all can be given".to_owned()
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
