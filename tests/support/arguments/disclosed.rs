//! What the answer to a valid line must say of it, on a world with a scripted worker: the policy that it
//! chose, whether by a flag or by leaving it out, and what was asked. An error must be one that the line
//! explains.

use std::path::Path;

use clap::ValueEnum as _;
use ghidr::cli::{Shell, completions};
use proptest::prelude::*;
use serde_json::Value;

use super::lines::Line;
use super::place::{self, Chosen};
use super::surface;
use super::understood::digest;
use crate::support::committed::project;
use crate::support::fake_engine::World;
use crate::support::ghidr::Run;
use crate::support::tree;

/// A world with everything that lines name.
pub fn world() -> World {
    let world = World::new();
    place::prepare(&world);
    world
}

/// Runs the line and holds what it printed against what it says.
pub fn is_disclosed(world: &World, line: &Line) -> Result<(), TestCaseError> {
    let line = &playable(line);
    if ["completions", "schema"].contains(&line.command) {
        return is_text(world, line);
    }
    make_known(world, line);
    let json = line.with("--format", "json");
    let run = ask(world, &json);
    run.check_framing();
    is_explained(world, &json, &run)?;
    match line.flag("--format") {
        // What is no flag is the default.
        None => {
            let again = ask(world, line);
            again.check_framing();
            is_explained(world, line, &again)
        }
        Some("human") => is_told_to_people(line, &run, &ask(world, line)),
        Some(_) => Ok(()),
    }
}

/// A scripted worker runs in no sandbox. What needs one even when all is known is asked without bubblewrap: a
/// report, the Function that an address lies in, and anything of a store that can be used in bubblewrap alone.
fn playable(line: &Line) -> Line {
    let is_hidden = line.flag("--store") == Some("stores/.hidden");
    let needs_a_worker = line.command == "doctor" || line.has("--address") || line.is_query() && is_hidden;
    if line.sandbox() == "bubblewrap" && needs_a_worker {
        return line.with("--sandbox", "external");
    }
    line.clone()
}

/// Lets a worker make what the line needs of one, when the line itself can start none; and the Analysis of
/// a batch, because a scripted worker does not know which of the Queries must fail.
fn make_known(world: &World, line: &Line) {
    let isolated = line.sandbox() == "bubblewrap";
    if !line.is_query() || !(isolated || line.command == "batch") {
        return;
    }
    let mode = if isolated { "off" } else { line.sandbox() };
    let played = line.with("--format", "json").with("--sandbox", mode);
    let mut inspect = played.clone();
    inspect.command = "inspect";
    inspect.positionals.truncate(1);
    inspect.flags.retain(|flag, _| surface::is_of_every_command(flag));
    ask(world, &inspect);
    if isolated {
        ask(world, &played);
    }
}

fn ask(world: &World, line: &Line) -> Run {
    let store = place::store(world, line);
    // The engine says of itself what its files say.
    if let (Ok(Chosen { ghidra, build, java }), "doctor", Some(_)) =
        (place::engine(line), line.command, &store)
    {
        world.next(move |answer| {
            for (field, value) in [("ghidra_version", ghidra), ("ghidra_build", build)] {
                *answer.outcome_at(&format!("/probe/{field}")) = value.into();
            }
            *answer.outcome_at("/probe/java_version") = java.to_string().into();
        });
    }
    let run = world.run_given(&line.arguments(&world.path("")));
    if let Some((path, _)) = store {
        let staging = Path::new(&path).join("staging");
        assert!(!staging.exists() || tree::names(&staging).is_empty(), "staging is not empty after {run}");
    }
    run
}

/// Text on standard output, the same whatever else the line says.
fn is_text(world: &World, line: &Line) -> Result<(), TestCaseError> {
    let run = world.run_given(&line.arguments(&world.path("")));
    let word = &line.positionals[0];
    let expected = match line.command {
        "completions" => completions::script(Shell::from_str(word, false).unwrap()),
        _ => std::fs::read(project().join("schemas/v1").join(format!("{word}.json"))).unwrap(),
    };
    prop_assert!(run.status == Some(0) && run.stderr.is_empty() && run.stdout == expected, "{}", run);
    Ok(())
}

