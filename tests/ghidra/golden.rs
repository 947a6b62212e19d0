//! Every command on every fixture, against the reviewed documents of this engine version.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{boots, fixtures, golden, normalize, shared};

/// Functions whose decompilation has a golden: fixture, label in the file name, selector.
/// Per fixture the main function, one with a switch, one that never returns, where there is one.
pub const DECOMPILED: [(&str, &str, [&str; 2]); 32] = [
    ("elf-aarch64", "main", ["--name", "main"]),
    ("elf-aarch64", "classify", ["--name", "classify"]),
    ("elf-aarch64", "never_returns", ["--name", "never_returns"]),
    ("elf-i386", "main", ["--name", "main"]),
    ("elf-i386", "classify", ["--name", "classify"]),
    ("elf-x86_64-core", "no_function", ["--address", "ram:0x0000000000401000"]),
    ("elf-x86_64-dwarf5", "main", ["--name", "main"]),
    ("elf-x86_64-dwarf5", "classify", ["--name", "classify"]),
    ("elf-x86_64-object.o", "classify", ["--name", "classify"]),
    ("elf-x86_64-object.o", "never_returns", ["--name", "never_returns"]),
    ("elf-x86_64-overlong", "overlong", ["--address", "ram:0x0000000000401161"]),
    ("elf-x86_64-overlong", "classify", ["--name", "classify"]),
    ("elf-x86_64-pie", "main", ["--name", "main"]),
    ("elf-x86_64-pie", "classify", ["--name", "classify"]),
    ("elf-x86_64-pie", "never_returns", ["--name", "never_returns"]),
    ("elf-x86_64-pie", "guarded_parse", ["--name", "shop::guarded_parse"]),
    ("elf-x86_64-shared.so", "library_summary", ["--name", "library_summary"]),
    ("elf-x86_64-shared.so", "classify", ["--name", "classify"]),
    ("elf-x86_64-shared.so", "never_returns", ["--name", "never_returns"]),
    ("elf-x86_64-stripped", "main", ["--address", "ram:0x00000000001010d2"]),
    ("elf-x86_64-stripped", "classify", ["--address", "ram:0x00000000001011c5"]),
    ("elf-x86_64-truncated", "main", ["--name", "main"]),
    ("pe32-i386.exe", "main", ["--name", "_program_main"]),
    ("pe32-i386.exe", "classify", ["--name", "_classify"]),
    ("pe32plus-dotnet.exe", "main", ["--name", "Main"]),
    ("pe32plus-x86_64-efi.efi", "entry", ["--name", "entry"]),
    ("pe32plus-x86_64-efi.efi", "classify", ["--name", "classify"]),
    ("pe32plus-x86_64.dll", "library_summary", ["--name", "library_summary"]),
    ("pe32plus-x86_64.dll", "classify", ["--name", "classify"]),
    ("pe32plus-x86_64.exe", "main", ["--name", "main"]),
    ("pe32plus-x86_64.exe", "classify", ["--name", "classify"]),
    ("pe32plus-x86_64.exe", "never_returns", ["--name", "never_returns"]),
];

/// The folder of the goldens of refused fixtures.
const ERRORS: &str = "errors";
/// The folder of the goldens of analysis records.
const RECORDS: &str = "analysis";

fn inspect_functions_and_decompile(fixture: &str) {
    let shared = shared::bubblewrap();
    golden::check("inspect", fixture, &shared.fixture(fixture));
    let path = fixtures::path(fixture);
    let path = path.to_str().unwrap();
    let run = shared.run(["functions", path, "--all", "--max-inline-bytes", "100000000"]);
    golden::check("functions", fixture, &run.success());
    for (_, label, [flag, value]) in DECOMPILED.iter().filter(|(of, ..)| *of == fixture) {
        let document = shared.decompiled(fixture, [flag, value]);
        golden::check("decompile", &format!("{fixture}.{label}"), &document);
    }
}

