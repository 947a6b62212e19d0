//! Mutants of the fixtures through the whole product: the executable, the sandbox, a worker for
//! each.

use std::ffi::OsString;

use crate::support::ghidr::Ghidr;
use crate::support::hostile::trial::{self, Trial};
use crate::support::hostile::verdict::{DECOMPILED, examine, forget_what_time_decides};
use crate::support::sweep::{Ledger, Sweep, count};
use crate::support::{boots, processes, tree};

const SWEEP: Sweep = Sweep {
    name: "whole_mutants",
    about: "Mutated ELF, PE and Mach-O files through the executable, the production sandbox and a worker for each, \
            with a native limit of one minute: exactly one valid document for each question, answers that agree, no \
            error but one that blames the Sample or names a limit, no process and no staging left.",
    cases,
};
/// Every how many-th mutant is also decompiled.
const DECOMPILED_EVERY: usize = 5;
/// The engine's own limit of time for one Sample: enough for every fixture, on a slow machine too.
const SECONDS: u32 = 60;

#[test]
fn sweep() {
    SWEEP.run();
}

fn cases(ledger: &mut Ledger) {
    let ghidr = Ghidr::new();
    let sample = ghidr.root().join("sample");
    let long = ledger.is_long();
    let ids = (0..ledger.many(8, 150)).map(|index| format!("{index:03}"));
    trial::all(ledger, ids, String::new, |Trial { index, bytes, random, counts }| {
        let decompile = index.is_multiple_of(DECOMPILED_EVERY).then(|| random.next());
        std::fs::write(&sample, bytes).unwrap();
        let ask = |arguments: &[OsString]| {
            let _boot = boots::take();
            let run = ghidr.run(arguments);
            assert_eq!(tree::names(&ghidr.store().join("staging")), Vec::<String>::new(), "{run}");
            run
        };
        let code = examine(&ask, &sample, SECONDS, decompile, counts);
        // Many Samples take the space of one.
        ghidr.run(["clean", "--all", "--yes"]).success();
        if long {
            count(counts, format!("code {code}"));
        } else {
            forget_what_time_decides(counts);
        }
    });
    processes::wait_until_gone(ghidr.root());
    let totals = ledger.totals();
    trial::most_reached_analysis(&totals);
    assert!(!long || totals.contains_key(DECOMPILED), "no function was decompiled: {totals:?}");
}
