//! Mutants of the fixtures through the harness and the adapter's real operations, in one long-lived
//! Java machine.

use std::ffi::OsString;

use crate::support::boots;
use crate::support::hostile::driven::{self, Driven};
use crate::support::hostile::trial::{self, Trial};
use crate::support::hostile::verdict::{examine, forget_what_time_decides};
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

#[test]
fn sweep() {
    SWEEP.run();
}

fn cases(ledger: &mut Ledger) {
    let _boot = boots::take();
    let driven = Driven::new();
    let long = ledger.is_long();
    let ids = (0..ledger.many(45, 2_400)).map(|index| format!("{index:04}"));
    let said = || driven.driver.last_output();
    trial::all(ledger, ids, said, |Trial { index, bytes, random, counts }| {
        driven.forget();
        let sample = driven.sample(bytes);
        let decompile = index.is_multiple_of(DECOMPILED).then(|| random.next());
        let ask = |arguments: &[OsString]| driven.run(arguments);
        let code = examine(&ask, &sample, driven::SECONDS, decompile, counts);
        if long {
            count(counts, format!("code {code}"));
        } else {
            forget_what_time_decides(counts);
        }
    });
    trial::most_reached_analysis(&ledger.totals());
}
