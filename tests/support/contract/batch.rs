//! The report of a batch and the lines of its Artifact, read strictly.
#![allow(dead_code, reason = "fields exist to be required")]

use serde::{Deserialize, Deserializer};

use super::documents::{
    Decompilation, DecompilationData, ErrorBody, FunctionIdentity, FunctionList, Inspection,
};
use super::values::{Path, Sha256, present};
use super::warnings::Warning;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchReport {
    counts: Counts,
    #[serde(default, deserialize_with = "present")]
    items: Option<Vec<Item>>,
    #[serde(default, deserialize_with = "present")]
    decompilations: Option<Lines>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    total: u64,
    succeeded: u64,
    failed: u64,
    not_run: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    path: Path,
    bytes: u64,
    lines: u64,
    sha256: Sha256,
    media_type: LinesMediaType,
}

#[derive(Debug, Deserialize)]
enum LinesMediaType {
    #[serde(rename = "application/jsonl")]
    JsonLines,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Inspect,
    Functions,
    Decompile,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    EarlierFailure,
    TimeExpired,
    WorkerEnded,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Inspection(Box<Inspection>),
    FunctionList(FunctionList),
    Decompilation(DecompilationData),
}

/// An error whose details are those of its code.
#[derive(Debug)]
pub struct Failure(ErrorBody);

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let body = ErrorBody::deserialize(from)?;
        body.read_details().map_err(serde::de::Error::custom)?;
        Ok(Self(body))
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
enum Item {
    Succeeded { index: u64, op: Operation, data: Answer, warnings: Vec<Warning> },
    Failed { index: u64, op: Operation, error: Failure, warnings: Vec<Warning> },
    NotRun { index: u64, op: Operation, reason: Reason, warnings: Vec<Warning> },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
pub enum DecompilationLine {
    Succeeded {
        schema_version: u32,
        kind: String,
        function: FunctionIdentity,
        decompilation: Decompilation,
        warnings: Vec<Warning>,
    },
    Failed {
        schema_version: u32,
        kind: String,
        function: FunctionIdentity,
        error: Failure,
        warnings: Vec<Warning>,
    },
    NotRun {
        schema_version: u32,
        kind: String,
        function: FunctionIdentity,
        reason: Reason,
        warnings: Vec<Warning>,
    },
}
