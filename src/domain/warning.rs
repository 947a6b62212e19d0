//! Warnings: non-fatal facts about an answer, each with a code-specific details type.
//!
//! A warning never disguises incomplete required data; that is an error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::canonical_json::to_canonical_bytes;
use super::counted::counted;
use super::diagnostic_log::DiagnosticLogDescriptor;
use super::digest::ProfileDigest;
use super::fault::{EngineFault, FaultList, Suspicion};
use super::target::VERIFIED_TARGETS;

/// Most engine faults one answer repeats; the rest is counted by `engine_faults_omitted`.
pub const FAULT_WARNING_LIMIT: usize = 20;

/// Every warning code with its details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "details", rename_all = "snake_case")]
pub enum Warning {
    /// An analyzer threw; its results are missing from the Analysis.
    #[error("analyzer '{analyzer}' failed; what it would have found is missing")]
    AnalyzerFailed {
        /// Name of the analyzer.
        analyzer: String,
        /// Java class of the throwable.
        exception_class: String,
        /// Its bounded message.
        message: String,
    },
    /// A corrupt stored Analysis was quarantined and rebuilt.
    #[error("a corrupt stored Analysis was quarantined and rebuilt")]
    CorruptAnalysisRebuilt {
        /// Profile of the Analysis.
        analysis_profile_sha256: ProfileDigest,
        /// What was wrong with the stored data.
        reason: String,
    },
    /// Ghidra's decompiler put a warning comment into the text.
    #[error("the decompiler warns: {text}")]
    DecompilerWarning {
        /// The comment as it stands in the text.
        text: String,
    },
    /// A retained Diagnostic Log is not complete.
    #[error("a retained diagnostic log was truncated")]
    DiagnosticsTruncated {
        /// The truncated log.
        diagnostic_log: DiagnosticLogDescriptor,
    },
    /// The engine logged a throwable outside any analyzer.
    #[error("the engine reported a fault in {component}")]
    EngineFault {
        /// Ghidra component that logged it.
        component: String,
        /// Java class of the throwable.
        exception_class: String,
        /// Its bounded message.
        message: String,
    },
    /// More faults were recorded than this answer repeats.
    #[error("not shown: {}", counted(*omitted, "further engine fault"))]
    EngineFaultsOmitted {
        /// Faults repeated as warnings of their own.
        shown: u64,
        /// Faults not repeated.
        omitted: u64,
    },
    /// The surrounding sandbox cannot be verified.
    #[error("isolation is left to the caller's sandbox, which ghidr cannot verify")]
    ExternalSandboxUnverified {},
    /// The worker runs without isolation.
    #[error("the worker runs without a sandbox")]
    SandboxDisabled {},
    /// The Analysis finished, but something about it is odd.
    #[error("the analysis finished but looks suspicious: {}", reasons.iter().map(|reason| reason.describe()).collect::<Vec<_>>().join("; "))]
    SuspiciousAnalysis {
        /// What is odd, sorted.
        reasons: Vec<Suspicion>,
    },
    /// The engine version and Java version pair is outside the tested ones.
    #[error("this Ghidra and Java pair is outside the tested ones")]
    UnverifiedEngine {
        /// Version of the engine in use.
        ghidra_version: String,
        /// Java feature version in use.
        java_version: String,
        /// Pairs that are tested, as `ghidra VERSION with java VERSION`.
        verified_engines: Vec<String>,
    },
    /// The target is outside the integration-test matrix.
    #[error("target is outside the verified integration-test matrix")]
    UnverifiedTarget {
        /// Targets inside the matrix.
        verified_targets: Vec<String>,
    },
}

impl Suspicion {
    fn describe(&self) -> &'static str {
        match self {
            Self::NoFunctionInExecutableProgram => "no function although the program has executable memory",
            Self::HeadersPastEndOfFile => "headers point past the end of the file, which may be truncated",
        }
    }
}

impl Warning {
    /// The warning for a target outside the matrix.
    pub fn unverified_target() -> Self {
        Self::UnverifiedTarget { verified_targets: VERIFIED_TARGETS.map(str::to_owned).to_vec() }
    }

    /// The warnings that repeat an Analysis's recorded faults, bounded with disclosure.
    pub fn for_faults(faults: &FaultList) -> Vec<Self> {
        let mut warnings: Vec<_> =
            faults.items.iter().take(FAULT_WARNING_LIMIT).cloned().map(Self::from).collect();
        let shown = warnings.len() as u64;
        if faults.total > shown {
            warnings.push(Self::EngineFaultsOmitted { shown, omitted: faults.total - shown });
        }
        warnings
    }
}

impl From<EngineFault> for Warning {
    fn from(fault: EngineFault) -> Self {
        match fault {
            EngineFault::AnalyzerFailed { analyzer, exception_class, message } => {
                Self::AnalyzerFailed { analyzer, exception_class, message }
            }
            EngineFault::EngineFault { component, exception_class, message } => {
                Self::EngineFault { component, exception_class, message }
            }
        }
    }
}

/// A warning as documents carry it: exactly `code`, `message` and `details`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WarningDocument {
    /// The code with its typed details.
    #[serde(flatten)]
    pub warning: Warning,
    /// Concise human context; not for control flow.
    pub message: String,
}

impl From<Warning> for WarningDocument {
    fn from(warning: Warning) -> Self {
        let message = warning.to_string();
        Self { warning, message }
    }
}

/// Deduplicates and sorts: bytewise by code, then by canonicalized details.
pub fn normalize(warnings: Vec<Warning>) -> Vec<WarningDocument> {
    let mut keyed: Vec<(Vec<u8>, Warning)> = warnings
        .into_iter()
        .map(|warning| {
            // Canonical keys put "code" before "details", so one comparison orders by both.
            let key = to_canonical_bytes(&warning).unwrap_or_default();
            (key, warning)
        })
        .collect();
    keyed.sort_by(|left, right| left.0.cmp(&right.0));
    keyed.dedup_by(|left, right| left.0 == right.0);
    keyed.into_iter().map(|(_, warning)| WarningDocument::from(warning)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_has_exactly_three_fields() {
        let document = WarningDocument::from(Warning::SandboxDisabled {});
        assert_eq!(
            serde_json::to_value(&document).unwrap(),
            serde_json::json!({
                "code": "sandbox_disabled",
                "message": "the worker runs without a sandbox",
                "details": {}
            })
        );
    }

    #[test]
    fn warnings_are_deduplicated_and_sorted_by_code_then_details() {
        let text = |text: &str| Warning::DecompilerWarning { text: text.into() };
        let normalized = normalize(vec![
            Warning::unverified_target(),
            text("b"),
            Warning::SandboxDisabled {},
            text("a"),
            text("b"),
        ]);
        let expected = [text("a"), text("b"), Warning::SandboxDisabled {}, Warning::unverified_target()];
        let actual: Vec<_> = normalized.into_iter().map(|document| document.warning).collect();
        assert_eq!(actual, expected);
    }

    #[test]
    fn faults_beyond_the_limit_are_counted() {
        let fault = |index: u32| EngineFault::EngineFault {
            component: format!("c{index}"),
            exception_class: "E".into(),
            message: String::new(),
        };
        let faults = FaultList { total: 100, items: (0..64).map(fault).collect() };
        let warnings = Warning::for_faults(&faults);
        assert_eq!(warnings.len(), 21);
        assert_eq!(warnings[20], Warning::EngineFaultsOmitted { shown: 20, omitted: 80 });
    }
}
