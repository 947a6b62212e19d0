//! `ghidr store list`: one page of the Samples that anything is kept of.
//!
//! Reads the store under a shared lock; needs no engine, verifies manifests only, and makes no
//! store where there is none.

use super::answer::{Answer, Spill, answer, prepare};
use super::context::Context;
use super::failure::Failure;
use crate::cli::PageArguments;
use crate::domain::digest::SampleDigest;
use crate::domain::page::PageRequest;
use crate::domain::store_list::{InterruptedCleanups, STORE_ORDER, StoreList, StoredGlobal};
use crate::output::envelope::Envelope;
use crate::output::storage;
use crate::store::{ArtifactScope, Store, StoreLock};

/// Kind of the success document.
pub const KIND: &str = "store_list";

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &PageArguments) -> Result<Answer, Failure> {
    let request = arguments.request();
    let text = |made: &Envelope<_, _>| Ok(storage::store_list(&made.data));
    let location = context.store_location()?;
    let Some(store) = Store::open_existing(&location)? else {
        let data = StoreList {
            page: request.describe(STORE_ORDER, 0),
            items: Vec::new(),
            global: StoredGlobal::default(),
            interrupted_cleanups: InterruptedCleanups::default(),
        };
        let envelope = Envelope::new(KIND, context.store_provenance(), data, Vec::new());
        return prepare::<_, _, StoreLock>(context, &envelope, text, String::new(), None, Envelope::clone)?
            .publish();
    };
    let lock = store.lock()?;
    let data = list(&store, &lock, request)?;
    let envelope = Envelope::new(KIND, context.store_provenance(), data, Vec::new());
    let spill = Spill { store: &store, lock: &lock, scope: ArtifactScope::Global, is_repeatable: true };
    answer(context, &envelope, text, String::new(), &spill, Envelope::clone)
}

fn list(store: &Store, lock: &StoreLock, request: PageRequest) -> Result<StoreList, Failure> {
    let samples = store.kept_samples(lock)?;
    let total = samples.len() as u64;
    let range = request.range(total);
    let index = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
    let shown: &[SampleDigest] = samples.get(index(range.start)..index(range.end)).unwrap_or_default();
    let mut items = Vec::new();
    for sample in shown {
        items.push(store.describe_sample(lock, *sample)?);
    }
    let global = store.survey_global(lock)?;
    let leftovers = store.leftovers(lock)?;
    Ok(StoreList {
        page: request.describe(STORE_ORDER, total),
        items,
        global: StoredGlobal {
            artifacts: global.artifacts,
            diagnostic_logs: global.diagnostic_logs,
            usage: global.usage,
        },
        interrupted_cleanups: InterruptedCleanups {
            transactions: leftovers.transactions,
            usage: leftovers.usage,
        },
    })
}
