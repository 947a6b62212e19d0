//! Every document and its provenance, read strictly.
#![allow(dead_code, reason = "fields exist to be required")]

use serde::Deserialize;
use serde_json::Value;

use super::batch::{BatchReport, DecompilationLine};
use super::details::ErrorDetails;
use super::storage::{Cleanup, StoreList, Usage};
use super::values::{
    Address, AlwaysTrue, DiagnosticLog, JsonMediaType, Location, Nullable, Path, Protection, SandboxBackend,
    SandboxVerification, Sha256, StoreSource, present,
};
use super::warnings::Warning;

/// Reads a document by its kind; says why it cannot be read.
pub fn read_strictly(text: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    let Kind { kind } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match kind.as_str() {
        "inspection" => read::<Success<QueryProvenance, Data<Inspection>>>(text),
        "function_list" => read::<Success<QueryProvenance, Data<FunctionList>>>(text),
        "decompilation" => read::<Success<QueryProvenance, Data<DecompilationData>>>(text),
        "doctor_report" => read::<Success<ReducedProvenance, Data<DoctorReport>>>(text),
        "batch_report" => read::<Success<QueryProvenance, Data<BatchReport>>>(text),
        "decompilation_line" => read::<DecompilationLine>(text),
        "cleanup" => read::<Success<ReducedProvenance, Data<Cleanup>>>(text),
        "store_list" => read::<Success<ReducedProvenance, Data<StoreList>>>(text),
        "error" => {
            let document: ErrorDocument = serde_json::from_str(text).map_err(|error| error.to_string())?;
            document.error.read_details()
        }
        other => Err(format!("unknown kind {other}")),
    }
}

fn read<T: for<'text> Deserialize<'text>>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text).map(drop).map_err(|error| error.to_string())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Success<P, D> {
    schema_version: u32,
    kind: String,
    provenance: P,
    data: D,
    warnings: Vec<Warning>,
}

/// The result itself, or where it was stored.
#[derive(Debug)]
enum Data<D> {
    Inline(D),
    Spilled(Spilled),
}

