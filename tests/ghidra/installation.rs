//! The engine as an installation directory: the pinned jar laid out as the release it was made from.
//!
//! It must answer like the single jar, both when it searches all of its jars for extension points and when it searches the
//! names that set-up found in them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::ghidr::Ghidr;
use crate::support::installed::Installed;
use crate::support::{boots, essence, fixtures, installation};

const FIXTURE: &str = "elf-x86_64-pie";
const FUNCTION: &str = "main";

/// What one engine said about the fixture: what it stored, and its answers without what must differ.
fn answers(ghidr: &Ghidr) -> Vec<(&'static str, String)> {
    let sample = fixtures::path(FIXTURE);
    let sample = sample.to_str().unwrap();
    let decompiled = {
        let _boot = boots::take();
        ghidr.run(["decompile", sample, "--name", FUNCTION]).success()
    };
    let mut answers: Vec<_> =
        essence::of_analysis(FIXTURE, &ghidr.analysis(&decompiled)).into_iter().collect();
    let inspected = ghidr.run(["inspect", sample]).success();
    let functions = ghidr.run(["functions", sample, "--all"]).success();
    answers.extend([
        ("decompilation", decompiled["data"].to_string()),
        ("program", inspected["data"]["program"].to_string()),
        ("completeness", inspected["data"]["analysis"]["completeness"].to_string()),
        ("functions", functions["data"]["items"].to_string()),
    ]);
    answers
}

fn engine(ghidr: &Ghidr) -> Value {
    let _boot = boots::take();
    ghidr.run(["doctor"]).success()["data"]["components"]["ghidra"].clone()
}

/// What installing ghidr for this engine makes, from one Sample instead of two.
fn prepare(installed: &Installed, ghidr: &Ghidr) {
    let bundle = installed.bundle();
    std::fs::remove_dir_all(bundle.join("boot")).unwrap();
    let (store, output) = (ghidr.root().join("boot-data-store"), bundle.join("boot"));
    let sample = fixtures::path(FIXTURE);
    let arguments = [store.as_os_str(), output.as_os_str(), sample.as_os_str(), FUNCTION.as_ref()];
    let _boot = boots::take();
    let run = ghidr.command_on_host(("FAKE_BOOT_DATA", "make"), arguments).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn of_bundle() -> Ghidr {
    Ghidr::new().without("GHIDR_GHIDRA").without("GHIDR_JAVA_HOME")
}

#[test]
fn an_installation_directory_answers_like_the_single_jar_with_and_without_prepared_names() {
    let installed = Installed::at("prefix");
    let descriptor = std::fs::read(installed.bundle().join("engine.json")).unwrap();
    let descriptor: Value = serde_json::from_slice(&descriptor).unwrap();
    let java_home = Path::new(descriptor["java_home"].as_str().unwrap());
    let jar: PathBuf = installed.bundle().join(descriptor["path"].as_str().unwrap());
    let place = tempfile::Builder::new().prefix("installation-").tempdir().unwrap();
    let directory = installation::lay_out(&jar, java_home, place.path());
    let in_directory = || {
        let ghidr = of_bundle().environment("GHIDR_GHIDRA", directory.as_os_str());
        ghidr.environment("GHIDR_JAVA_HOME", java_home.as_os_str()).executable(installed.executable())
    };

    let expected = answers(&of_bundle());
    let searching = in_directory();
    // The boot data beside the executable is the single jar's.
    essence::assert_same(&answers(&searching), &expected, "every jar is searched");

    let prepared = in_directory();
    prepare(&installed, &prepared);
    let names = installed.bundle().join("boot/class-data/extension-points/lib/extension-points.jar");
    assert!(names.is_file());
    let engine = engine(&prepared);
    assert_eq!(engine["status"], "ready", "{engine:#}");
    let launcher = directory.join("support/analyzeHeadless");
    assert_eq!(engine["launcher"]["value"], launcher.to_str().unwrap(), "{engine:#}");
    assert_eq!(engine["boot_data"]["status"], "ready", "{engine:#}");
    essence::assert_same(&answers(&prepared), &expected, "only the prepared names are searched");
}

/// The fixture's Analysis as a fresh store holds it afterwards, or the code with which the fixture is refused.
fn analysis(ghidr: &Ghidr, fixture: &str) -> Vec<(&'static str, String)> {
    let run = ghidr.run(["inspect", fixtures::path(fixture).to_str().unwrap()]);
    let document = run.document();
    if run.status != Some(0) {
        return vec![("code", document["error"]["code"].to_string())];
    }
    essence::of_analysis(fixture, &ghidr.analysis(&document)).into_iter().collect()
}

#[test]
#[ignore = "half an hour; for an installation that GHIDR_TEST_GHIDRA and GHIDR_TEST_JAVA_HOME name"]
fn every_fixture_is_the_same_with_and_without_prepared_names() {
    let installed = Installed::at("prefix");
    let searching = Ghidr::new().executable(installed.executable());
    let refused = fixtures::REFUSED.map(|(fixture, _)| fixture);
    let fixtures = || fixtures::ANALYSABLE.into_iter().chain(refused);
    let expected: Vec<_> = fixtures().map(|fixture| analysis(&searching, fixture)).collect();
    let prepared = Ghidr::new().executable(installed.executable());
    prepare(&installed, &prepared);
    for (fixture, expected) in fixtures().zip(&expected) {
        essence::assert_same(&analysis(&prepared, fixture), expected, fixture);
    }
}
