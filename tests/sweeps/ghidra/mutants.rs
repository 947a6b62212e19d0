//! Mutants of the fixtures through the harness and the adapter's real operations, in one long-lived
//! Java machine.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::boots;
use crate::support::hostile::driven::Driven;
use crate::support::hostile::mutant::Mutant;
use crate::support::hostile::verdict::{self, examine};
use crate::support::sweep::{Ledger, Sweep, count};

const SWEEP: Sweep = Sweep {
    name: "mutants",
    about: "Mutated ELF, PE and Mach-O files through the harness and the adapter's real operations, in one \
            long-lived Java machine, with a native limit of five seconds: exactly one valid document for each \
            question, answers that agree, and no error but one that blames the Sample or names a limit.",
    cases,
};
/// Every how many-th mutant is also decompiled.
const DECOMPILED: usize = 3;
/// How many of a hundred mutants must be analyzed, for the others show little.
const REACHED_PERCENT: u64 = 40;

#[test]
fn sweep() {
    SWEEP.run();
}

fn cases(ledger: &mut Ledger) {
    let _boot = boots::take();
    let driven = Driven::new();
    // How many exceed a limit of time depends on the machine, so a subset does not count codes.
    let long = ledger.many(0, 1) == 1;
    let mut defects = Vec::new();
    for index in 0..ledger.many(45, 2_400) {
        let mut made = None;
        // A defect leaves the case undone and the others to be done, so that one run finds all.
        let case = AssertUnwindSafe(|| {
            ledger.case(format!("{index:04}"), |random, counts| {
                let mutant = Mutant::of(random);
                let sample = driven.sample(&mutant.bytes);
                made = Some(mutant);
                let decompile = index.is_multiple_of(DECOMPILED).then(|| random.next());
                let ask = |arguments: &[OsString]| driven.run(arguments);
                let code = examine(&ask, &sample, decompile, counts);
                if long {
                    count(counts, format!("code {code}"));
                } else {
                    counts.remove(verdict::DECOMPILED);
                }
            });
        });
        if catch_unwind(case).is_err() {
            let what = made.map(|Mutant { base, changes, .. }| format!("{base}: {changes:?}"));
            defects.push(format!("mutant {index} {what:?}\n{}", driven.driver.last_output()));
        }
        driven.forget();
    }
    assert!(defects.is_empty(), "{} defects:\n{}", defects.len(), defects.join("\n\n"));
    let totals = ledger.totals();
    let reached = totals["analysis was reached"] * 100 / totals["cases"];
    assert!(reached >= REACHED_PERCENT, "only {reached} % reach analysis");
}
