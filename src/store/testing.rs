//! A store in a temporary directory, for the unit tests of this module.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use super::analysis::StoredAnalysis;
use super::document;
use super::error::StoreError;
use super::facts::{FactsClaim, FileClaim};
use super::hashing::{hash, to_the_end};
use super::inventory::{check_contents, open_parent};
use super::lock::{BuildGuard, ReadGuard};
use super::open::Store;
use super::promotion::PromotionInput;
use super::resolve::StoreLocation;
use super::sample::SampleIdentity;
use super::staging::Staging;
use crate::domain::address::{Address, Offset};
use crate::domain::digest::{ContentDigest, SampleDigest};
use crate::domain::fault::FaultList;
use crate::domain::function::FunctionItem;
use crate::domain::invocation_id::InvocationId;
use crate::domain::profile::{AnalysisProfile, OptionValue, PROFILE_VERSION, ProfileTarget, ResolvedOption};
use crate::domain::program::{AddressSpaceFact, FACTS_VERSION, ProgramCounts, ProgramFacts};
use crate::domain::sample_header::SampleHeader;
use crate::domain::store_source::StoreSource;
use crate::domain::target::Target;

/// A fresh store; its directory's parent is private to the test as well.
pub(super) struct TestStore {
    pub store: Store,
    _temp: tempfile::TempDir,
}

impl TestStore {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let location = StoreLocation { path: temp.path().join("store"), source: StoreSource::Cli };
        Self { store: Store::open_or_create(&location).unwrap(), _temp: temp }
    }

    pub fn path(&self) -> &Path {
        &self.store.location().path
    }

    /// The same store through descriptors of its own, as another process would have it.
    pub fn reopen(&self) -> Store {
        Store::open_or_create(self.store.location()).unwrap()
    }
}

/// Runs `look` as somebody who may open only what its mode allows: modes do not bind root.
pub(super) fn bound_by_modes<T: Send>(look: impl FnOnce() -> T + Send) -> T {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let bound = || {
        let mut sets = capabilities(None).unwrap();
        sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        set_capabilities(None, sets).unwrap();
        look()
    };
    // Capabilities belong to a thread, and this one ends with what it gave up.
    std::thread::scope(|scope| scope.spawn(bound).join()).unwrap()
}

pub(super) fn id(byte: u8) -> InvocationId {
    InvocationId::from_bytes([byte; 16])
}

pub(super) fn function(name: &str, offset: u64) -> FunctionItem {
    FunctionItem::in_memory(name, name, Address { space: "ram".into(), offset: Offset::new(offset, 16) })
}

pub(super) fn program_facts(function_count: u64) -> ProgramFacts {
    let space = |name: &str, offset_digits| AddressSpaceFact { name: name.into(), offset_digits };
    ProgramFacts {
        facts_version: FACTS_VERSION,
        image_base: Some(Address { space: "ram".into(), offset: Offset::new(0x10_0000, 16) }),
        minimum_address: None,
        maximum_address: None,
        function_count,
        address_spaces: vec![space("EXTERNAL", 8), space("ram", 16)],
    }
}

pub(super) fn facts_claim(bytes: &[u8]) -> FileClaim {
    FileClaim { bytes: bytes.len() as u64, sha256: ContentDigest::of(bytes) }
}

/// Writes both facts files and gives a true claim about them.
pub(super) fn write_facts(
    directory: &Path,
    program: &ProgramFacts,
    functions: &[u8],
) -> (FactsClaim, ProgramCounts) {
    let program_bytes = document::encode(program).unwrap();
    std::fs::write(directory.join("program.json"), &program_bytes).unwrap();
    std::fs::write(directory.join("functions.jsonl"), functions).unwrap();
    let text = String::from_utf8_lossy(functions);
    let function_count = text.matches('\n').count() as u64;
    let claim = FactsClaim {
        program: facts_claim(&program_bytes),
        functions: facts_claim(functions),
        function_count,
    };
    let counts = ProgramCounts {
        function_count,
        memory_function_count: text.matches("\"location\":\"memory\"").count() as u64,
        reference_count: 0,
        defined_data_count: 0,
        instruction_count: 0,
        symbol_count: 0,
    };
    (claim, counts)
}

