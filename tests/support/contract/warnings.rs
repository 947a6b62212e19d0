//! Warnings, read strictly: exactly three fields, and details as their code says.
#![allow(dead_code, reason = "fields exist to be required")]

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;

use super::values::{DiagnosticLog, Nullable, Sha256};

/// One warning of known code.
#[derive(Debug)]
pub struct Warning;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreeFields {
    code: String,
    message: String,
    details: Value,
}

impl<'de> Deserialize<'de> for Warning {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let ThreeFields { code, details, .. } = ThreeFields::deserialize(from)?;
        if !details.is_object() {
            return Err(D::Error::custom("details are no object"));
        }
        let tagged = serde_json::json!({"code": code, "details": details});
        serde_json::from_value::<Details>(tagged).map_err(D::Error::custom)?;
        Ok(Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "code", content = "details", rename_all = "snake_case", deny_unknown_fields)]
enum Details {
    AnalyzerFailed { analyzer: String, exception_class: String, message: String },
    CorruptAnalysisRebuilt { analysis_profile_sha256: Nullable<Sha256>, reason: String },
    DecompilerWarning { text: String },
    DiagnosticsTruncated { diagnostic_log: DiagnosticLog },
    EngineFault { component: String, exception_class: String, message: String },
    EngineFaultsOmitted { shown: u64, omitted: u64 },
    ExternalSandboxUnverified {},
    SandboxDisabled {},
    SuspiciousAnalysis { reasons: Vec<Suspicion> },
    UnverifiedEngine { ghidra_version: String, java_version: String, verified_engines: Vec<String> },
    UnverifiedTarget { verified_targets: Vec<String> },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Suspicion {
    NoFunctionInExecutableProgram,
    HeadersPastEndOfFile,
}
