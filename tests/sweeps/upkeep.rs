//! What those who look after a store make of a damaged one: the list tells no damaged Analysis as if it were
//! sound, and a cleanup removes what is damaged as it does anything else.

use std::path::Path;

use serde_json::Value;

use super::scenario::{CLEAN, CLEAN_EVERYTHING, ask};
use crate::support::fake_engine::World;
use crate::support::ghidr::Run;
use crate::support::residue;
use crate::support::sweep::{Counts, count};
use crate::support::tree;

const LIST: &[&str] = &["store", "list"];
/// The commands.
pub const UPKEEP: [&[&str]; 3] = [LIST, CLEAN, CLEAN_EVERYTHING];
/// Where data of Samples is.
const AREAS: [&str; 6] = ["analyses", "artifacts", "cleanup", "diagnostics", "quarantine", "results"];

/// What the commands do on the undamaged store.
pub struct Upkeep {
    sample: String,
    analyses: Vec<Value>,
}

impl Upkeep {
    /// Lists the world's store.
    pub fn new(world: &World) -> Self {
        let document = ask(world, LIST).success();
        let upkeep = Self { sample: tree::sha256(&world.sample()), analyses: sound_analyses(&document) };
        assert_eq!(upkeep.analyses.len(), 1, "{document}");
        assert_eq!(document["data"]["interrupted_cleanups"]["transactions"], 1, "{document}");
        assert_eq!(document["data"]["items"][0]["quarantined_analyses"], 1, "{document}");
        upkeep
    }

    /// Judges a run of one of them after an entry was damaged, which may be what an Analysis is identified by.
    pub fn judge(
        &self,
        (arguments, run): (&[&str], &Run),
        store: &Path,
        (entry, is_identity): (&Path, bool),
        what: &str,
        counts: &mut Counts,
    ) {
        if run.status != Some(0) {
            let code = run.document()["error"]["code"].as_str().unwrap().to_owned();
            assert_ne!(code, "internal_error", "{what}: {run}");
            assert!(arguments == LIST || !is_removable(arguments, entry), "{what}: not removed: {run}");
            let command = if arguments == LIST { "store list" } else { "clean" };
            return count(counts, format!("{command}: refused: {code}"));
        }
        match arguments {
            CLEAN => {
                let of_sample = |area: &&str| {
                    tree::names(&store.join(area)).iter().any(|name| name.starts_with(&self.sample))
                };
                let left: Vec<_> = AREAS.iter().filter(|area| of_sample(area)).collect();
                assert_eq!(left, Vec::<&&str>::new(), "{what}: left of the Sample");
                count(counts, "the Sample was removed");
            }
            CLEAN_EVERYTHING => {
                residue::check(store, what);
                count(counts, "everything was removed");
            }
            _ => {
                let sound = sound_analyses(&run.document());
                assert!(sound.iter().all(|listed| self.analyses.contains(listed)), "{what}: {run}");
                assert!(!is_identity || sound.is_empty(), "{what}: told as sound: {run}");
                count(counts, "listed");
            }
        }
    }
}

/// What is told of Analyses that can be read, but for what they occupy.
fn sound_analyses(document: &Value) -> Vec<Value> {
    let items = document["data"]["items"].as_array().unwrap().iter();
    let all = items.flat_map(|item| item["analyses"].as_array().unwrap().clone());
    let sound = all.filter(|analysis| analysis["status"] == "complete");
    sound
        .map(|mut analysis| {
            analysis["usage"] = Value::Null;
            analysis
        })
        .collect()
}

/// Whether damage of this entry is no reason to refuse the cleanup. Without a record it is no store, without locks
/// nobody knows who else is there, and of a whole area that is none nothing can be said about one Sample.
fn is_removable(arguments: &[&str], entry: &Path) -> bool {
    let is_whole = entry.components().count() == 1;
    let is_record_or_lock = entry.starts_with("store.json") || entry.starts_with("locks");
    !is_record_or_lock && (arguments == CLEAN_EVERYTHING || !is_whole)
}
