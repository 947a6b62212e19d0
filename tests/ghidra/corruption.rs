//! Nothing flipped is served by a Query that reads it: it is quarantined and rebuilt once.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::ghidr::Ghidr;
use crate::support::{boots, fixtures, tree};

struct Stored {
    ghidr: Ghidr,
    sample: String,
    original: Value,
}

impl Stored {
    fn new() -> Self {
        let ghidr = Ghidr::new();
        let sample = fixtures::path("elf-aarch64").to_str().unwrap().to_owned();
        let original = ghidr.run(["inspect", &sample]).success();
        Self { ghidr, sample, original }
    }

    fn analysis(&self) -> PathBuf {
        self.ghidr.analysis(&self.original)
    }

    fn quarantined(&self) -> usize {
        let mut found = 0;
        let quarantine = self.ghidr.store().join("quarantine");
        for sample in tree::names(&quarantine) {
            for profile in tree::names(&quarantine.join(&sample)) {
                found += tree::names(&quarantine.join(&sample).join(profile)).len();
            }
        }
        found
    }
}

#[test]
fn a_flipped_byte_in_the_facts_is_quarantined_and_rebuilt() {
    let _boot = boots::take();
    let stored = Stored::new();
    for (number, file) in ["facts/functions.jsonl", "profile.json", "manifest.json"].iter().enumerate() {
        tree::flip_byte(&stored.analysis().join(file));
        let run = stored.ghidr.run(["functions", &stored.sample]);
        let document = run.success();
        let warnings = document["warnings"].as_array().unwrap();
        let [warning] = warnings
            .iter()
            .filter(|warning| warning["code"] == "corrupt_analysis_rebuilt")
            .collect::<Vec<_>>()[..]
        else {
            panic!("{file}: {run}")
        };
        assert_eq!(
            warning["details"]["analysis_profile_sha256"],
            stored.original["provenance"]["analysis_profile_sha256"]
        );
        assert_eq!(stored.quarantined(), number + 1, "{file}");
        let again = stored.ghidr.run(["inspect", &stored.sample]).success();
        assert_eq!(again["data"]["analysis"]["disposition"], "reused", "{file}");
        assert_eq!(again["data"]["program"], stored.original["data"]["program"], "{file}");
    }
}

#[test]
fn inspect_itself_reports_a_rebuild() {
    let _boot = boots::take();
    let stored = Stored::new();
    tree::flip_byte(&stored.analysis().join("facts/program.json"));
    let run = stored.ghidr.run(["inspect", &stored.sample]);
    assert_eq!(run.success()["data"]["analysis"]["disposition"], "rebuilt", "{run}");
    assert!(run.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned()), "{run}");
}

#[test]
fn a_flipped_byte_in_the_project_is_found_by_the_query_that_opens_it() {
    let _boot = boots::take();
    let stored = Stored::new();
    let database = largest_file(&stored.analysis().join("project"));
    tree::flip_byte(&database);
    let facts = stored.ghidr.run(["inspect", &stored.sample]).success();
    assert_eq!(facts["data"]["analysis"]["disposition"], "reused", "facts do not depend on the project");
    let run = stored.ghidr.run(["decompile", &stored.sample, "--name", "main"]);
    run.success();
    assert!(run.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned()), "{run}");
    assert_eq!(stored.quarantined(), 1);
    let again = stored.ghidr.run(["decompile", &stored.sample, "--name", "main"]);
    assert!(!again.warning_codes().contains(&"corrupt_analysis_rebuilt".to_owned()), "{again}");
}

fn largest_file(directory: &Path) -> PathBuf {
    let files = tree::state(directory).into_iter().filter(|(_, (.., digest))| digest.is_some());
    let size = |path: &PathBuf| std::fs::metadata(path).unwrap().len();
    files.map(|(path, _)| path).max_by_key(size).unwrap()
}
