//! The report of `doctor`: every required component with its status.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path_value::PathValue;
use super::protection::ProtectionReport;
use super::sandbox_mode::{SandboxMode, SandboxVerification};
use super::store_source::StoreSource;
use super::usage::StorageUsage;

/// Status of one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComponentStatus {
    /// Usable.
    Ready,
    /// Not there.
    Missing,
    /// There, but not of a usable version or kind.
    Incompatible,
    /// There, but broken or wrongly configured.
    Invalid,
    /// Cannot be written.
    Unwritable,
}

/// The engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GhidraComponent {
    /// Status.
    pub status: ComponentStatus,
    /// Version, such as `12.1.2`.
    pub version: Option<String>,
    /// What is launched: the single jar, or the installation's `support/analyzeHeadless`.
    pub launcher: Option<PathValue>,
    /// The rule that selected it.
    pub selected_by: Option<String>,
    /// What is wrong, in words.
    pub problem: Option<String>,
    /// What makes it boot faster; absent where nothing can. Never a reason not to be ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_data: Option<BootDataReport>,
}

/// Whether the engine boots with data that set-up prepared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootDataReport {
    /// Status.
    pub status: BootDataStatus,
    /// Why it is not used, in words.
    pub problem: Option<String>,
}

/// Status of boot data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BootDataStatus {
    /// Used.
    Ready,
    /// Not there: every boot takes longer.
    Missing,
    /// Made for something else, so not used: every boot takes longer.
    Stale,
}

/// The Java runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JavaComponent {
    /// Status.
    pub status: ComponentStatus,
    /// Feature version, such as `21`.
    pub version: Option<String>,
    /// Its `java` executable.
    pub executable: Option<PathValue>,
    /// The rule that selected it.
    pub selected_by: Option<String>,
    /// What is wrong, in words.
    pub problem: Option<String>,
}

/// The Analysis Store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreComponent {
    /// Status.
    pub status: ComponentStatus,
    /// Resolved location.
    pub path: Option<PathValue>,
    /// The rule that selected it.
    pub source: Option<StoreSource>,
    /// What it occupies.
    pub usage: Option<StorageUsage>,
    /// What is wrong, in words.
    pub problem: Option<String>,
}

/// The sandbox, proved by a real worker that boots Java and Ghidra in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxComponent {
    /// Status.
    pub status: ComponentStatus,
    /// Selected mode.
    pub backend: SandboxMode,
    /// What ghidr itself enforces.
    pub verification: SandboxVerification,
    /// What is wrong, in words.
    pub problem: Option<String>,
    /// What a worker inside found when it tried to get out; absent where ghidr enforces nothing or could not try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protections: Option<Vec<ProtectionReport>>,
}

/// All required components.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorComponents {
    /// The engine.
    pub ghidra: GhidraComponent,
    /// The Java runtime.
    pub java: JavaComponent,
    /// The Analysis Store.
    pub analysis_store: StoreComponent,
    /// The sandbox.
    pub sandbox: SandboxComponent,
}

/// Data of a `doctor_report` document, and of a `doctor_failed` error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// Whether every required component is ready.
    pub ready: bool,
    /// The components.
    pub components: DoctorComponents,
}

impl DoctorComponents {
    /// Whether every component is ready.
    pub fn all_ready(&self) -> bool {
        [self.ghidra.status, self.java.status, self.analysis_store.status, self.sandbox.status]
            .iter()
            .all(|status| *status == ComponentStatus::Ready)
    }
}
