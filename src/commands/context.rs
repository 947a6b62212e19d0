//! Resolved values of one command: raw flags and environment turned into policy.

use std::cell::RefCell;
use std::path::PathBuf;

use super::failure::Failure;
use super::host::Host;
use crate::cli::{Format, GlobalArguments};
use crate::domain::error::BUNDLE_RULE;
use crate::domain::limits::{DEFAULT_MEMORY_HEADROOM_MIB, ExecutionLimits, ReportedLimits};
use crate::domain::profile::{AnalysisBasis, PROFILE_VERSION};
use crate::domain::provenance::{ReducedProvenance, ReportedStore};
use crate::domain::sandbox_mode::SandboxMode;
use crate::domain::warning::Warning;
use crate::engine::ghidra::{Ghidra, GhidraCandidates, GhidraError};
use crate::engine::java::{JavaCandidates, JavaError, JavaRuntime};
use crate::engine::verified;
use crate::protocol::limits::{ANALYSIS_ADAPTER_VERSION, PROTOCOL_VERSION};
use crate::store::{StoreEnvironment, StoreError, StoreLocation};

/// Version of this program.
pub const GHIDR_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A Ghidra with a Java runtime it accepts.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Ghidra.
    pub ghidra: Ghidra,
    /// Java.
    pub java: JavaRuntime,
}

/// One command's resolved policy.
pub struct Context<'process> {
    /// The world outside.
    pub host: &'process Host<'process>,
    /// Presentation.
    pub format: Format,
    /// Whether to explain on stderr, in human format.
    pub verbose: bool,
    /// Selected sandbox.
    pub sandbox: SandboxMode,
    /// Selected limits.
    pub limits: ExecutionLimits,
    /// Largest Sample, in bytes.
    pub max_sample_bytes: u64,
    /// Inline budget, in bytes.
    pub max_inline_bytes: u64,
    arguments: GlobalArguments,
    known: RefCell<ReducedProvenance>,
}

impl<'process> Context<'process> {
    /// Resolves what needs no I/O.
    pub fn new(host: &'process Host<'process>, arguments: GlobalArguments) -> Self {
        let default_memory = arguments.max_heap_mib.saturating_add(DEFAULT_MEMORY_HEADROOM_MIB);
        let known = ReducedProvenance { sandbox: Some(arguments.sandbox.into()), ..unresolved_provenance() };
        Self {
            host,
            format: arguments.format,
            verbose: arguments.verbose,
            sandbox: arguments.sandbox,
            limits: ExecutionLimits {
                max_heap_mib: arguments.max_heap_mib,
                max_memory_mib: arguments.max_memory_mib.unwrap_or(default_memory),
                max_cpu: arguments.max_cpu,
                analysis_timeout_seconds: arguments.analysis_timeout_seconds,
                decompile_timeout_seconds: arguments.decompile_timeout_seconds,
            },
            max_sample_bytes: arguments.max_sample_bytes,
            max_inline_bytes: arguments.max_inline_bytes,
            arguments,
            known: RefCell::new(known),
        }
    }

    /// What is known so far, for the provenance of errors and of `doctor`.
    pub fn known(&self) -> ReducedProvenance {
        self.known.borrow().clone()
    }

    /// Provenance of an answer about the store as a whole, which no engine had a part in (D14).
    pub fn store_provenance(&self) -> ReducedProvenance {
        let known = self.known();
        ReducedProvenance {
            analysis_store: known.analysis_store,
            sandbox: known.sandbox,
            ..unresolved_provenance()
        }
    }

    /// Records something that has become known.
    pub fn learn(&self, learn: impl FnOnce(&mut ReducedProvenance)) {
        learn(&mut self.known.borrow_mut());
    }

    /// Resolves the Analysis Store's location.
    pub fn store_location(&self) -> Result<StoreLocation, StoreError> {
        let environment = &self.host.environment;
        let environment = StoreEnvironment {
            ghidr_store: environment.ghidr_store.clone(),
            xdg_cache_home: environment.xdg_cache_home.clone(),
            home: environment.home.clone(),
        };
        let location = StoreLocation::resolve(self.arguments.store.as_deref(), &environment, self.sandbox)?;
        self.learn(|known| known.analysis_store = Some(reported_store(&location)));
        Ok(location)
    }