/// The same answer as text, with an explanation when one is asked for.
fn is_told_to_people(line: &Line, json: &Run, run: &Run) -> Result<(), TestCaseError> {
    // The answer may be a byte longer or shorter than the one in JSON was, for which a worker may have run.
    prop_assert!(run.status == json.status || line.has("--max-inline-bytes"), "{}\n{}", json, run);
    if run.status != Some(0) {
        prop_assert!(run.stdout.is_empty() && run.stderr.starts_with(b"error: "), "{}", run);
        return Ok(());
    }
    prop_assert!(!run.stdout.is_empty() && !run.stdout.starts_with(b"{"), "{}", run);
    let told = String::from_utf8(run.stderr.clone()).unwrap();
    let explains = told.lines().any(|line| line.starts_with("analysis ") && line.ends_with(": reused"));
    prop_assert_eq!(explains, line.is_query() && line.has("--verbose"), "{}", run);
    Ok(())
}

/// The answer repeats policy, page, selector and target, or the error is about a flag of the line.
fn is_explained(world: &World, line: &Line, run: &Run) -> Result<(), TestCaseError> {
    let document = run.document();
    shows_where_it_comes_from(world, line, &document, run)?;
    let details = &document["error"]["details"];
    let path = || details["path"]["value"].as_str().unwrap_or_default().to_owned();
    match document["error"]["code"].as_str() {
        None => shows_what_was_asked(line, &document, run)?,
        Some("sample_too_large") => {
            prop_assert_eq!(&details["limit_bytes"], line.number("--max-sample-bytes", 1 << 30));
        }
        Some("inline_budget_too_small") => {
            prop_assert_eq!(&details["configured_bytes"], line.number("--max-inline-bytes", 65_536));
        }
        Some("function_not_found" | "function_selector_ambiguous") => {
            prop_assert_eq!(details["name"].as_str(), line.flag("--name"));
        }
        Some("invalid_arguments" | "address_space_not_found" | "function_entry_required") => {
            prop_assert!(line.has("--address"), "{}", run);
        }
        Some("confirmation_required") => {
            let asked = line.command == "clean" && line.has("--all");
            prop_assert!(asked && !line.has("--yes") && !line.has("--dry-run"), "{}", run);
        }
        Some("function_not_decompilable") => prop_assert_eq!(line.command, "decompile"),
        // The scripted worker takes a selector that it does not know for `main`.
        Some("protocol_violation") => {
            prop_assert_eq!(&details["field"], "function");
            prop_assert_eq!(line.command, "decompile");
        }
        Some("invalid_store_path") => {
            prop_assert!(place::store(world, line).is_none(), "{}", run);
            prop_assert_eq!(Some(path()), line.value("--store", &world.path("")));
        }
        Some("invalid_batch") => {
            let wrong = match line.positionals.get(1).map(String::as_str) {
                Some("queries/wrong") => Value::from(2),
                Some("-") => Value::Null,
                _ => return Err(TestCaseError::fail(run.to_string())),
            };
            prop_assert_eq!(&details["line"], &wrong);
        }
        Some("doctor_failed") => {
            let refused = place::engine(line).is_err() || place::store(world, line).is_none();
            prop_assert!(refused && line.command == "doctor", "{}", run);
            names_components(&details["report"], line)?;
        }
        Some(code @ ("ghidra_missing" | "ghidra_incompatible" | "java_missing" | "java_incompatible")) => {
            prop_assert_eq!(place::engine(line), Err(code));
            let flag = if code.starts_with("ghidra") { "--ghidra" } else { "--java-home" };
            prop_assert_eq!(path(), line.value(flag, &world.path("")).unwrap_or_default());
            prop_assert!(details["selected_by"].as_str().unwrap().starts_with(flag), "{}", run);
        }
        Some(_) => return Err(TestCaseError::fail(run.to_string())),
    }
    Ok(())
}

/// Sandbox, store, engine, and warnings about each of them.
fn shows_where_it_comes_from(
    world: &World,
    line: &Line,
    document: &Value,
    run: &Run,
) -> Result<(), TestCaseError> {
    let provenance = &document["provenance"];
    prop_assert_eq!(&provenance["sandbox"]["backend"], line.sandbox(), "{}", run);
    let succeeded = run.status == Some(0);
    if succeeded || !provenance["analysis_store"].is_null() {
        let (path, source) = place::store(world, line).expect("a store that can be used");
        prop_assert_eq!(&provenance["analysis_store"]["path"]["value"], &path, "{}", run);
        prop_assert_eq!(&provenance["analysis_store"]["source"], source);
    }
    if succeeded && (line.is_query() || line.command == "doctor") {
        let Chosen { ghidra, java, .. } = place::engine(line).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&provenance["ghidra_version"], ghidra);
        prop_assert_eq!(&provenance["java_version"], &java.to_string());
        let warned = run.warning_codes();
        for (code, is_due) in [
            ("sandbox_disabled", line.sandbox() == "off"),
            ("external_sandbox_unverified", line.sandbox() == "external"),
            ("unverified_engine", (ghidra, java) == ("10.3", 21)),
        ] {
            prop_assert_eq!(warned.iter().any(|warning| warning == code), is_due, "{}: {}", code, run);
        }
    }
    Ok(())
}

