//! The published JSON Schemas, generated from the types that produce the documents.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value};

use super::failure::Failure;
use crate::domain::batch::{BatchReport, DecompilationLine, LINE_KIND};
use crate::domain::cleanup::Cleanup;
use crate::domain::doctor_report::DoctorReport;
use crate::domain::documents::{DecompilationData, FunctionList, Inspection, Spilled};
use crate::domain::error::PublicError;
use crate::domain::profile::AnalysisProfile;
use crate::domain::provenance::{QueryProvenance, ReducedProvenance};
use crate::domain::store_list::StoreList;
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
        success::<QueryProvenance, BatchReport>(super::batch::KIND),
        success::<ReducedProvenance, Cleanup>(super::clean::KIND),
        success::<QueryProvenance, DecompilationData>(super::decompile::KIND),
        schema::<DecompilationLine>(LINE_KIND),
        schema::<DiagnosticManifest>("diagnostic_manifest"),
        success::<ReducedProvenance, DoctorReport>(super::doctor::KIND),
        schema::<ErrorDocument>("error"),
        success::<QueryProvenance, FunctionList>(super::functions::KIND),
        success::<QueryProvenance, Inspection>(super::inspect::KIND),
        schema::<StoreRecord>("store"),
        success::<ReducedProvenance, StoreList>(super::store_list::KIND),
    ]
}

/// The text of one published schema, as `schema` prints it.
pub fn text(kind: &str) -> Result<Vec<u8>, Failure> {
    let failed = |reason: String| Failure::from(PublicError::InternalError { reason });
    let published = published().into_iter().find(|published| published.kind == kind);
    let published = published.ok_or_else(|| failed(format!("there is no schema of '{kind}'")))?;
    published.to_bytes().map_err(|error| failed(format!("the schema of '{kind}' cannot be encoded: {error}")))
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
    absent_rather_than_null(&mut schema);
    schema.insert("$id".to_owned(), format!("urn:ghidr:schema:v1:{kind}").into());
    schema.insert("title".to_owned(), format!("ghidr {kind}").into());
    PublishedSchema { kind, schema }
}

/// A property that may be missing is never null: it is then left out.
fn absent_rather_than_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &String| required.as_array().is_some_and(|names| names.contains(&name.as_str().into()));
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, property) in properties.into_iter().flatten().filter(|(name, _)| !is_required(name)) {
        if let Some(object) = property.as_object_mut() {
            refuse_null(object);
        }
    }
    transform_subschemas(&mut absent_rather_than_null, schema);
}

fn refuse_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = property.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative.get("type") != Some(&"null".into()));
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            property.remove("anyOf");
            property.extend(only);
        }
    }
}
