//! Damaged boot data costs time and nothing else.

use serde_json::Value;

use crate::support::ghidr::Ghidr;
use crate::support::installed::Installed;
use crate::support::{boots, fixtures, tree};

const FIXTURE: &str = "pe32plus-x86_64.exe";
/// The one script that an analyzer runs; a worker cannot add it to bundles that lack it.
const SCRIPT: &str = "WindowsResourceReference.class";
const ANALYZER: &str = "WindowsResourceReference";

#[test]
fn a_compiled_script_that_is_gone_makes_boot_data_stale_and_no_analysis_poorer() {
    let installed = Installed::at("prefix");
    let bundles = installed.bundle().join("boot/compiled-bundles");
    let of_the_script: Vec<_> = tree::names(&bundles)
        .into_iter()
        .map(|name| format!("boot/compiled-bundles/{name}/{SCRIPT}"))
        .filter(|file| installed.bundle().join(file).is_file())
        .collect();
    assert_eq!(of_the_script.len(), 1, "{of_the_script:?}");
    installed.remove(&of_the_script[0]);

    let bundled = Ghidr::new().without("GHIDR_GHIDRA").without("GHIDR_JAVA_HOME");
    let ghidr = bundled.executable(installed.executable());
    let _boot = boots::take();
    let boot_data = ghidr.run(["doctor"]).success()["data"]["components"]["ghidra"]["boot_data"].clone();
    assert_eq!(boot_data["status"], "stale", "{boot_data}");
    let problem = boot_data["problem"].as_str().unwrap();
    assert!(problem.ends_with(&format!("{SCRIPT} is missing")), "{problem}");

    let inspected = ghidr.run(["inspect", fixtures::path(FIXTURE).to_str().unwrap()]).success();
    let manifest = std::fs::read(ghidr.analysis(&inspected).join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let runs = manifest["analyzers"].as_array().unwrap();
    let run = runs.iter().find(|run| run["name"] == ANALYZER).unwrap();
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(manifest["faults"]["total"], 0, "{manifest:#}");
}
