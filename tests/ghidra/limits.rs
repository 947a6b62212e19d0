//! Limits that expire inside real Ghidra: typed, explained, and nothing is promoted.

use crate::support::ghidr::Ghidr;
use crate::support::{boots, fixtures, tree};

const LARGE: &str = "/usr/bin/bash";

fn assert_no_analysis(ghidr: &Ghidr) {
    let analyses = ghidr.store().join("analyses");
    for sample in tree::names(&analyses) {
        assert_eq!(tree::names(&analyses.join(sample)), Vec::<String>::new());
    }
    assert_eq!(tree::names(&ghidr.store().join("staging")), Vec::<String>::new());
}

#[test]
fn an_analysis_timeout_names_the_analyzer_and_the_next_value_and_promotes_nothing() {
    let ghidr = Ghidr::new();
    let _boot = boots::take();
    let run = ghidr.run(["--analysis-timeout-seconds", "1", "inspect", LARGE]);
    let error = run.error("analysis_timeout", 124);
    assert_eq!(error["details"]["timeout_seconds"], 1);
    assert!(
        error["details"]["progress"]["analyzer"].as_str().is_some_and(|name| !name.is_empty()),
        "{error}"
    );
    assert_eq!(error["details"]["raise"]["flag"], "--analysis-timeout-seconds");
    assert!(error["details"]["raise"]["next_value"].as_u64().unwrap() > 1, "{error}");
    assert!(error["message"].as_str().unwrap().contains("--analysis-timeout-seconds"), "{error}");
    assert_no_analysis(&ghidr);
    let human =
        ghidr.run_unframed(["--format", "human", "--analysis-timeout-seconds", "1", "inspect", LARGE]);
    assert_eq!(human.status, Some(124), "{human}");
    assert!(String::from_utf8_lossy(&human.stderr).contains("--analysis-timeout-seconds"), "{human}");
    let small = fixtures::path("elf-aarch64");
    ghidr.run(["inspect".as_ref(), small.as_os_str()]).success();
}

/// Neither the Sample's path nor the caller's environment is in any file of a Diagnostic Log.
fn assert_quotes_nothing_of_the_caller(log: &std::path::Path) {
    let names = tree::names(log);
    assert!(names.contains(&"manifest.json".to_owned()) && names.len() > 1, "{names:?}");
    for name in names {
        let text = String::from_utf8_lossy(&std::fs::read(log.join(&name)).unwrap()).into_owned();
        for secret in ["a-path-of-the-caller", "NOBODYS_BUSINESS", "a-value-of-the-caller"] {
            assert!(!text.contains(secret), "{name} quotes {secret}: {text}");
        }
    }
}

#[test]
fn an_exhausted_java_heap_is_typed_and_names_the_next_value() {
    let ghidr = Ghidr::new().environment("NOBODYS_BUSINESS", "a-value-of-the-caller");
    let sample = ghidr.root().join("a-path-of-the-caller");
    std::fs::copy(LARGE, &sample).unwrap();
    let _boot = boots::take();
    let run = ghidr.run(["--max-heap-mib", "40", "inspect", sample.to_str().unwrap()]);
    let error = run.error("java_heap_exhausted", 1);
    assert_eq!(error["details"]["max_heap_mib"], 40);
    assert_eq!(error["details"]["raise"]["flag"], "--max-heap-mib");
    assert!(error["details"]["raise"]["next_value"].as_u64().unwrap() > 40, "{error}");
    assert!(error["details"]["progress"]["phase"].is_string(), "{error}");
    assert_no_analysis(&ghidr);
    let log = error["diagnostic_log"]["path"]["value"].as_str().unwrap();
    assert_quotes_nothing_of_the_caller(std::path::Path::new(log).parent().unwrap());
}

#[test]
fn an_exceeded_memory_limit_is_distinct_from_the_java_heap() {
    let ghidr = Ghidr::new();
    let _boot = boots::take();
    let run = ghidr.run(["--max-memory-mib", "100", "inspect", LARGE]);
    let error = run.error("memory_limit_exceeded", 1);
    assert_eq!(error["details"]["max_memory_mib"], 100);
    assert_eq!(error["details"]["raise"]["flag"], "--max-memory-mib");
    assert_no_analysis(&ghidr);
}
