//! Generated command lines: parsed in volume, run on a scripted worker, and given to the executable.

use std::ffi::OsString;

use ghidr::cli::{Command, Format, parse};
use proptest::prelude::*;
use serde_json::Value;

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
    prop_assert_eq!(global.verbose, line.has("--verbose"));
    let command = format!("{:?}", cli.command).to_lowercase();
    for word in line.command.split(' ') {
        prop_assert!(command.contains(word), "{}", command);
    }
    if let Command::Clean(clean) = cli.command {
        prop_assert_eq!(clean.sample.is_some(), line.names_sample);
        prop_assert_eq!(clean.digest.map(|digest| digest.to_string()), digest(&line));
        for (flag, found) in [("--all", clean.all), ("--dry-run", clean.dry_run), ("--yes", clean.yes)] {
            prop_assert_eq!(found, line.has(flag), "{}", flag);
        }
    }
    Ok(())
}

/// The digest that a line names, as it is understood.
fn digest(line: &lines::Line) -> Option<String> {
    line.flags.get("--digest").map(|digest| digest.to_lowercase())
}

/// The answer repeats the limits, the page, the selector and the target, or the error names the one it
/// is about.
fn is_disclosed(world: &World, line: &lines::Line) -> Result<(), TestCaseError> {
    let sample = world.sample();
    let run = world.run(line.arguments(sample.to_str().unwrap()));
    let document = run.document();
    let error = &document["error"];
    let details = &error["details"];
    match error["code"].as_str() {
        None => shows_what_was_asked(line, &document, &run)?,
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
            prop_assert!(line.has("--address"), "{}", run);
        }
        Some("confirmation_required") => {
            let asked = line.command == "clean" && line.has("--all");
            prop_assert!(asked && !line.has("--yes") && !line.has("--dry-run"), "{}", run);
        }
        Some("function_not_decompilable") => prop_assert_eq!(line.command, "decompile"),
        // The scripted worker can decompile `main` alone.
        Some("protocol_violation") => prop_assert_eq!(&details["field"], "function"),
        Some(_) => return Err(TestCaseError::fail(run.to_string())),
    }
    Ok(())
}

fn shows_what_was_asked(line: &lines::Line, document: &Value, run: &Run) -> Result<(), TestCaseError> {
    let data = &document["data"];
    if ["inspect", "functions", "decompile"].contains(&line.command) {
        let limits = &document["provenance"]["limits"];
        let heap = line.number("--max-heap-mib", 2_048);
        prop_assert_eq!(&limits["max_heap_mib"], heap);
        let memory = line.number("--max-memory-mib", heap + 2_048);
        prop_assert_eq!(&limits["max_memory_mib"], memory, "{}", run);
        prop_assert_eq!(&limits["max_cpu"], line.number("--max-cpu", 2));
        let seconds = line.number("--analysis-timeout-seconds", 600);
        prop_assert_eq!(&limits["analysis_timeout_seconds"], seconds);
        if line.command == "decompile" {
            let seconds = line.number("--decompile-timeout-seconds", 60);
            prop_assert_eq!(&limits["decompile_timeout_seconds"], seconds);
        }
    }
    if !data["artifact"].is_null() {
        return Ok(());
    }
    match line.command {
        "functions" | "store list" => {
            let page = &data["page"];
            prop_assert_eq!(&page["offset"], line.number("--offset", 0), "{}", run);
            let limit = (!line.has("--all")).then(|| line.number("--limit", 100));
            prop_assert_eq!(page["limit"].as_u64(), limit);
        }
        "decompile" => {
            let asked = line.flags.get("--name").or_else(|| line.flags.get("--address")).unwrap();
            prop_assert_eq!(data["requested_selector"]["value"].as_str(), Some(asked.as_str()));
        }
        "clean" => {
            let mode = if line.has("--dry-run") { "dry_run" } else { "executed" };
            prop_assert_eq!(&data["mode"], mode);
            let kind = if line.has("--all") {
                "all"
            } else if line.has("--digest") {
                "digest"
            } else {
                "sample"
            };
            prop_assert_eq!(&data["target"]["kind"], kind);
            if let Some(digest) = digest(line) {
                prop_assert_eq!(&data["target"]["sha256"], &digest);
            }
        }
        _ => {}
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
