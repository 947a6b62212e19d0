//! Whether the person at the terminal agrees to remove everything.
//!
//! JSON format never asks, and nobody is asked who is not there: then only `--yes` agrees.

use super::context::Context;
use super::failure::{Failure, interrupted};
use crate::cli::Format;
use crate::domain::cleanup::CleanupCounts;
use crate::domain::error::PublicError;
use crate::output::storage;
use crate::store::Store;

/// Fails with `confirmation_required` unless the answer is yes.
pub fn confirm(context: &Context<'_>, store: &Store, matched: CleanupCounts) -> Result<(), Failure> {
    let refused = |declined| Failure::from(PublicError::ConfirmationRequired { matched, declined });
    let Some(ask) = context.host.ask.filter(|_| context.format == Format::Human) else {
        return Err(refused(false));
    };
    let question = storage::question(&store.location().path.as_path().into(), &matched);
    let answer = ask(&question).map_err(Failure::internal)?;
    if let Some(signal) = context.host.interrupts.first() {
        return Err(interrupted(signal, None).into());
    }
    if answer.is_some_and(|answer| is_yes(&answer)) { Ok(()) } else { Err(refused(true)) }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for yes in ["y", "Y", "yes", " YES\r"] {
            assert!(is_yes(yes), "{yes}");
        }
        for no in ["", "n", "no", "ye", "yes please", "j", "true", "1"] {
            assert!(!is_yes(no), "{no}");
        }
    }
}
