//! The engine as an installation directory: the pinned jar laid out as the release it was made from.
//!
//! It must answer like the single jar, both when it searches all of its jars for extension points and when it searches the
//! names that set-up found in them.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::ghidr::Ghidr;
use crate::support::installed::Installed;
use crate::support::{boots, essence, fixtures, installation};

const FIXTURE: &str = "elf-x86_64-pie";
const FUNCTION: &str = "main";
/// Its analyzers are others, and Ghidra runs scripts for it.
const WINDOWS_FIXTURE: &str = "pe32plus-x86_64.exe";
/// Only the engine can tell that it loads no such file.
const REFUSED_FIXTURE: &str = "elf-x32";

/// What a test compares of one engine: names and texts.
type Parts = Vec<(&'static str, String)>;

/// The pinned jar of an installation, laid out in a directory of its own.
struct LaidOut {
    directory: PathBuf,
    java_home: PathBuf,
    _place: tempfile::TempDir,
}

impl LaidOut {
    fn of(installed: &Installed) -> Self {
        let descriptor = std::fs::read(installed.bundle().join("engine.json")).unwrap();
        let descriptor: Value = serde_json::from_slice(&descriptor).unwrap();
        let java_home = PathBuf::from(descriptor["java_home"].as_str().unwrap());
        let jar = installed.bundle().join(descriptor["path"].as_str().unwrap());
        let place = tempfile::Builder::new().prefix("installation-").tempdir().unwrap();
        let directory = installation::lay_out(&jar, &java_home, place.path());
        Self { directory, java_home, _place: place }
    }

    /// A fresh home, with this engine.
    fn ghidr(&self, installed: &Installed) -> Ghidr {
        let ghidr = of_bundle().environment("GHIDR_GHIDRA", self.directory.as_os_str());
        ghidr.environment("GHIDR_JAVA_HOME", self.java_home.as_os_str()).executable(installed.executable())
    }
}

/// What one engine said about the fixture: what it stored, and its answers without what must differ.
fn answers(ghidr: &Ghidr) -> Parts {
    let sample = fixtures::path(FIXTURE);
    let sample = sample.to_str().unwrap();
    let decompiled = {
        let _boot = boots::take();
        ghidr.run(["decompile", sample, "--name", FUNCTION]).success()
    };
    let mut answers: Parts =
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

/// The fixture's Analysis as a fresh store holds it afterwards, or how the fixture is refused.
fn analysis(ghidr: &Ghidr, fixture: &str) -> Parts {
    let _boot = boots::take();
    let run = ghidr.run(["inspect", fixtures::path(fixture).to_str().unwrap()]);
    let document = run.document();
    if run.status != Some(0) {
        let error = &document["error"];
        return vec![("code", error["code"].to_string()), ("message", error["message"].to_string())];
    }
    essence::of_analysis(fixture, &ghidr.analysis(&document)).into_iter().collect()
}

fn engine(ghidr: &Ghidr) -> Value {
    let _boot = boots::take();
    ghidr.run(["doctor"]).success()["data"]["components"]["ghidra"].clone()
}

/// What installing ghidr for this engine makes, from one Sample instead of two; says what `doctor` found then.
fn prepare(installed: &Installed, ghidr: &Ghidr) -> Value {
    let bundle = installed.bundle();
    std::fs::remove_dir_all(bundle.join("boot")).unwrap();
    let (store, output) = (ghidr.root().join("boot-data-store"), bundle.join("boot"));
    let sample = fixtures::path(FIXTURE);
    let arguments = [store.as_os_str(), output.as_os_str(), sample.as_os_str(), FUNCTION.as_ref()];
    {
        let _boot = boots::take();
        let run = ghidr.command_on_host(("FAKE_BOOT_DATA", "make"), arguments).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let names = bundle.join("boot/class-data/extension-points/lib/extension-points.jar");
    assert!(names.is_file());
    let engine = engine(ghidr);
    assert_eq!(engine["status"], "ready", "{engine:#}");
    assert_eq!(engine["boot_data"]["status"], "ready", "{engine:#}");
    engine
}

fn of_bundle() -> Ghidr {
    Ghidr::new().without("GHIDR_GHIDRA").without("GHIDR_JAVA_HOME")
}

#[test]
fn an_installation_directory_answers_like_the_single_jar_with_and_without_prepared_names() {
    let installed = Installed::at("prefix");
    let laid_out = LaidOut::of(&installed);
    let of_others =
        |ghidr: &Ghidr| [WINDOWS_FIXTURE, REFUSED_FIXTURE].map(|fixture| analysis(ghidr, fixture));
    let bundled = of_bundle();
    let (expected, expected_of_others) = (answers(&bundled), of_others(&bundled));
    let assert_same = |ghidr: &Ghidr, when: &str| {
        essence::assert_same(&answers(ghidr), &expected, when);
        for (actual, expected) in of_others(ghidr).iter().zip(&expected_of_others) {
            essence::assert_same(actual, expected, when);
        }
    };

    // The boot data beside the executable is the single jar's.
    assert_same(&laid_out.ghidr(&installed), "every jar is searched");

    let prepared = laid_out.ghidr(&installed);
    let engine = prepare(&installed, &prepared);
    let launcher = laid_out.directory.join("support/analyzeHeadless");
    assert_eq!(engine["launcher"]["value"], launcher.to_str().unwrap(), "{engine:#}");
    assert_same(&prepared, "only the prepared names are searched");
}

#[test]
#[ignore = "six minutes or more; for the installation that GHIDR_TEST_GHIDRA and GHIDR_TEST_JAVA_HOME name, or the pinned jar laid out"]
fn every_fixture_is_the_same_with_and_without_prepared_names() {
    let installed = Installed::at("prefix");
    let is_named = std::env::var_os("GHIDR_TEST_GHIDRA").is_some();
    let laid_out = (!is_named).then(|| LaidOut::of(&installed));
    let ghidr = || match &laid_out {
        Some(laid_out) => laid_out.ghidr(&installed),
        None => Ghidr::new().executable(installed.executable()),
    };
    let searching = ghidr();
    let refused = fixtures::REFUSED.map(|(fixture, _)| fixture);
    let fixtures = || fixtures::ANALYSABLE.into_iter().chain(refused);
    let expected: Vec<_> = fixtures().map(|fixture| analysis(&searching, fixture)).collect();
    let prepared = ghidr();
    prepare(&installed, &prepared);
    for (fixture, expected) in fixtures().zip(&expected) {
        essence::assert_same(&analysis(&prepared, fixture), expected, fixture);
    }
}