fn shows_what_was_asked(line: &Line, document: &Value, run: &Run) -> Result<(), TestCaseError> {
    let data = &document["data"];
    if line.is_query() {
        shows_limits(line, &document["provenance"]["limits"], run)?;
    }
    if !data["artifact"].is_null() {
        return Ok(());
    }
    match line.command {
        "doctor" => names_components(data, line)?,
        "functions" | "store list" => {
            let page = &data["page"];
            prop_assert_eq!(&page["offset"], line.number("--offset", 0), "{}", run);
            let limit = (!line.has("--all")).then(|| line.number("--limit", 100));
            prop_assert_eq!(page["limit"].as_u64(), limit);
        }
        "decompile" => {
            let asked = line.flag("--name").or_else(|| line.flag("--address"));
            prop_assert_eq!(data["requested_selector"]["value"].as_str(), asked);
        }
        "batch" => {
            let counted = ["succeeded", "failed", "not_run"].map(|status| data["counts"][status].as_u64());
            let (succeeded, failed, not_run) = place::batch_counts(line);
            prop_assert_eq!(counted, [succeeded, failed, not_run].map(Some), "{}", run);
            let is_everything = !data["decompilations"].is_null();
            prop_assert_eq!(is_everything, line.has("--decompile-all"), "{}", run);
        }
        "clean" => {
            let mode = if line.has("--dry-run") { "dry_run" } else { "executed" };
            prop_assert_eq!(&data["mode"], mode);
            let kind = ["--all", "--digest"].into_iter().find(|flag| line.has(flag));
            prop_assert_eq!(&data["target"]["kind"], kind.map_or("sample", |flag| &flag[2..]));
            if let Some(digest) = digest(line) {
                prop_assert_eq!(&data["target"]["sha256"], &digest);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Every limit that has a part in the answer.
fn shows_limits(line: &Line, limits: &Value, run: &Run) -> Result<(), TestCaseError> {
    let heap = line.number("--max-heap-mib", 2_048);
    let is_batch = line.command == "batch";
    let decompiles = line.command == "decompile"
        || is_batch && line.positionals.get(1).is_none_or(|queries| queries == "queries/mixed");
    for (name, flag, default, is_due) in [
        ("max_heap_mib", "--max-heap-mib", 2_048, true),
        ("max_memory_mib", "--max-memory-mib", heap + 2_048, true),
        ("max_cpu", "--max-cpu", 2, true),
        ("analysis_timeout_seconds", "--analysis-timeout-seconds", 600, true),
        ("decompile_timeout_seconds", "--decompile-timeout-seconds", 60, decompiles),
        ("batch_timeout_seconds", "--batch-timeout-seconds", 3_600, decompiles && is_batch),
    ] {
        let expected = is_due.then(|| line.number(flag, default));
        prop_assert_eq!(limits[name].as_u64(), expected, "{}: {}", name, run);
    }
    Ok(())
}

/// A report names the rule that chose each component, and of what is not usable that it is not.
fn names_components(report: &Value, line: &Line) -> Result<(), TestCaseError> {
    let components = &report["components"];
    prop_assert_eq!(&components["sandbox"]["backend"], line.sandbox());
    for (flag, component) in [("--ghidra", "ghidra"), ("--java-home", "java")] {
        let named = components[component]["selected_by"].as_str().unwrap();
        prop_assert_eq!(named == flag, line.has(flag), "{}", components);
    }
    let (ghidra, java) = (&components["ghidra"]["status"], &components["java"]["status"]);
    match place::engine(line) {
        Ok(_) => prop_assert!(ghidra == "ready" && java == "ready", "{}", components),
        Err(code) => {
            let (component, problem) = code.split_once('_').unwrap();
            // Of a Ghidra that is no Ghidra a report says that it is invalid.
            let status = if code == "ghidra_incompatible" { "invalid" } else { problem };
            prop_assert_eq!(&components[component]["status"], status, "{}", components);
        }
    }
    Ok(())
}