macro_rules! goldens {
    ($($name:ident: $fixture:literal,)*) => {
        $(#[test]
        fn $name() {
            inspect_functions_and_decompile($fixture);
        })*

        #[test]
        fn every_analysable_fixture_has_goldens() {
            let tested = BTreeSet::from([$($fixture),*]);
            assert_eq!(tested, BTreeSet::from(fixtures::ANALYSABLE));
            let decompiled = DECOMPILED.iter().map(|(fixture, ..)| *fixture);
            assert_eq!(tested, decompiled.collect());
        }
    };
}

goldens! {
    golden_of_elf_aarch64: "elf-aarch64",
    golden_of_elf_i386: "elf-i386",
    golden_of_elf_core: "elf-x86_64-core",
    golden_of_elf_dwarf5: "elf-x86_64-dwarf5",
    golden_of_elf_object: "elf-x86_64-object.o",
    golden_of_elf_overlong: "elf-x86_64-overlong",
    golden_of_elf_pie: "elf-x86_64-pie",
    golden_of_elf_shared: "elf-x86_64-shared.so",
    golden_of_elf_stripped: "elf-x86_64-stripped",
    golden_of_elf_truncated: "elf-x86_64-truncated",
    golden_of_pe32: "pe32-i386.exe",
    golden_of_dotnet: "pe32plus-dotnet.exe",
    golden_of_efi: "pe32plus-x86_64-efi.efi",
    golden_of_dll: "pe32plus-x86_64.dll",
    golden_of_exe: "pe32plus-x86_64.exe",
}

/// What an Analysis consists of beyond its answers: counts show what an analyzer left out.
#[test]
fn golden_of_analysis_records() {
    for fixture in fixtures::ANALYSABLE {
        let document = shared::bubblewrap().fixture(fixture);
        let manifest = shared::bubblewrap().stored(fixture, "manifest.json");
        let mut analyzers = manifest["analyzers"].clone();
        for run in analyzers.as_array_mut().unwrap() {
            run.as_object_mut().unwrap().remove("milliseconds");
        }
        let record = json!({
            "provenance": {"ghidra_version": document["provenance"]["ghidra_version"]},
            "program": normalize::program_counts(fixture, &manifest["program"]),
            "analyzers": analyzers,
            "faults": manifest["faults"],
            "suspicions": manifest["suspicions"],
        });
        golden::check(RECORDS, fixture, &record);
    }
}

#[test]
fn golden_of_refused_fixtures() {
    for (fixture, code) in fixtures::REFUSED {
        let _boot = boots::take();
        let shared = shared::bubblewrap();
        let run = shared.run(["inspect".as_ref(), fixtures::path(fixture).as_os_str()]);
        run.error(code, 1);
        golden::check(ERRORS, fixture, &run.document());
    }
}

#[test]
fn the_fixture_lists_are_complete() {
    let known = fixtures::ANALYSABLE.into_iter().chain(fixtures::REFUSED.map(|(fixture, _)| fixture));
    let known: BTreeSet<String> = known.map(str::to_owned).collect();
    let folder = fixtures::path("");
    assert_eq!(known, crate::support::tree::names(&folder).into_iter().collect());
}

#[test]
fn no_golden_is_an_orphan_and_none_is_missing() {
    let mut expected = BTreeSet::new();
    for fixture in fixtures::ANALYSABLE {
        expected.insert(format!("inspect/{fixture}.json"));
        expected.insert(format!("functions/{fixture}.json"));
        expected.insert(format!("{RECORDS}/{fixture}.json"));
    }
    expected.extend(DECOMPILED.map(|(fixture, label, _)| format!("decompile/{fixture}.{label}.json")));
    expected.extend(fixtures::REFUSED.map(|(fixture, _)| format!("{ERRORS}/{fixture}.json")));
    let versions = crate::support::tree::names(&golden::root());
    assert!(versions.contains(&"10.3".to_owned()), "no golden of the pinned engine in {versions:?}");
    for version in versions {
        let folder = golden::root().join(&version);
        let mut found = BTreeSet::new();
        for command in crate::support::tree::names(&folder) {
            for name in crate::support::tree::names(&folder.join(&command)) {
                found.insert(format!("{command}/{name}"));
            }
        }
        assert_eq!(found, expected, "goldens of Ghidra {version}");
    }
}
