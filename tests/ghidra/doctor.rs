//! `doctor` boots the engine in the production sandbox and makes no Analysis.

use serde_json::{Value, json};

use crate::support::ghidr::Ghidr;
use crate::support::installed::Installed;
use crate::support::{boots, tree};

#[test]
fn doctor_probes_the_real_engine_and_creates_no_analysis() {
    for mode in ["bubblewrap", "off"] {
        let ghidr = Ghidr::new();
        let _boot = boots::take();
        let run = ghidr.run(["--sandbox", mode, "doctor"]);
        let document = run.success();
        assert_eq!(document["kind"], "doctor_report");
        assert_eq!(document["provenance"]["sandbox"]["backend"], mode);
        assert!(document["provenance"]["ghidra_version"].is_string(), "{run}");
        check_protections(mode, &document["data"]["components"]["sandbox"]);
        check_boot_data(mode, &document["data"]["components"]["ghidra"]);
        let store = ghidr.store();
        assert_eq!(tree::names(&store.join("analyses")), Vec::<String>::new());
        assert_eq!(tree::names(&store.join("staging")), Vec::<String>::new(), "the write probe was left");
    }
}

/// Tried by a worker inside; where ghidr makes no sandbox there is nothing to claim.
fn check_protections(mode: &str, component: &Value) {
    let Some(protections) = component.get("protections") else {
        assert_eq!(mode, "off");
        return;
    };
    assert_eq!(mode, "bubblewrap");
    let protections = protections.as_array().unwrap();
    assert_eq!(protections.len(), 22);
    for report in protections {
        // A bubblewrap with its owner's privileges cannot limit user namespaces; the filter refuses them all the same.
        let may_be_missing = report["protection"] == "nested_user_namespaces";
        assert!(
            report["status"] == "active" || may_be_missing && report["status"] == "unavailable",
            "{report}"
        );
    }
}

/// A packager's bubblewrap that leaves the network namespace out and does everything else.
#[test]
fn a_sandbox_that_does_not_hold_is_not_ready_and_the_open_protection_is_named() {
    const WRAPPER: &str = r#"#!/bin/sh
for word; do
    shift
    case $word in
    --unshare-all) set -- "$@" --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec /usr/bin/bwrap "$@"
"#;
    let installed = Installed::at("prefix");
    let wrapper = installed.add("bwrap", WRAPPER);
    let parts = json!({
        "sandbox_version": 1, "bubblewrap": wrapper, "closure": ["/usr/share/fonts"], "fonts": "/etc/fonts"
    });
    installed.add("sandbox.json", &parts.to_string());
    let ghidr = Ghidr::new().executable(installed.executable());
    let _boot = boots::take();
    let run = ghidr.run(["doctor"]);
    let report = run.error("doctor_failed", 1)["details"]["report"].clone();
    let sandbox = &report["components"]["sandbox"];
    assert_eq!((&report["ready"], &sandbox["status"]), (&false.into(), &"invalid".into()), "{run}");
    for component in ["ghidra", "java", "analysis_store"] {
        assert_eq!(report["components"][component]["status"], "ready", "{run}");
    }
    let protections = sandbox["protections"].as_array().unwrap();
    let open: Vec<&Value> = protections.iter().filter(|report| report["status"] == "breached").collect();
    assert_eq!((open.len(), &open[0]["protection"]), (1, &"network_namespace".into()), "{run}");
    let problem = open[0]["problem"].as_str().unwrap();
    assert!(sandbox["problem"].as_str().unwrap().contains(problem), "{run}");
    let human = ghidr.run_unframed(["--format", "human", "doctor"]);
    assert_eq!(human.status, Some(1));
    assert!(String::from_utf8_lossy(&human.stderr).contains(problem), "{human}");
}

/// What set-up prepares is for its own engine, and holds paths that only exist in the sandbox.
fn check_boot_data(mode: &str, component: &Value) {
    let of_the_bundle = component["selected_by"] == "bundle";
    match mode {
        "off" => assert!(component.get("boot_data").is_none(), "{component:#}"),
        _ if of_the_bundle => assert_eq!(component["boot_data"]["status"], "ready", "{component:#}"),
        _ => assert_eq!(component["boot_data"]["status"], "stale", "{component:#}"),
    }
}

#[test]
fn doctor_finishes_every_check_when_the_engine_is_missing() {
    let ghidr = Ghidr::new().environment("GHIDR_GHIDRA", "/nowhere/ghidra");
    let error = ghidr.run(["doctor"]).error("doctor_failed", 1);
    let report = error["details"]["report"].as_object().unwrap();
    let sound = Ghidr::new();
    let _boot = boots::take();
    let healthy = sound.run(["doctor"]).success();
    let keys = |report: &serde_json::Map<String, Value>| report.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(report), keys(healthy["data"].as_object().unwrap()), "the same complete shape");
}
