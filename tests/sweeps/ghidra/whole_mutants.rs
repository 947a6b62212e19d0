//! Mutants of the fixtures through the whole product: the executable, the sandbox, a worker for
//! each.

use std::ffi::OsString;

use crate::support::ghidr::Ghidr;
use crate::support::hostile::mutant::Mutant;
use crate::support::hostile::verdict::{self, examine};
use crate::support::sweep::{Ledger, Sweep, count};
use crate::support::{boots, processes, tree};

const SWEEP: Sweep = Sweep {
    name: "whole_mutants",
    about: "Mutated ELF, PE and Mach-O files through the executable, the production sandbox and a worker for each: \
            exactly one valid document for each question, answers that agree, no process and no staging left.",
    cases,
};
/// Every how many-th mutant is also decompiled.
const DECOMPILED: usize = 5;

#[test]
fn sweep() {
    SWEEP.run();
}

#[allow(clippy::print_stderr, reason = "shown when an assertion fails")]
fn cases(ledger: &mut Ledger) {
    let ghidr = Ghidr::new();
    let sample = ghidr.root().join("sample");
    // How many exceed a limit of time depends on the machine, so a subset does not count codes.
    let long = ledger.many(0, 1) == 1;
    for index in 0..ledger.many(8, 150) {
        ledger.case(format!("{index:03}"), |random, counts| {
            let Mutant { base, changes, bytes } = Mutant::of(random);
            let decompile = index.is_multiple_of(DECOMPILED).then(|| random.next());
            std::fs::write(&sample, bytes).unwrap();
            let ask = |arguments: &[OsString]| {
                let _boot = boots::take();
                let run = ghidr.run(arguments);
                assert_eq!(tree::names(&ghidr.store().join("staging")), Vec::<String>::new(), "{run}");
                run
            };
            // Read when an assertion fails, in the output that the test then shows.
            eprintln!("mutant {index} of {base}: {changes:?}");
            let code = examine(&ask, &sample, decompile, counts);
            if long {
                count(counts, format!("code {code}"));
            } else {
                counts.remove(verdict::DECOMPILED);
            }
        });
    }
    processes::wait_until_gone(ghidr.root());
}
