//! Plain-text presentation of a batch: each answer as its own command presents it, under a heading.

use std::fmt::Write as _;

use super::{escape, human, human_error};
use crate::domain::batch::{BatchData, BatchOperation, BatchOutcome, BatchReport};
use crate::domain::counted::counted;
use crate::domain::documents::FunctionList;
use crate::domain::provenance::QueryProvenance;

/// `batch`; `list_text` makes the text of a list of Functions.
pub fn report<Items, E>(
    data: &BatchReport<Items>,
    provenance: &QueryProvenance,
    list_text: impl Fn(&FunctionList<Items>) -> Result<String, E>,
) -> Result<String, E> {
    let mut text = String::new();
    for item in data.items.iter().flatten() {
        let operation = match item.op {
            BatchOperation::Inspect => "inspect",
            BatchOperation::Functions => "functions",
            BatchOperation::Decompile => "decompile",
        };
        let _ = writeln!(text, "== {} {operation}", item.index);
        match &item.outcome {
            BatchOutcome::Succeeded { data } => text.push_str(&match data {
                BatchData::Inspection(data) => human::inspection(data, provenance),
                BatchData::FunctionList(data) => list_text(data)?,
                BatchData::Decompilation(data) => human::decompilation(data),
            }),
            BatchOutcome::Failed { error } => {
                text.push_str(&human_error::describe_body(error));
            }
            BatchOutcome::NotRun { reason } => {
                let _ = writeln!(text, "not run: {}", reason.describe());
            }
        }
        text.push_str(&human::warnings(&item.warnings));
    }
    let counts = &data.counts;
    let _ = writeln!(
        text,
        "-- {} in all: {} succeeded, {} failed, {} not run",
        counts.total, counts.succeeded, counts.failed, counts.not_run
    );
    if let Some(lines) = &data.decompilations {
        let path = lines.path.to_string();
        let _ = writeln!(text, "Artifact: {}", escape::line(&path));
        let _ = writeln!(text, "Size: {}, {}", counted(lines.bytes, "byte"), counted(lines.lines, "line"));
        let _ = writeln!(text, "SHA-256: {}", lines.sha256);
    }
    Ok(text)
}
