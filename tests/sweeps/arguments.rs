//! Generated command lines: parsed in volume, run on a scripted worker, and given to the executable.

use std::ffi::OsString;

use ghidr::cli::{Format, parse};
use proptest::prelude::*;

use crate::support::arguments::arbitrary::{self, Parsed};
use crate::support::arguments::{check, lines};
use crate::support::fake_engine::World;
use crate::support::ghidr::{Ghidr, Run};
use crate::support::sweep::{Counts, Ledger, Sweep, count};

const SWEEP: Sweep = Sweep {
    name: "arguments",
    about: "Generated command lines: each is refused with exit status 2 and exactly one document, or every word \
            of it shows in what is done and, for limits, pages and selectors, in what is answered.",
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
        check(random, lines, &lines::valid(), is_understood)
    });
    many("defective, parsed", 4, 200, LINES, |_, random, lines| {
        check(random, lines, &lines::defective(), |(what, line)| match arbitrary::parse(&line)? {
            Parsed::Refused(_) => Ok(()),
            _ => Err(TestCaseError::fail(format!("{what} was accepted"))),
        });
    });
    many("valid, answered by a scripted worker", 2, 40, 60, |_, random, lines| {
        let world = World::new();
        check(random, lines, &lines::valid(), |line| is_disclosed(&world, &line));
    });
    many("through the executable", 2, 40, 30, |counts, random, lines| {
        let ghidr = Ghidr::new().environment("GHIDR_GHIDRA", "/nonexistent/engine");
        let line = prop_oneof![arbitrary::line(), lines::defective().prop_map(|(_, line)| line)];
        check(random, lines, &line, |line| ends_well(&ghidr, &line));
        assert!(!ghidr.root().join("sample").exists());
        count(counts, "homes");
    });
}

/// The values of a valid line are what the command gets, and what is not given has its default.
fn is_understood(line: lines::Line) -> Result<(), TestCaseError> {
    let arguments: Vec<OsString> =
        std::iter::once("ghidr".into()).chain(line.arguments("/nonexistent/sample")).collect();
    let cli =
        parse(&arguments).map_err(|refusal| TestCaseError::fail(format!("{arguments:?}: {refusal:?}")))?;
    let global = &cli.global;
    let numbers = [
        ("--analysis-timeout-seconds", global.analysis_timeout_seconds, 600),
        ("--decompile-timeout-seconds", global.decompile_timeout_seconds, 60),
        ("--max-heap-mib", global.max_heap_mib, 2_048),
        ("--max-cpu", global.max_cpu.into(), 2),
        ("--max-sample-bytes", global.max_sample_bytes, 1 << 30),
        ("--max-inline-bytes", global.max_inline_bytes, 65_536),
    ];
    for (flag, found, default) in numbers {
        prop_assert_eq!(found, line.number(flag, default), "{}", flag);
    }
    let memory = line.flags.get("--max-memory-mib").map(|value| value.parse().unwrap());
    prop_assert_eq!(global.max_memory_mib, memory);
    prop_assert_eq!(global.verbose, line.flags.contains_key("--verbose"));
    let command = format!("{:?}", cli.command).to_lowercase();
    prop_assert!(command.starts_with(line.command), "{}", command);
    Ok(())
}

/// The answer repeats the limits, the page and the selector, or the error names the one it is about.
fn is_disclosed(world: &World, line: &lines::Line) -> Result<(), TestCaseError> {
    let sample = world.sample();
    let run = world.run(line.arguments(sample.to_str().unwrap()));
    let document = run.document();
    let error = &document["error"];
    let details = &error["details"];
    match error["code"].as_str() {
        None => {
            let limits = &document["provenance"]["limits"];
            prop_assert_eq!(&limits["max_heap_mib"], line.number("--max-heap-mib", 2_048));
            prop_assert_eq!(&limits["max_cpu"], line.number("--max-cpu", 2));
            let seconds = line.number("--analysis-timeout-seconds", 600);
            prop_assert_eq!(&limits["analysis_timeout_seconds"], seconds);
            if line.command == "decompile" {
                let seconds = line.number("--decompile-timeout-seconds", 60);
                prop_assert_eq!(&limits["decompile_timeout_seconds"], seconds);
            }
            let data = &document["data"];
            let spilled = !data["artifact"].is_null();
            if line.command == "functions" && !spilled {
                let page = &data["page"];
                prop_assert_eq!(&page["offset"], line.number("--offset", 0), "{}", run);
                let all = line.flags.contains_key("--all");
                prop_assert_eq!(page["limit"].as_u64(), (!all).then(|| line.number("--limit", 100)));
            }
            if line.command == "decompile" && !spilled {
                let asked = line.flags.get("--name").or_else(|| line.flags.get("--address")).unwrap();
                prop_assert_eq!(data["requested_selector"]["value"].as_str(), Some(asked.as_str()));
            }
        }
        Some("sample_too_large") => {
            prop_assert_eq!(&details["limit_bytes"], line.number("--max-sample-bytes", 1 << 30));
        }
        Some("inline_budget_too_small") => {
            prop_assert_eq!(&details["configured_bytes"], line.number("--max-inline-bytes", 65_536));
        }
        Some("function_not_found" | "function_selector_ambiguous") => {
            prop_assert_eq!(details["name"].as_str(), line.flags.get("--name").map(String::as_str));
        }
        Some("invalid_arguments" | "address_space_not_found" | "function_entry_required") => {
            prop_assert!(line.flags.contains_key("--address"), "{}", run);
        }
        Some("function_not_decompilable") => prop_assert_eq!(line.command, "decompile"),
        // The scripted worker can decompile `main` alone.
        Some("protocol_violation") => prop_assert_eq!(&details["field"], "function"),
        Some(_) => return Err(TestCaseError::fail(run.to_string())),
    }
    Ok(())
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
