//! Cleaning a store that real analyses filled.

use crate::support::ghidr::Ghidr;
use crate::support::{boots, fixtures, residue, tree};

#[test]
fn a_sample_goes_and_the_others_answers_stay_until_everything_goes() {
    let _boot = boots::take();
    let ghidr = Ghidr::new();
    let path = |fixture| fixtures::path(fixture).to_str().unwrap().to_owned();
    let (gone, kept) = (path("elf-aarch64"), path("elf-i386"));
    let first = ghidr.run(["decompile", &gone, "--name", "main"]).success();
    let other = ghidr.run(["functions", &kept, "--all", "--max-inline-bytes", "1000000"]).success();
    let analyses = ghidr.store().join("analyses");
    let digest =
        |document: &serde_json::Value| document["provenance"]["sample_sha256"].as_str().unwrap().to_owned();
    let before = tree::state(&analyses.join(digest(&other)));

    let listed = ghidr.run(["store", "list"]).success();
    let items = listed["data"]["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    let item = items.iter().find(|item| item["sample_sha256"] == digest(&first).as_str()).unwrap();
    let manifest = &item["analyses"][0]["manifest"];
    assert_eq!(manifest["target"]["processor_language"], first["provenance"]["target"]["processor_language"]);
    assert_eq!(manifest["ghidra_version"], first["provenance"]["ghidra_version"]);

    let cleaned = ghidr.run(["clean", &gone]).success();
    assert_eq!(cleaned["data"]["removed"]["analyses"], 1);
    assert_eq!(cleaned["data"]["removed"]["usage"], item["usage"]);
    assert!(!analyses.join(digest(&first)).exists());
    assert_eq!(tree::state(&analyses.join(digest(&other))), before);
    let again = ghidr.run(["inspect", &kept]).success();
    assert_eq!(again["data"]["analysis"]["disposition"], "reused");

    ghidr.run(["clean", "--all"]).error("confirmation_required", 1);
    ghidr.run(["clean", "--all", "--yes"]).success();
    residue::check(&ghidr.store(), "clean --all");
}
