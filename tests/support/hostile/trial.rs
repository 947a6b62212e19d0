//! A trial of mutants: one case for each, and what has to be true of all together.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::mutant::Mutant;
use super::verdict::REACHED;
use crate::support::random::Random;
use crate::support::sweep::{Counts, Ledger};

/// How many of a hundred mutants must be analyzed, for the others show little.
const REACHED_PERCENT: u64 = 40;

/// One mutant and what belongs to its case.
pub struct Trial<'case> {
    /// Which mutant it is.
    pub index: usize,
    /// The file.
    pub bytes: &'case [u8],
    /// Choices after those that made the mutant.
    pub random: &'case mut Random,
    /// What happened.
    pub counts: &'case mut Counts,
}

/// Tries one mutant for each id. A defect leaves its case undone and the others to be done, so that one
/// run finds all; `said` is then asked what else there is to know about it.
pub fn all(
    ledger: &mut Ledger,
    ids: impl Iterator<Item = String>,
    said: impl Fn() -> String,
    mut examine: impl FnMut(Trial<'_>),
) {
    let mut defects = Vec::new();
    for (index, id) in ids.enumerate() {
        let mut made = None;
        let case = AssertUnwindSafe(|| {
            ledger.case(id, |random, counts| {
                let Mutant { base, changes, bytes } = Mutant::of(random);
                made = Some(format!("{base}: {changes:?}"));
                examine(Trial { index, bytes: &bytes, random, counts });
            });
        });
        if catch_unwind(case).is_err() {
            defects.push(format!("mutant {index} {made:?}\n{}", said()));
        }
    }
    assert!(defects.is_empty(), "{} defects:\n{}", defects.len(), defects.join("\n\n"));
}

/// Enough of the mutants of a sweep were analyzed for it to show something.
pub fn most_reached_analysis(totals: &Counts) {
    let reached = totals[REACHED] * 100 / totals["cases"];
    assert!(reached >= REACHED_PERCENT, "only {reached} % reach analysis");
}
