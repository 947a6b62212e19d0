//! Sweeps through real Ghidra, a real JVM and real bubblewrap.

mod crashes;
mod crowds;
mod full_store;
mod mutants;
mod stored_damage;
mod sudden_ends;
mod whole_mutants;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::damage::{copy_tree, entries_below};
use crate::support::fake_engine::grandchildren;
use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::wait_until_gone;
use crate::support::{fixtures, residue, right_answer, tree};

/// The Sample of these sweeps: small, and with a `main`.
const FIXTURE: &str = "elf-aarch64";

/// A store without and one with the Analysis, and what an undisturbed command answers and leaves.
struct Stage {
    ghidr: Ghidr,
    sample: PathBuf,
    /// The store with the Analysis.
    analyzed: PathBuf,
    inspection: Value,
    decompilation: Value,
    entries: BTreeSet<String>,
}

impl Stage {
    fn new() -> Self {
        let ghidr = Ghidr::new();
        let sample = fixtures::path(FIXTURE);
        let analyzed = ghidr.root().join("analyzed");
        let mut stage = Self {
            ghidr,
            sample,
            analyzed: analyzed.clone(),
            inspection: Value::Null,
            decompilation: Value::Null,
            entries: BTreeSet::new(),
        };
        stage.inspection = right_answer::of(&stage.run(&["inspect"]));
        copy_tree(&stage.store(), &analyzed);
        stage.decompilation = right_answer::of(&stage.run(&["decompile", "--name", "main"]));
        stage.entries = names(&stage.store());
        stage
    }

    fn store(&self) -> PathBuf {
        self.ghidr.store()
    }

    /// Empties the store, or puts the Analysis back into it.
    fn reset(&self, with_analysis: bool) {
        let store = self.store();
        if store.exists() {
            std::fs::remove_dir_all(&store).unwrap();
        }
        if with_analysis {
            copy_tree(&self.analyzed, &store);
        }
    }

    fn line(&self, arguments: &[&str]) -> Vec<String> {
        let mut line: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        line.push(self.sample.to_str().unwrap().to_owned());
        line
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.ghidr.run(self.line(arguments))
    }

    /// No incomplete Analysis is visible, no process is left, the next command succeeds with the right
    /// answer, and the store holds nothing that an undisturbed one would not. `allowed` names what the
    /// disturbed command may have left on purpose. Everything can be removed, which is done.
    fn recovers(&self, allowed: &[&str], what: &str) {
        self.answers_again(allowed, what);
        self.leaves_nothing(what);
    }

    /// What [`Self::recovers`] says, without the removal.
    fn answers_again(&self, allowed: &[&str], what: &str) {
        wait_until_gone(self.ghidr.root());
        let store = self.store();
        for analysis in grandchildren(&store.join("analyses")) {
            assert!(
                analysis.join("manifest.sha256").exists(),
                "{what}: {} is incomplete",
                analysis.display()
            );
        }
        let run = self.run(&["decompile", "--name", "main"]);
        assert_eq!(right_answer::of(&run), self.decompilation, "{what}");
        let run = self.run(&["inspect"]);
        assert_eq!(right_answer::of(&run), self.inspection, "{what}");
        assert_eq!(run.document()["data"]["analysis"]["disposition"], "reused", "{what}");
        assert_eq!(tree::names(&store.join("staging")), Vec::<String>::new(), "{what}");
        let is_allowed = |name: &String| allowed.iter().any(|allowed| name.starts_with(allowed));
        let left: Vec<_> = names(&store)
            .into_iter()
            .filter(|name| !self.entries.contains(name) && !is_allowed(name))
            .collect();
        assert_eq!(left, Vec::<String>::new(), "{what}: left behind");
        assert_eq!(tree::names(store.parent().unwrap()), ["ghidr-store"], "{what}: left in the home");
        wait_until_gone(self.ghidr.root());
    }

    /// `clean --all` leaves the record and empty folders.
    fn leaves_nothing(&self, what: &str) {
        self.ghidr.run(["clean", "--all", "--yes"]).success();
        residue::check(&self.store(), what);
    }
}

fn names(store: &Path) -> BTreeSet<String> {
    entries_below(store).iter().map(|entry| right_answer::anonymous(entry)).collect()
}
