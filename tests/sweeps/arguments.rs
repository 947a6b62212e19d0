//! Generated command lines: parsed in volume, run on a scripted worker, and given to the executable.

use std::ffi::OsString;

use ghidr::cli::Format;
use proptest::prelude::*;

use crate::support::arguments::arbitrary::{self, Parsed};
use crate::support::arguments::disclosed::{self, is_disclosed};
use crate::support::arguments::understood::is_understood;
use crate::support::arguments::{check, defects, lines};
use crate::support::ghidr::{Ghidr, Run};
use crate::support::sweep::{Counts, Ledger, Sweep, count};

const SWEEP: Sweep = Sweep {
    name: "arguments",
    about: "Generated command lines: each is refused with exit status 2 and exactly one document, or every word \
            of it shows in what is done and, for policy, limits, pages, selectors and targets, in what is answered.",
    cases,
};
/// Lines of one case.
const LINES: usize = 250;

#[test]
fn sweep() {
    SWEEP.run();
}

fn cases(ledger: &mut Ledger) {
    let mut many = |name: &str, subset, long, lines, case: fn(&mut Counts, &mut _, usize)| {
        for index in 0..ledger.many(subset, long) {
            ledger.case(format!("{name} {index:03}"), |random, counts| {
                case(counts, random, lines);
                *counts.entry(format!("lines: {name}")).or_default() += lines as u64;
            });
        }
    };
    many("arbitrary, parsed", 8, 400, LINES, |_, random, lines| {
        check(random, lines, &arbitrary::line(), |line| arbitrary::parse(&line).map(|_| ()));
    });
    many("valid, parsed", 4, 200, LINES, |_, random, lines| {
        check(random, lines, &lines::valid(), |line| is_understood(&line));
    });
    many("defective, parsed", 4, 200, LINES, |_, random, lines| {
        check(random, lines, &defects::defective(), |(what, line)| match arbitrary::parse(&line)? {
            Parsed::Refused(_) => Ok(()),
            _ => Err(TestCaseError::fail(format!("{what} was accepted"))),
        });
    });
    many("valid, answered by a scripted worker", 2, 40, 60, |_, random, lines| {
        let world = disclosed::world();
        check(random, lines, &lines::valid(), |line| is_disclosed(&world, &line));
    });
    many("through the executable", 2, 40, 30, |counts, random, lines| {
        let ghidr = Ghidr::new().environment("GHIDR_GHIDRA", "/nonexistent/engine");
        let line = prop_oneof![arbitrary::line(), defects::defective().prop_map(|(_, line)| line)];
        check(random, lines, &line, |line| ends_well(&ghidr, &line));
        assert!(!ghidr.root().join("sample").exists());
        count(counts, "homes");
    });
}

/// The executable agrees with the parser: exit status 2 and one document for what it refuses.
fn ends_well(ghidr: &Ghidr, line: &[OsString]) -> Result<(), TestCaseError> {
    let parsed = arbitrary::parse(line)?;
    if line.first().is_some_and(|word| word == "--worker" || word == "--guard") {
        return Ok(());
    }
    let output = ghidr.command(line).output().map_err(|error| TestCaseError::fail(error.to_string()))?;
    let run = Run::from(output);
    let (refused, format) = match parsed {
        Parsed::Discovery => {
            prop_assert!(run.status == Some(0) && run.stderr.is_empty(), "{}", run);
            return Ok(());
        }
        Parsed::Refused(format) => (true, format),
        Parsed::Accepted(cli) => (false, cli.global.format),
    };
    prop_assert!(if refused { run.status == Some(2) } else { run.status.is_some() }, "{}", run);
    if run.status == Some(0) {
        prop_assert!(!run.stdout.is_empty() && run.stderr.is_empty(), "{}", run);
    } else if format == Format::Json {
        run.check_framing();
    } else {
        prop_assert!(run.stdout.is_empty() && run.stderr.starts_with(b"error: "), "{}", run);
        prop_assert!(!run.stderr.contains(&0x1b) && std::str::from_utf8(&run.stderr).is_ok(), "{}", run);
    }
    Ok(())
}