/// An invented Profile.
pub(super) fn profile(max_cpu: u32) -> AnalysisProfile {
    let option = |name: &str| ResolvedOption {
        name: name.into(),
        option_type: "boolean".into(),
        value: OptionValue::Boolean(true),
    };
    AnalysisProfile {
        profile_version: PROFILE_VERSION,
        ghidra_version: "10.3".into(),
        ghidra_build: "build".into(),
        java_version: "17".into(),
        analysis_adapter_version: 1,
        target: ProfileTarget {
            loader: "loader".into(),
            processor_language: "x86:LE:64:default".into(),
            compiler_specification: "gcc".into(),
        },
        loader_options: vec![],
        analyzer_options: vec![option("A"), option("B")],
        max_cpu,
    }
}

/// The bytes of a `functions.jsonl`.
pub(super) fn lines(items: &[FunctionItem]) -> Vec<u8> {
    items.iter().flat_map(|item| document::encode(item).unwrap()).collect()
}

/// Content of the sample of every staged test Analysis.
pub(super) const SAMPLE_BYTES: &[u8] = b"sample";

impl TestStore {
    pub fn sample(&self) -> SampleDigest {
        SampleDigest::of(SAMPLE_BYTES)
    }

    pub fn read_lock(&self, max_cpu: u32) -> ReadGuard {
        self.store.read_lock(self.sample(), profile(max_cpu).basis().digest().unwrap()).unwrap()
    }

    pub fn build_lock(&self, max_cpu: u32) -> BuildGuard {
        self.store.build_lock(self.sample(), profile(max_cpu).basis().digest().unwrap()).unwrap()
    }

    /// Fills `staging` as a worker would, with three Functions, and says what it claims.
    pub fn fill(staging: &Staging, max_cpu: u32) -> PromotionInput {
        let project = staging.project_directory();
        std::fs::write(project.join("analysis.gpr"), b"").unwrap();
        std::fs::write(project.join("analysis.lock"), b"host and time").unwrap();
        std::fs::write(project.join("analysis.lock~"), b"").unwrap();
        std::fs::create_dir_all(project.join("analysis.rep/idata/00")).unwrap();
        std::fs::create_dir_all(project.join("analysis.rep/versioned")).unwrap();
        std::fs::write(project.join("analysis.rep/project.prp"), b"owner").unwrap();
        std::fs::write(project.join("analysis.rep/idata/00/db.1.gbf"), vec![7; 300_000]).unwrap();
        let functions = lines(&[function("a", 1), function("b", 2), function("c", 3)]);
        let (facts, program) = write_facts(&staging.facts_directory(), &program_facts(3), &functions);
        PromotionInput {
            sample: SampleIdentity {
                digest: SampleDigest::of(SAMPLE_BYTES),
                size_bytes: SAMPLE_BYTES.len() as u64,
                header: SampleHeader::Other,
            },
            profile: profile(max_cpu),
            target: Target {
                loader: "loader".into(),
                format: "format".into(),
                processor_language: "x86:LE:64:default".into(),
                compiler_specification: "gcc".into(),
            },
            program,
            analyzers: vec![],
            faults: FaultList::default(),
            suspicions: vec![],
            facts,
            max_facts_bytes: 1_000_000,
            adapter_protocol_version: 1,
            ghidr_version: "0.1.0".into(),
            completed_at: time::OffsetDateTime::UNIX_EPOCH,
        }
    }

    /// Promotes an Analysis and gives the directory it is in.
    pub fn promote(&self, max_cpu: u32, invocation: u8) -> PathBuf {
        let guard = self.build_lock(max_cpu);
        let staging = self.store.begin_staging(id(invocation), &guard).unwrap();
        let input = Self::fill(&staging, max_cpu);
        self.store.validate_and_promote(&guard, &staging, &input, &to_the_end).unwrap();
        self.analysis_path(max_cpu)
    }

    pub fn analysis_path(&self, max_cpu: u32) -> PathBuf {
        self.path()
            .join("analyses")
            .join(self.sample().to_string())
            .join(profile(max_cpu).digest().unwrap().to_string())
    }
}

impl StoredAnalysis {
    /// Verifies every file of the Analysis, the project included.
    pub fn verify(&self) -> Result<(), StoreError> {
        self.program_facts()?;
        self.functions()?.read_page(0..u64::MAX, &to_the_end)?;
        self.attribute(self.verify_project())
    }

    fn verify_project(&self) -> Result<(), StoreError> {
        let project = self.open_project()?;
        for entry in &self.manifest().project.files {
            let (parent, name) = open_parent(&project, &entry.path)?;
            let path = parent.child_path(name);
            let found = hash(&mut parent.open_file(name)?, &path, &to_the_end)?;
            check_contents(&path, entry, found)?;
        }
        Ok(())
    }
}
