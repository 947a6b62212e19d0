//! A command's success, and how one larger than the inline budget becomes an Artifact.

use serde::Serialize;

use super::context::Context;
use super::failure::Failure;
use crate::domain::documents::{
    ARTIFACT_MEDIA_TYPE, ArtifactContents, ArtifactDescriptor, Spilled,
};
use crate::domain::warning::WarningDocument;
use crate::output::budget::{self, Placement};
use crate::output::envelope::{Envelope, encode};
use crate::output::human;
use crate::store::{ArtifactScope, PendingArtifact, StoreError};

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

/// Stages an Artifact in the store that the command is using.
pub type StageArtifact<'command> = &'command dyn Fn(&[u8]) -> Result<PendingArtifact, StoreError>;

/// Serializes `envelope` inline, or spills it and answers with its descriptor.
pub fn answer<P: Serialize + Clone, D: Serialize>(
    context: &Context<'_>,
    envelope: &Envelope<P, D>,
    human_text: String,
    explanation: String,
    stage: StageArtifact<'_>,
) -> Result<Answer, Failure> {
    let json = encode(envelope).map_err(Failure::internal)?;
    let warnings = envelope.warnings.clone();
    let document_bytes = json.len() as u64;
    if budget::place(document_bytes, context.max_inline_bytes) == Placement::Inline {
        return Ok(Answer { json, human: human_text, warnings, explanation });
    }
    let pending = stage(&json)?;
    let artifact = ArtifactDescriptor {
        path: pending.final_path().into(),
        bytes: pending.bytes(),
        sha256: pending.sha256(),
        media_type: ARTIFACT_MEDIA_TYPE.to_owned(),
        contains: ArtifactContents::CompleteSuccessResponse,
    };
    let human = human::spilled(&artifact);
    let descriptor =
        encode(&envelope.with_data(Spilled { spilled: true, artifact })).map_err(Failure::internal)?;
    // On refusal `pending` is dropped, and the temporary Artifact with it.
    budget::check_descriptor(descriptor.len() as u64, document_bytes, context.max_inline_bytes)?;
    pending.publish()?;
    Ok(Answer { json: descriptor, human, warnings, explanation })
}

/// Where the Artifacts of commands without a Sample go.
pub const GLOBAL_ARTIFACTS: ArtifactScope = ArtifactScope::Global;
