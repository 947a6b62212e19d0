//! A command's success, and how one larger than the inline budget becomes an Artifact.

use serde::Serialize;

use super::context::Context;
use super::failure::Failure;
use crate::domain::documents::{ARTIFACT_MEDIA_TYPE, ArtifactContents, ArtifactDescriptor, Spilled};
use crate::domain::warning::WarningDocument;
use crate::output::budget::{self, Placement, Sizes};
use crate::output::envelope::{Envelope, encode};
use crate::output::human;
use crate::store::{ArtifactScope, HoldsStoreLock, PendingArtifact, Store};

/// What a successful command prints.
pub struct Answer {
    /// The JSON document, final LF included.
    pub json: Vec<u8>,
    /// The same for people.
    pub human: String,
    /// Its warnings, for people.
    pub warnings: Vec<WarningDocument>,
    /// What was reused or created, for `--verbose`.
    pub explanation: String,
}

/// Where a result that exceeds the inline budget goes.
pub struct Spill<'command, L> {
    /// The store that the command is using.
    pub store: &'command Store,
    /// A lock that keeps it in place.
    pub lock: &'command L,
    /// What the Artifact belongs to.
    pub scope: ArtifactScope,
}

/// An answer that is certain to fit, before what it reports is done.
pub struct Prepared<'store> {
    answer: Answer,
    pending: Option<PendingArtifact<'store>>,
}

impl Prepared<'_> {
    /// The answer, for which its Artifact is published, when it has one. Dropped instead, it
    /// leaves nothing.
    pub fn publish(self) -> Result<Answer, Failure> {
        if let Some(pending) = self.pending {
            pending.publish()?;
        }
        Ok(self.answer)
    }
}

/// Serializes `envelope` inline, or spills it and answers with its descriptor.
///
/// `repeated` gives the document that the same command would make next time, when it finds the
/// Analysis stored: what a refused budget must be raised to depends on that one.
pub fn answer<P: Serialize + Clone, D: Serialize, L: HoldsStoreLock>(
    context: &Context<'_>,
    envelope: &Envelope<P, D>,
    human_text: String,
    explanation: String,
    spill: &Spill<'_, L>,
    repeated: impl FnOnce(&Envelope<P, D>) -> Envelope<P, D>,
) -> Result<Answer, Failure> {
    prepare(context, envelope, human_text, explanation, Some(spill), repeated)?.publish()
}

/// The same without publishing anything yet. Where there is no store, an answer that exceeds the
/// budget is refused.
pub fn prepare<'command, P: Serialize + Clone, D: Serialize, L: HoldsStoreLock>(
    context: &Context<'_>,
    envelope: &Envelope<P, D>,
    human_text: String,
    explanation: String,
    spill: Option<&Spill<'command, L>>,
    repeated: impl FnOnce(&Envelope<P, D>) -> Envelope<P, D>,
) -> Result<Prepared<'command>, Failure> {
    let json = encode(envelope).map_err(Failure::internal)?;
    let warnings = envelope.warnings.clone();
    let document_bytes = json.len() as u64;
    if budget::place(document_bytes, context.max_inline_bytes) == Placement::Inline {
        return Ok(Prepared {
            answer: Answer { json, human: human_text, warnings, explanation },
            pending: None,
        });
    }
    let Some(spill) = spill else {
        let sizes = Sizes { document_bytes, descriptor_bytes: document_bytes };
        return Err(budget::too_small(sizes, context.max_inline_bytes).into());
    };
    let pending = spill.store.stage_artifact(spill.lock, spill.scope, |file| file.write_all(&json))?;
    let artifact = ArtifactDescriptor {
        path: pending.final_path().into(),
        bytes: pending.bytes(),
        sha256: pending.sha256(),
        media_type: ARTIFACT_MEDIA_TYPE.to_owned(),
        contains: ArtifactContents::CompleteSuccessResponse,
    };
    let human = human::spilled(&artifact);
    let spilled = Spilled { spilled: true, artifact };
    let descriptor = encode(&envelope.with_data(&spilled)).map_err(Failure::internal)?;
    if descriptor.len() as u64 > context.max_inline_bytes {
        // `pending` is dropped, and the temporary Artifact with it.
        let next = sizes(&repeated(envelope), spilled)?;
        return Err(budget::too_small(next, context.max_inline_bytes).into());
    }
    let answer = Answer { json: descriptor, human, warnings, explanation };
    Ok(Prepared { answer, pending: Some(pending) })
}

/// How large document and descriptor are when the same command is given again.
fn sizes<P: Serialize + Clone, D: Serialize>(
    repeated: &Envelope<P, D>,
    spilled: Spilled,
) -> Result<Sizes, Failure> {
    let document_bytes = encode(repeated).map_err(Failure::internal)?.len() as u64;
    let artifact = ArtifactDescriptor { bytes: document_bytes, ..spilled.artifact };
    let descriptor = repeated.with_data(Spilled { artifact, ..spilled });
    let descriptor_bytes = encode(&descriptor).map_err(Failure::internal)?.len() as u64;
    Ok(Sizes { document_bytes, descriptor_bytes })
}
