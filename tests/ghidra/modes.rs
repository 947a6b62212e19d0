//! The sandbox mode must not change what an Analysis is: identical facts, Profile, analyzer
//! status and counts from fresh stores in all three modes, and twice in the same mode.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::shared::{self, Shared};
use crate::support::{essence, fixtures};

/// Everything of an Analysis that must be equal.
fn essence(shared: &Shared, fixture: &str) -> BTreeMap<&'static str, String> {
    let document = shared.fixture(fixture);
    let mut essence = essence::of_analysis(fixture, &shared.analysis(fixture));
    essence.extend([
        ("Profile digest", document["provenance"]["analysis_profile_sha256"].to_string()),
        ("completeness", document["data"]["analysis"]["completeness"].to_string()),
        ("program", document["data"]["program"].to_string()),
    ]);
    essence
}

fn the_same_in_every_mode(fixture: &str) {
    let expected = essence(shared::bubblewrap(), fixture);
    for mode in ["external", "off"] {
        let actual = essence(shared::of_mode(mode), fixture);
        for (what, value) in &expected {
            assert_eq!(&actual[what], value, "{what} of {fixture} differs in mode {mode}");
        }
    }
}

macro_rules! in_every_mode {
    ($($name:ident: $fixture:literal,)*) => {
        $(#[test]
        fn $name() {
            the_same_in_every_mode($fixture);
        })*

        #[test]
        fn every_analysable_fixture_is_compared_in_every_mode() {
            assert_eq!([$($fixture),*], fixtures::ANALYSABLE);
        }
    };
}

in_every_mode! {
    identical_in_every_mode_elf_aarch64: "elf-aarch64",
    identical_in_every_mode_elf_i386: "elf-i386",
    identical_in_every_mode_elf_core: "elf-x86_64-core",
    identical_in_every_mode_elf_dwarf5: "elf-x86_64-dwarf5",
    identical_in_every_mode_elf_object: "elf-x86_64-object.o",
    identical_in_every_mode_elf_overlong: "elf-x86_64-overlong",
    identical_in_every_mode_elf_pie: "elf-x86_64-pie",
    identical_in_every_mode_elf_shared: "elf-x86_64-shared.so",
    identical_in_every_mode_elf_stripped: "elf-x86_64-stripped",
    identical_in_every_mode_elf_truncated: "elf-x86_64-truncated",
    identical_in_every_mode_pe32: "pe32-i386.exe",
    identical_in_every_mode_dotnet: "pe32plus-dotnet.exe",
    identical_in_every_mode_efi: "pe32plus-x86_64-efi.efi",
    identical_in_every_mode_dll: "pe32plus-x86_64.dll",
    identical_in_every_mode_exe: "pe32plus-x86_64.exe",
}

#[test]
fn two_fresh_stores_of_one_mode_hold_identical_analyses() {
    let second = shared::second();
    for fixture in ["elf-x86_64-pie", "elf-x86_64-shared.so", "pe32plus-x86_64.exe"] {
        assert_eq!(essence(second, fixture), essence(shared::bubblewrap(), fixture), "{fixture}");
    }
}

#[test]
fn answers_outside_the_verified_sandbox_say_so_even_from_facts() {
    let cases = [("external", "external_sandbox_unverified"), ("off", "sandbox_disabled")];
    for (mode, code) in cases {
        let shared = shared::of_mode(mode);
        shared.fixture("elf-x86_64-pie");
        let path = fixtures::path("elf-x86_64-pie");
        let run = shared.run(["functions", path.to_str().unwrap()]);
        assert_eq!(run.warning_codes(), [code]);
        let sandbox = run.success()["provenance"]["sandbox"].clone();
        assert_eq!(sandbox["backend"], mode);
        assert_ne!(sandbox["verification"], Value::from("verified"));
    }
}
