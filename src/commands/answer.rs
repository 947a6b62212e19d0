//! A command's success, and how one larger than the inline budget becomes an Artifact.
//!
//! A document is written straight to where it goes, so that memory grows with the budget and not
//! with the document. It is therefore written more than once, and must be the same each time.

use serde::Serialize;

use super::context::Context;
use super::failure::Failure;
use crate::cli::Format;
use crate::domain::documents::{ARTIFACT_MEDIA_TYPE, ArtifactContents, ArtifactDescriptor, Spilled};
use crate::domain::warning::WarningDocument;
use crate::output::budget::{self, Sizes};
use crate::output::envelope::{self, Envelope, encode};
use crate::output::human;
use crate::store::{ArtifactScope, HoldsStoreLock, PendingArtifact, Store};

/// What a successful command prints.
pub struct Answer {
    /// The JSON document, final LF included.
    pub json: Vec<u8>,
    /// The same for people; empty in JSON format.
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
    /// Whether the same command, given again, would answer the same: what was removed is not removed twice.
    pub is_repeatable: bool,
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
/// `human_text` makes the text for people, when it is wanted: in human format, and inline.
/// `repeated` gives the document that the same command would make next time, when it finds the
/// Analysis stored: what a refused budget must be raised to depends on that one.
pub fn answer<P: Serialize + Clone, D: Serialize, L: HoldsStoreLock>(
    context: &Context<'_>,
    envelope: &Envelope<P, D>,
    human_text: impl FnOnce(&Envelope<P, D>) -> Result<String, Failure>,
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
    human_text: impl FnOnce(&Envelope<P, D>) -> Result<String, Failure>,
    explanation: String,
    spill: Option<&Spill<'command, L>>,
    repeated: impl FnOnce(&Envelope<P, D>) -> Envelope<P, D>,
) -> Result<Prepared<'command>, Failure> {
    let warnings = envelope.warnings.clone();
    if let Some(json) = budget::inline(envelope, context.max_inline_bytes).map_err(Failure::internal)? {
        let human = if context.format == Format::Human { human_text(envelope)? } else { String::new() };
        return Ok(Prepared { answer: Answer { json, human, warnings, explanation }, pending: None });
    }
    let Some(spill) = spill else {
        let document_bytes = budget::measure(envelope).map_err(Failure::internal)?;
        let sizes = Sizes { document_bytes, descriptor_bytes: document_bytes };
        return Err(budget::too_small(sizes, context.max_inline_bytes).into());
    };
    let pending =
        spill.store.stage_artifact(spill.lock, spill.scope, |file| envelope::write(envelope, file))?;
    let artifact = ArtifactDescriptor {
        path: pending.final_path().into(),
        bytes: pending.bytes(),
        sha256: pending.sha256(),
        media_type: ARTIFACT_MEDIA_TYPE.to_owned(),
        contains: ArtifactContents::CompleteSuccessResponse,
    };
    let human = human::spilled(&artifact, spill.is_repeatable);
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
    let document_bytes = budget::measure(repeated).map_err(Failure::internal)?;
    let artifact = ArtifactDescriptor { bytes: document_bytes, ..spilled.artifact };
    let descriptor = repeated.with_data(Spilled { artifact, ..spilled });
    let descriptor_bytes = budget::measure(&descriptor).map_err(Failure::internal)?;
    Ok(Sizes { document_bytes, descriptor_bytes })
}
