//! Which decompilations are kept, and under which key.
//!
//! Only completed ones without a fault of the engine, and only for the Function that the facts name
//! for the selector; everything else is asked again.

use serde::Serialize;

use super::analysis::Ready;
use crate::domain::address::Address;
use crate::domain::digest::ContentDigest;
use crate::domain::function::FunctionItem;
use crate::domain::selector::Resolution;
use crate::protocol::limits::DECOMPILATION_VERSION;
use crate::protocol::response::Decompilation;
use crate::protocol::violation::ProtocolViolation;

/// Everything that can change the text. Engine, Java and adapter are behind the Analysis; the
/// decompiler's options are fixed by the version. The time-out is not here: it decides whether
/// there is a text, not which.
#[derive(Serialize)]
struct Key<'query> {
    query: &'static str,
    decompilation_version: u32,
    analysis_manifest_sha256: ContentDigest,
    entry: &'query Address,
}

fn key<'query>(ready: &Ready<'_>, entry: &'query Address) -> Key<'query> {
    Key {
        query: "decompile",
        decompilation_version: DECOMPILATION_VERSION,
        analysis_manifest_sha256: ready.analysis.manifest_digest(),
        entry,
    }
}

/// The kept decompilation of this Function, if there is one.
pub fn kept(ready: &Ready<'_>, item: &FunctionItem) -> Option<Decompilation> {
    if !item.decompilable {
        return None;
    }
    let found: Decompilation = ready.analysis.kept_result(ready.store, &key(ready, &item.entry))?;
    names(&found, item).then_some(found)
}

/// Keeps what a worker answered, when it answered about the Function that was asked for.
/// A store that cannot keep it costs the next command time, and this one nothing.
pub fn keep(
    ready: &Ready<'_>,
    resolution: &Resolution,
    decompilation: &Decompilation,
) -> Result<bool, ProtocolViolation> {
    match resolution {
        Resolution::Unique(item) if names(decompilation, item) => {
            if decompilation.faults.total > 0 {
                return Ok(false);
            }
            let key = key(ready, &item.entry);
            Ok(ready.analysis.keep_result(ready.store, &ready.lock, &key, decompilation).unwrap_or(false))
        }
        _ => Err(ProtocolViolation::new(
            "function",
            "the one Function that the facts name",
            &decompilation.function.entry,
        )),
    }
}

fn names(decompilation: &Decompilation, item: &FunctionItem) -> bool {
    let function = &decompilation.function;
    function.name == item.name
        && function.qualified_name == item.qualified_name
        && function.entry == item.entry
}
