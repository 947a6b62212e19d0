//! What was probably meant by a word that nothing has: near spellings only, so that no guess is offered as advice.

use clap::error::{ContextKind, ContextValue};

/// Letters that a spelling of up to twice this many letters may miss.
const LETTERS_PER_SLIP: usize = 3;

/// The nearest of the parser's suggestions, when it is near.
pub(super) fn of(error: &clap::Error) -> Option<String> {
    let kinds = [
        (ContextKind::SuggestedArg, ContextKind::InvalidArg),
        (ContextKind::SuggestedSubcommand, ContextKind::InvalidSubcommand),
        (ContextKind::SuggestedValue, ContextKind::InvalidValue),
    ];
    kinds.into_iter().find_map(|(suggested, typed)| {
        let typed = texts(error, typed).into_iter().next()?;
        let near = texts(error, suggested).into_iter().filter(|meant| is_near(&typed, meant));
        near.min_by_key(|meant| slips(&typed, meant))
    })
}

/// The texts that the parser attached to an error.
pub(super) fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) if !text.is_empty() => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn is_near(typed: &str, meant: &str) -> bool {
    let [typed, meant] = [typed, meant].map(|text| text.trim_start_matches('-').to_lowercase());
    let letters = typed.chars().count();
    let is_beginning = letters >= LETTERS_PER_SLIP && meant.starts_with(&typed);
    is_beginning || slips(&typed, &meant) <= (letters / LETTERS_PER_SLIP).max(1)
}

/// How many letters were missed, added, confused or exchanged with their neighbour.
fn slips(typed: &str, meant: &str) -> usize {
    let (typed, meant): (Vec<char>, Vec<char>) = (typed.chars().collect(), meant.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=meant.len()).collect();
    for (i, letter) in typed.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, expected) in meant.iter().enumerate() {
            let confused = row[j] + usize::from(letter != expected);
            let mut least = confused.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && typed[i - 1] == *expected && *letter == meant[j - 1] {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_a_letter_missed_added_confused_or_exchanged() {
        for (typed, meant, expected) in
            [("", "", 0), ("inspct", "inspect", 1), ("nmae", "name", 1), ("tcsh", "zsh", 2), ("a", "", 1)]
        {
            assert_eq!(slips(typed, meant), expected, "{typed} {meant}");
        }
    }

    #[test]
    fn another_word_is_not_near() {
        for (typed, meant) in [("--lmit", "--limit"), ("fsh", "fish"), ("--max-heap", "--max-heap-mib")] {
            assert!(is_near(typed, meant), "{typed} {meant}");
        }
        for (typed, meant) in [("tcsh", "zsh"), ("ksh", "bash"), ("list", "inspect"), ("--all", "--format")] {
            assert!(!is_near(typed, meant), "{typed} {meant}");
        }
    }
}
