//! Hand-made hostile Samples, and a native decompiler that dies or hangs.

use std::ffi::OsString;
use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::ghidr::{Ghidr, Run};
use crate::support::hostile::driven::{self, Driven};
use crate::support::hostile::handmade::{self, NAMES};
use crate::support::hostile::verdict::{self, examine};
use crate::support::sweep::Counts;
use crate::support::{boots, processes};

#[test]
fn every_hand_made_sample_gets_valid_documents_and_most_an_analysis() {
    let _boot = boots::take();
    let driven = Driven::new();
    for (name, bytes, analyzed) in handmade::all() {
        let sample = driven.sample(&bytes);
        let mut counts = Counts::new();
        let ask = |arguments: &[OsString]| driven.run(arguments);
        let code = examine(&ask, &sample, driven::SECONDS, Some(0), &mut counts);
        let reached = counts.contains_key(verdict::REACHED);
        assert!(reached || !analyzed, "{name}: {code}\n{}", driven.driver.last_output());
        driven.forget();
    }
}

/// The names arrive exactly, in JSON without a raw control byte, for people with nothing that acts.
#[test]
fn names_that_deceive_are_exact_in_json_and_harmless_to_people() {
    let _boot = boots::take();
    let ghidr = Ghidr::new();
    let sample = ghidr.root().join("sample");
    let (_, bytes, _) = handmade::all().swap_remove(0);
    std::fs::write(&sample, bytes).unwrap();
    let run = ghidr.run(["functions".as_ref(), sample.as_os_str(), "--all".as_ref()]);
    let document = run.success();
    let printed = String::from_utf8(run.stdout).unwrap();
    assert!(!printed.trim_end().bytes().any(|byte| byte < b' '), "a control character in JSON");
    let names: Vec<&str> = document["data"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect();
    let exact = NAMES.iter().filter(|name| names.contains(name)).count();
    assert!(exact >= 5, "{exact} of the names are exact: {names:?}");
    let people = ghidr.run_unframed([
        "--format=human".as_ref(),
        "functions".as_ref(),
        sample.as_os_str(),
        "--all".as_ref(),
    ]);
    let text = String::from_utf8(people.stdout).unwrap();
    let acts = |c: char| {
        (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}".contains(c)
    };
    assert!(!text.chars().any(acts), "{text:?}");
    let rows = text.lines().filter(|line| line.contains(":0x")).count();
    assert_eq!(rows, names.len(), "a name broke out of its row: {text}");
    let name = names.iter().find(|name| NAMES.contains(name)).unwrap();
    let arguments = ["decompile".as_ref(), sample.as_os_str(), "--name".as_ref(), name.as_ref()];
    assert_eq!(ghidr.run(arguments).success()["data"]["function"]["name"], **name);
}

/// A stored Analysis of a program with a function that keeps the decompiler busy.
fn with_an_endless_function() -> (Ghidr, String) {
    let ghidr = Ghidr::new();
    let sample = ghidr.root().join("sample");
    std::fs::write(&sample, handmade::long(30_000)).unwrap();
    let sample = sample.to_str().unwrap().to_owned();
    ghidr.run(["inspect", &sample]).success();
    (ghidr, sample)
}

/// Starts decompiling the endless function and sends the native process a signal while it works.
fn decompile_under(ghidr: &Ghidr, sample: &str, timeout: &str, signal: Signal) -> Run {
    let arguments = ["decompile", sample, "--name", "endless", "--decompile-timeout-seconds", timeout];
    let mut command = ghidr.command(arguments);
    let child: Child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let native = processes::wait_for("a native decompiler", || {
        processes::descendants(child.id()).into_iter().find(|pid| is_busy_decompiler(*pid))
    });
    processes::signal(native, signal);
    let run = Run::from(child.wait_with_output().unwrap());
    run.check_framing();
    processes::wait_until_gone(ghidr.root());
    run
}

/// A process of that name that has used a fifth of a second of its own.
fn is_busy_decompiler(pid: u32) -> bool {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let stat = read("stat");
    let ticks: u64 =
        stat.rsplit(')').next().and_then(|rest| rest.split(' ').nth(12)?.parse().ok()).unwrap_or(0);
    read("comm").trim() == "decompile" && Duration::from_millis(ticks * 10) >= Duration::from_millis(200)
}

fn the_next_function_works(ghidr: &Ghidr, sample: &str) {
    let document = ghidr.run(["decompile", sample, "--name", "short"]).success();
    assert!(document["data"]["decompilation"]["text"].as_str().unwrap().contains("short"));
    assert_eq!(ghidr.run(["inspect", sample]).success()["data"]["analysis"]["disposition"], "reused");
}

#[test]
fn a_decompiler_that_dies_is_a_typed_error_and_the_next_function_works() {
    let _boot = boots::take();
    let (ghidr, sample) = with_an_endless_function();
    for signal in [Signal::SEGV, Signal::KILL] {
        let run = decompile_under(&ghidr, &sample, "60", signal);
        let error = run.error("decompile_failed", 1);
        assert_ne!(error["details"]["reason"], Value::from(""), "{run}");
        assert!(!run.to_string().contains("imul"), "{run}");
    }
    the_next_function_works(&ghidr, &sample);
}

#[test]
fn a_decompiler_that_hangs_is_a_time_out_and_the_next_function_works() {
    let _boot = boots::take();
    let (ghidr, sample) = with_an_endless_function();
    let error = decompile_under(&ghidr, &sample, "3", Signal::STOP).error("decompile_timeout", 124);
    assert_eq!(error["details"]["timeout_seconds"], 3);
    the_next_function_works(&ghidr, &sample);
}