impl<'de, D: for<'any> Deserialize<'any>> Deserialize<'de> for Data<D> {
    fn deserialize<F: serde::Deserializer<'de>>(from: F) -> Result<Self, F::Error> {
        let value = Value::deserialize(from)?;
        let read = if value.get("spilled").is_some() {
            serde_json::from_value(value).map(Self::Spilled)
        } else {
            serde_json::from_value(value).map(Self::Inline)
        };
        read.map_err(serde::de::Error::custom)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spilled {
    spilled: AlwaysTrue,
    artifact: Artifact,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifact {
    path: Path,
    bytes: u64,
    sha256: Sha256,
    media_type: JsonMediaType,
    contains: Contains,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Contains {
    CompleteSuccessResponse,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryProvenance {
    ghidr_version: String,
    adapter_protocol_version: u32,
    ghidra_version: String,
    java_version: String,
    sample_sha256: Sha256,
    source_path: Path,
    analysis_profile_sha256: Sha256,
    target: Target,
    analysis_store: Store,
    sandbox: Sandbox,
    limits: Limits,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReducedProvenance {
    ghidr_version: String,
    adapter_protocol_version: u32,
    #[serde(default, deserialize_with = "present")]
    ghidra_version: Option<String>,
    #[serde(default, deserialize_with = "present")]
    java_version: Option<String>,
    #[serde(default, deserialize_with = "present")]
    sample_sha256: Option<Sha256>,
    #[serde(default, deserialize_with = "present")]
    source_path: Option<Path>,
    #[serde(default, deserialize_with = "present")]
    analysis_profile_sha256: Option<Sha256>,
    #[serde(default, deserialize_with = "present")]
    analysis_store: Option<Store>,
    #[serde(default, deserialize_with = "present")]
    sandbox: Option<Sandbox>,
    #[serde(default, deserialize_with = "present")]
    limits: Option<Limits>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    loader: String,
    format: String,
    processor_language: String,
    compiler_specification: String,
    verification: TargetVerification,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TargetVerification {
    Verified,
    Unverified,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    path: Path,
    source: StoreSource,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sandbox {
    backend: SandboxBackend,
    verification: SandboxVerification,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    max_heap_mib: u64,
    #[serde(default, deserialize_with = "present")]
    max_memory_mib: Option<u64>,
    max_cpu: u32,
    analysis_timeout_seconds: u64,
    decompile_timeout_seconds: Nullable<u64>,
    #[serde(default, deserialize_with = "present")]
    batch_timeout_seconds: Option<u64>,
    child_watchdog_seconds: Nullable<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inspection {
    sample: Sample,
    program: Program,
    analysis: Analysis,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    sha256: Sha256,
    size_bytes: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    image_base: Nullable<Address>,
    minimum_address: Nullable<Address>,
    maximum_address: Nullable<Address>,
    function_count: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Analysis {
    disposition: Disposition,
    #[serde(default, deserialize_with = "present")]
    completeness: Option<Completeness>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Disposition {
    Created,
    Reused,
    Rebuilt,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Completeness {
    complete: bool,
    enabled: u64,
    completed: u64,
    not_run: u64,
    #[serde(default)]
    not_run_analyzers: Vec<String>,
    failed: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionList {
    page: Page,
    items: Vec<Function>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    order: String,
    offset: u64,
    limit: Nullable<u64>,
    returned: u64,
    total: u64,
    has_more: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Function {
    name: String,
    qualified_name: String,
    entry: Address,
    body_address_count: u64,
    location: Location,
    is_external: bool,
    is_thunk: bool,
    thunk_target_entry: Nullable<Address>,
    decompilable: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecompilationData {
    requested_selector: Selector,
    function: FunctionIdentity,
    decompilation: Decompilation,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Selector {
    Name { value: String },
    Address { value: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionIdentity {
    name: String,
    qualified_name: String,
    entry: Address,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decompilation {
    syntax: Syntax,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Syntax {
    GhidraC,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoctorReport {
    ready: bool,
    components: Components,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Components {
    ghidra: Ghidra,
    java: Java,
    analysis_store: StoreComponent,
    sandbox: SandboxComponent,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ready,
    Missing,
    Incompatible,
    Invalid,
    Unwritable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ghidra {
    status: Status,
    version: Nullable<String>,
    launcher: Nullable<Path>,
    selected_by: Nullable<String>,
    problem: Nullable<String>,
    boot_data: Option<BootData>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BootData {
    status: BootDataStatus,
    problem: Nullable<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BootDataStatus {
    Ready,
    Missing,
    Stale,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Java {
    status: Status,
    version: Nullable<String>,
    executable: Nullable<Path>,
    selected_by: Nullable<String>,
    problem: Nullable<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreComponent {
    status: Status,
    path: Nullable<Path>,
    source: Nullable<StoreSource>,
    usage: Nullable<Usage>,
    problem: Nullable<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SandboxComponent {
    status: Status,
    backend: SandboxBackend,
    verification: SandboxVerification,
    problem: Nullable<String>,
    #[serde(default, deserialize_with = "present")]
    protections: Option<Vec<ProtectionReport>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProtectionReport {
    protection: Protection,
    status: ProtectionStatus,
    problem: Nullable<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProtectionStatus {
    Active,
    Unavailable,
    Breached,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorDocument {
    schema_version: u32,
    kind: String,
    #[serde(default, deserialize_with = "present")]
    provenance: Option<ReducedProvenance>,
    error: ErrorBody,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    code: String,
    message: String,
    retryable: bool,
    details: Value,
    #[serde(default, deserialize_with = "present")]
    diagnostic_log: Option<DiagnosticLog>,
}

impl ErrorBody {
    /// Reads the details as those of the code.
    pub fn read_details(&self) -> Result<(), String> {
        if !self.details.is_object() {
            return Err("details are no object".to_owned());
        }
        let tagged = serde_json::json!({"code": self.code, "details": self.details});
        serde_json::from_value::<ErrorDetails>(tagged).map(drop).map_err(|error| error.to_string())
    }
}