    /// Finds Ghidra.
    pub fn ghidra(&self) -> Result<Ghidra, GhidraError> {
        let environment = &self.host.environment;
        let configured = |flag: &Option<PathBuf>, variable: &Option<std::ffi::OsString>| {
            let from_flag = flag.clone().map(|path| ("--ghidra", path));
            from_flag.or_else(|| variable.clone().map(|path| ("$GHIDR_GHIDRA", PathBuf::from(path))))
        };
        let ghidra = Ghidra::find(&GhidraCandidates {
            explicit: configured(&self.arguments.ghidra, &environment.ghidr_ghidra),
            bundle: self.host.bundle.clone(),
            fallback: environment
                .ghidra_install_dir
                .clone()
                .map(|path| ("$GHIDRA_INSTALL_DIR", PathBuf::from(path))),
        })?;
        self.learn(|known| known.ghidra_version = Some(ghidra.version.clone()));
        Ok(ghidra)
    }

    /// Finds the Java runtime, for `ghidra` when there is one.
    pub fn java(&self, ghidra: Option<&Ghidra>) -> Result<JavaRuntime, JavaError> {
        let environment = &self.host.environment;
        let variable = |value: &Option<std::ffi::OsString>| value.clone().map(PathBuf::from);
        let rules = [
            ("--java-home", self.arguments.java_home.clone()),
            ("$GHIDR_JAVA_HOME", variable(&environment.ghidr_java_home)),
            (BUNDLE_RULE, ghidra.and_then(|ghidra| ghidra.bundled_java_home.clone())),
            ("$JAVA_HOME", variable(&environment.java_home)),
        ];
        let homes = rules.into_iter().filter_map(|(rule, home)| Some((rule, home?))).collect();
        let java = JavaRuntime::find(&JavaCandidates { homes }, ghidra.map(|ghidra| ghidra.java))?;
        self.learn(|known| known.java_version = Some(java.feature_version.to_string()));
        Ok(java)
    }

    /// Finds both.
    pub fn engine(&self) -> Result<Engine, Failure> {
        let ghidra = self.ghidra()?;
        let java = self.java(Some(&ghidra))?;
        Ok(Engine { ghidra, java })
    }

    /// Warnings that follow from the selected policy and engine alone.
    pub fn policy_warnings(&self, engine: &Engine) -> Vec<Warning> {
        let mut warnings = Vec::new();
        match self.sandbox {
            SandboxMode::Bubblewrap => {}
            SandboxMode::External => warnings.push(Warning::ExternalSandboxUnverified {}),
            SandboxMode::Off => warnings.push(Warning::SandboxDisabled {}),
        }
        if !verified::is_verified(&engine.ghidra.version, engine.java.feature_version) {
            warnings.push(Warning::UnverifiedEngine {
                ghidra_version: engine.ghidra.version.clone(),
                java_version: engine.java.feature_version.to_string(),
                verified_engines: verified::describe(),
            });
        }
        warnings
    }

    /// What identifies an Analysis of any Sample under this policy (decision D4).
    pub fn basis(&self, engine: &Engine) -> AnalysisBasis {
        AnalysisBasis {
            profile_version: PROFILE_VERSION,
            ghidra_version: engine.ghidra.version.clone(),
            ghidra_build: engine.ghidra.build.clone(),
            java_version: engine.java.feature_version.to_string(),
            analysis_adapter_version: ANALYSIS_ADAPTER_VERSION,
            max_cpu: self.limits.max_cpu,
        }
    }

    /// Limits as provenance reports them, before a worker ran.
    pub fn reported_limits(&self, decompiles: bool) -> ReportedLimits {
        ReportedLimits {
            max_heap_mib: self.limits.max_heap_mib,
            max_memory_mib: Some(self.limits.max_memory_mib),
            max_cpu: self.limits.max_cpu,
            analysis_timeout_seconds: self.limits.analysis_timeout_seconds,
            decompile_timeout_seconds: decompiles.then_some(self.limits.decompile_timeout_seconds),
            batch_timeout_seconds: None,
            child_watchdog_seconds: None,
        }
    }
}

/// What is known before anything is resolved.
pub fn unresolved_provenance() -> ReducedProvenance {
    ReducedProvenance {
        ghidr_version: GHIDR_VERSION.to_owned(),
        adapter_protocol_version: PROTOCOL_VERSION,
        ..ReducedProvenance::default()
    }
}

/// A store location as provenance reports it.
pub fn reported_store(location: &StoreLocation) -> ReportedStore {
    ReportedStore { path: location.path.as_path().into(), source: location.source }
}
