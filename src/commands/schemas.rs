//! The published JSON Schemas, generated from the types that produce the documents.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::domain::doctor_report::DoctorReport;
use crate::domain::documents::{DecompilationData, FunctionList, Inspection, Spilled};
use crate::domain::profile::AnalysisProfile;
use crate::domain::provenance::{QueryProvenance, ReducedProvenance};
use crate::output::envelope::Envelope;
use crate::output::error_document::ErrorDocument;
use crate::store::{AnalysisManifest, DiagnosticManifest, StoreRecord};

/// The data of a success document: the result itself, or where it was stored.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "exists for its schema")]
enum InlineOrSpilled<D> {
    Inline(D),
    Spilled(Spilled),
}

/// One published schema.
#[derive(Debug, Clone)]
pub struct PublishedSchema {
    /// Kind of document, and stem of the schema's file name.
    pub kind: &'static str,
    /// The schema.
    pub schema: Schema,
}

impl PublishedSchema {
    /// File name below `schemas/v1/`.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.kind)
    }

    /// The exact bytes of the published file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec_pretty(&self.schema)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Every published schema, by kind.
pub fn published() -> Vec<PublishedSchema> {
    vec![
        schema::<AnalysisManifest>("analysis_manifest"),
        schema::<AnalysisProfile>("analysis_profile"),
        success::<QueryProvenance, DecompilationData>(super::decompile::KIND),
        schema::<DiagnosticManifest>("diagnostic_manifest"),
        success::<ReducedProvenance, DoctorReport>(super::doctor::KIND),
        schema::<ErrorDocument>("error"),
        success::<QueryProvenance, FunctionList>(super::functions::KIND),
        success::<QueryProvenance, Inspection>(super::inspect::KIND),
        schema::<StoreRecord>("store"),
    ]
}

fn success<P: JsonSchema, D: JsonSchema>(kind: &'static str) -> PublishedSchema {
    let mut published = schema::<Envelope<P, InlineOrSpilled<D>>>(kind);
    if let Some(property) = published.schema.pointer_mut("/properties/kind").and_then(|it| it.as_object_mut())
    {
        property.insert("const".to_owned(), kind.into());
    }
    published
}

fn schema<T: JsonSchema>(kind: &'static str) -> PublishedSchema {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), format!("urn:ghidr:schema:v1:{kind}").into());
    schema.insert("title".to_owned(), format!("ghidr {kind}").into());
    PublishedSchema { kind, schema }
}
