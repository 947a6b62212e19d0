//! The Analysis Profile: everything besides the Sample that an Analysis depends on.
//!
//! Its digest is SHA-256 over the canonical JSON of this type, so a field added here makes
//! every stored Analysis incompatible: raise [`PROFILE_VERSION`] with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::canonical_json::{CanonicalJsonError, to_canonical_bytes};
use super::digest::{BasisDigest, ProfileDigest};

/// Version of the Profile document.
pub const PROFILE_VERSION: u32 = 1;

/// The value of one resolved loader or analyzer option.
///
/// Floats, enums, files and every other kind are strings, because canonical JSON holds
/// no floating-point number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OptionValue {
    /// Option type `boolean`.
    Boolean(bool),
    /// Option types `integer` and `long`.
    Integer(i64),
    /// Every other option type.
    Text(String),
}

/// One fully resolved option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedOption {
    /// Ghidra's canonical option name.
    pub name: String,
    /// Kind of value, lowercase.
    #[serde(rename = "type")]
    pub option_type: String,
    /// The value in force.
    pub value: OptionValue,
}

/// The part of the Target Specification that identifies an Analysis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileTarget {
    /// Ghidra loader name.
    pub loader: String,
    /// Ghidra language id.
    pub processor_language: String,
    /// Ghidra compiler-specification id.
    pub compiler_specification: String,
}

/// Everything besides the Sample that an Analysis depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalysisProfile {
    /// Version of this document.
    #[schemars(extend("const" = PROFILE_VERSION))]
    pub profile_version: u32,
    /// Such as `12.1.2`.
    pub ghidra_version: String,
    /// Revision or build date of the engine.
    pub ghidra_build: String,
    /// Java feature version, such as `21`.
    pub java_version: String,
    /// Version of the Java adapter's analysis behaviour.
    pub analysis_adapter_version: u32,
    /// Resolved target.
    pub target: ProfileTarget,
    /// Every loader option, bytewise by name.
    pub loader_options: Vec<ResolvedOption>,
    /// Every analyzer option, bytewise by name.
    pub analyzer_options: Vec<ResolvedOption>,
    /// Cores Ghidra may use.
    pub max_cpu: u32,
}

impl AnalysisProfile {
    /// The bytes stored as `profile.json` and covered by the digest.
    pub fn canonical_bytes(&self) -> Result<Vec<u8>, CanonicalJsonError> {
        to_canonical_bytes(self)
    }

    /// Identity of the Profile.
    pub fn digest(&self) -> Result<ProfileDigest, CanonicalJsonError> {
        Ok(ProfileDigest::of(&self.canonical_bytes()?))
    }

    /// The part that was known before Ghidra ran.
    pub fn basis(&self) -> AnalysisBasis {
        AnalysisBasis {
            profile_version: self.profile_version,
            ghidra_version: self.ghidra_version.clone(),
            ghidra_build: self.ghidra_build.clone(),
            java_version: self.java_version.clone(),
            analysis_adapter_version: self.analysis_adapter_version,
            max_cpu: self.max_cpu,
        }
    }
}

/// What the harness knows before Ghidra runs (decision D4). For one Sample it determines
/// the Profile, so it finds a stored Analysis, and names its lock, without a JVM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalysisBasis {
    /// Version of the Profile document that would be built.
    pub profile_version: u32,
    /// Such as `12.1.2`.
    pub ghidra_version: String,
    /// Revision or build date of the engine.
    pub ghidra_build: String,
    /// Java feature version, such as `21`.
    pub java_version: String,
    /// Version of the Java adapter's analysis behaviour.
    pub analysis_adapter_version: u32,
    /// Cores Ghidra may use.
    pub max_cpu: u32,
}

impl AnalysisBasis {
    /// Identity of the basis.
    pub fn digest(&self) -> Result<BasisDigest, CanonicalJsonError> {
        Ok(BasisDigest::of(&to_canonical_bytes(self)?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn profile() -> AnalysisProfile {
        AnalysisProfile {
            profile_version: PROFILE_VERSION,
            ghidra_version: "10.3".into(),
            ghidra_build: "b".into(),
            java_version: "17".into(),
            analysis_adapter_version: 1,
            target: ProfileTarget {
                loader: "L".into(),
                processor_language: "x86:LE:64:default".into(),
                compiler_specification: "gcc".into(),
            },
            loader_options: vec![],
            analyzer_options: vec![ResolvedOption {
                name: "A.Min".into(),
                option_type: "double".into(),
                value: OptionValue::Text("14.6".into()),
            }],
            max_cpu: 2,
        }
    }

    #[test]
    fn canonical_bytes_are_the_documented_form() {
        let text = String::from_utf8(profile().canonical_bytes().unwrap()).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"analysis_adapter_version":1,"analyzer_options":[{"name":"A.Min","type":"double","value":"14.6"}],"#,
                r#""ghidra_build":"b","ghidra_version":"10.3","java_version":"17","loader_options":[],"max_cpu":2,"#,
                r#""profile_version":1,"target":{"compiler_specification":"gcc","loader":"L","#,
                r#""processor_language":"x86:LE:64:default"}}"#
            )
        );
    }

    #[test]
    fn max_cpu_changes_the_identity() {
        let mut other = profile();
        other.max_cpu = 1;
        assert_ne!(other.digest().unwrap(), profile().digest().unwrap());
    }
}
