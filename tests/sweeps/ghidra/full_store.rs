//! A store that real commands filled with one of everything that is kept: of the Sample of these
//! sweeps all, of another one an Analysis.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Stage, grandchildren};
use crate::support::damage::copy_tree;
use crate::support::{fixtures, tree};

/// Where data of Samples is, all of it filled.
const AREAS: [&str; 5] = ["analyses", "results", "artifacts", "diagnostics", "quarantine"];
/// Never the target of anything, so it has to stay as it is.
const ANOTHER: &str = "elf-i386";

/// The filled store, to be copied from.
pub struct FullStore {
    path: PathBuf,
    sample: String,
    another: String,
}

/// How far a removal of the Sample's data has come, as the store shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// Some of the data is still where it belongs, the rest in a transaction.
    Moving,
    /// All of the data is in a transaction.
    Moved,
    /// Some is gone for good, and the rest in a transaction.
    Deleting,
}

impl FullStore {
    /// Fills a store and keeps a copy of it.
    pub fn make(stage: &Stage) -> Self {
        stage.reset(true);
        let lines = stage.run(&["batch", "--decompile-all"]).success();
        assert_eq!(lines["data"]["decompilations"]["lines"], lines["data"]["counts"]["succeeded"]);
        let spilled = stage.run(&["functions", "--all", "--max-inline-bytes", "2500"]).success();
        assert_eq!(spilled["data"]["spilled"], true);
        // Another Profile, so that there is no Analysis yet and a worker has to start.
        let limited = ["inspect", "--max-cpu", "1", "--max-memory-mib", "1"];
        stage.run(&limited).error("memory_limit_exceeded", 1);
        let analyses = stage.store().join("analyses");
        tree::flip_byte(&grandchildren(&analyses)[0].join("facts/functions.jsonl"));
        // With the damaged Analysis all its results went, so the one that is kept is kept now.
        let rebuilt = stage.run(&["decompile", "--name", "main"]);
        let says = rebuilt.warning_codes();
        assert!(says.contains(&"corrupt_analysis_rebuilt".to_owned()), "{rebuilt}");
        let another = fixtures::path(ANOTHER);
        stage.ghidr.run(["inspect", another.to_str().unwrap()]).success();
        let path = stage.ghidr.root().join("full");
        copy_tree(&stage.store(), &path);
        let full = Self { path, sample: tree::sha256(&stage.sample), another: tree::sha256(&another) };
        let kept = full.contents(&full.path, &full.sample);
        for area in AREAS {
            assert!(kept.keys().any(|path| path.starts_with(area)), "nothing in {area}");
        }
        full
    }

    /// Gives the stage a copy.
    pub fn copy(&self, stage: &Stage) {
        stage.reset(false);
        copy_tree(&self.path, &stage.store());
    }

    /// How far a removal has come in a copy; fails when none is under way.
    pub fn removal(&self, store: &Path) -> Removal {
        let cleanup = store.join("cleanup");
        let transactions = tree::names(&cleanup);
        assert_eq!(transactions.len(), 1, "no removal is under way: {transactions:?}");
        let in_place = |area: &&str| store.join(area).join(&self.sample).exists();
        if AREAS.iter().any(in_place) {
            return Removal::Moving;
        }
        let files = |root: &Path| self.contents(root, &self.sample).len();
        let all_left = files(&cleanup.join(&transactions[0])) == files(&self.path);
        if all_left { Removal::Moved } else { Removal::Deleting }
    }

    /// Fails when anything of the Sample is left in a copy.
    pub fn is_without_the_sample(&self, store: &Path, what: &str) {
        assert_eq!(tree::names(&store.join("cleanup")), Vec::<String>::new(), "{what}");
        assert_eq!(self.contents(store, &self.sample), BTreeMap::new(), "{what}");
    }

    /// Fails when the other Sample's data in a copy is not what it was.
    pub fn has_the_other(&self, store: &Path, what: &str) {
        let expected = self.contents(&self.path, &self.another);
        assert!(!expected.is_empty());
        assert_eq!(self.contents(store, &self.another), expected, "{what}: another Sample's data");
    }

    /// Every file kept of a Sample with the digest of its bytes, relative to the root.
    fn contents(&self, root: &Path, sample: &str) -> BTreeMap<PathBuf, String> {
        let states = AREAS.iter().flat_map(|area| tree::state(&root.join(area).join(sample)));
        let relative = |path: &Path| path.strip_prefix(root).unwrap().to_owned();
        states.filter_map(|(path, (_, _, digest))| Some((relative(&path), digest?))).collect()
    }
}
