//! Reuses, rebuilds or creates the Analysis behind a Query (decisions D4 and D5).
//!
//! Lookup needs no JVM. Corrupt data is quarantined and rebuilt at most once per command.
//! Locks are held until the Query has read what it needs.

use std::path::Path;

use super::answer::Spill;
use super::context::{Context, Engine, reported_store};
use super::diagnostics;
use super::failure::{Failure, interrupted};
use super::retained_log::RetainedLog;
use super::worker::{self, QueryList, WorkerTask};
use super::worker_times::WorkerTimes;
use super::workplace::{Run, Workplace};
use crate::domain::digest::{BasisDigest, ContentDigest};
use crate::domain::documents::Disposition;
use crate::domain::error::PublicError;
use crate::domain::limits::ReportedLimits;
use crate::domain::path_value::PathValue;
use crate::domain::profile::{AnalysisBasis, AnalysisProfile, PROFILE_VERSION, ProfileTarget};
use crate::domain::provenance::{QueryProvenance, ReportedTarget};
use crate::domain::target::TargetVerification;
use crate::domain::warning::Warning;
use crate::process::Interrupts;
use crate::protocol::answers::Answers;
use crate::protocol::limits::{MAX_FACTS_BYTES, PROTOCOL_VERSION};
use crate::protocol::response::{AnalysisResult, Outcome, QueryOutcome};
use crate::store::{
    AnalysisLock, ArtifactScope, BuildGuard, FactsClaim, FileClaim, OpenedSample, PromotionInput,
    SampleIdentity, Staging, Store, StoreError, StoredAnalysis,
};

/// A Sample-backed command on its way to an answer.
pub struct Session<'command> {
    /// The command.
    pub context: &'command Context<'command>,
    /// The engine that made, or would make, the Analysis.
    pub engine: Engine,
    /// The caller's path.
    pub sample_path: &'command Path,
    /// Identity of its bytes.
    pub identity: SampleIdentity,
    /// What names the Analysis.
    pub basis: AnalysisBasis,
    limits: ReportedLimits,
    basis_digest: BasisDigest,
    source: OpenedSample,
}

/// An Analysis that may be read.
pub struct Ready<'store> {
    /// The store it is in.
    pub store: &'store Store,
    /// Keeps it in place.
    pub lock: AnalysisLock,
    /// The Analysis.
    pub analysis: StoredAnalysis,
    /// Asked during long passes over it.
    pub interrupts: &'store Interrupts,
    /// How the command came by it.
    pub disposition: Disposition,
    /// What the worker which built it made of its Queries, when it had any.
    pub answered: Option<Answered>,
    /// What that worker spent its time on.
    pub times: Option<WorkerTimes>,
    /// Watchdog of the worker that built it, in seconds.
    pub watchdog_seconds: Option<u64>,
    /// Warnings that follow from how it came about.
    pub warnings: Vec<Warning>,
}

/// What one worker made of its Queries.
pub struct Answered {
    /// The answers, in the order of the Queries; `None` when it did not come to the first of them.
    pub answers: Option<Answers>,
    /// The retained log of the worker, when a failure among the answers is worth one.
    pub log: Option<RetainedLog>,
    /// Why it did not end in order, if it did not.
    pub end: Result<(), Failure>,
}

impl Answered {
    /// By an orderly worker, whose log is retained if one of its answers is a failure worth it.
    pub fn in_order(
        context: &Context<'_>,
        place: &Workplace<'_>,
        run: &Run,
        answers: Answers,
    ) -> Result<Self, Failure> {
        let mut is_worth_it = false;
        if answers.failed() == 0 {
            return Ok(Self { answers: Some(answers), log: None, end: Ok(()) });
        }
        answers.each::<Failure>(|answer| {
            is_worth_it |=
                matches!(&answer.outcome, QueryOutcome::Failed { error } if diagnostics::explains(error));
            Ok(())
        })?;
        let log = is_worth_it.then(|| diagnostics::retain(context, place, run)).flatten();
        Ok(Self { answers: Some(answers), log, end: Ok(()) })
    }

    /// By a worker that did not end in order, for the reason in `failure`, with what it had completed.
    pub fn cut_short(answers: Option<Answers>, failure: Failure) -> Self {
        Self { answers, log: None, end: Err(failure) }
    }
}

/// What one analyzing worker achieved.
struct Built {
    analysis: StoredAnalysis,
    answered: Option<Answered>,
    watchdog_seconds: u64,
    times: WorkerTimes,
}

impl Ready<'_> {
    /// Where a result about this Analysis goes when it exceeds the inline budget.
    pub fn spill(&self) -> Spill<'_, AnalysisLock> {
        let scope = ArtifactScope::Analysis {
            sample: self.analysis.sample_digest(),
            profile: self.analysis.profile_digest(),
        };
        Spill { store: self.store, lock: &self.lock, scope, is_repeatable: true }
    }
}

impl<'command> Session<'command> {
    /// Resolves engine and Sample for a command with these limits.
    pub fn begin(
        context: &'command Context<'command>,
        sample_path: &'command Path,
        limits: ReportedLimits,
    ) -> Result<Self, Failure> {
        context.learn(|known| {
            known.source_path = Some(PathValue::from(sample_path));
            known.limits = Some(limits);
        });
        context.store_location()?;
        let engine = context.engine()?;
        let sample_failure = |error| Failure::sample(error, sample_path);
        let source = OpenedSample::open(sample_path, context.max_sample_bytes).map_err(sample_failure)?;
        let identity = source.hash(&|| context.host.interrupts.first()).map_err(sample_failure)?;
        context.learn(|known| known.sample_sha256 = Some(identity.digest));
        let basis = context.basis(&engine);
        let basis_digest = basis.digest().map_err(Failure::internal)?;
        Ok(Self { context, engine, sample_path, identity, basis, limits, basis_digest, source })
    }

    /// Finds or makes the Analysis and lets `read` answer from it. When `read` finds it corrupt, the
    /// Analysis is quarantined, rebuilt, and read once more.
    pub fn with_analysis<T>(
        &self,
        queries: Option<&QueryList>,
        mut read: impl FnMut(&Ready<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let location = self.context.store_location()?;
        let mut corrupt = None;
        if let Some(store) = Store::open_existing(&location)? {
            let lock =
                store.read_lock(self.identity.digest, self.basis_digest).map_err(|error| self.busy(error))?;
            match store.find_analysis(&lock) {
                Ok(Some(analysis)) => {
                    let ready = self.ready(&store, AnalysisLock::Read(lock), analysis, Disposition::Reused);
                    match read(&ready) {
                        Err(Failure { corrupt_analysis: Some(reason), .. }) => {
                            corrupt = Some((ready.analysis.manifest_digest(), reason));
                        }
                        answered => return answered,
                    }
                }
                Ok(None) => {}
                Err(StoreError::CorruptAnalysis { profile, .. }) => {
                    self.context.learn(|known| known.analysis_profile_sha256 = Some(profile));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let store = Store::open_or_create(&location)?;
        let lock =
            store.build_lock(self.identity.digest, self.basis_digest).map_err(|error| self.busy(error))?;
        store.sweep_orphans(&lock)?;
        let ready = self.build(&store, lock, queries, corrupt)?;
        read(&ready)
    }

    /// Holds the exclusive lock; whoever held it before may have done the work already, so only the
    /// very Analysis that was found `corrupt` (named by its manifest) is set aside.
    fn build<'store>(
        &'store self,
        store: &'store Store,
        lock: BuildGuard,
        queries: Option<&QueryList>,
        corrupt: Option<(ContentDigest, String)>,
    ) -> Result<Ready<'store>, Failure> {
        let mut warnings = Vec::new();
        let mut disposition = Disposition::Created;
        let quarantined = match store.find_analysis(&lock) {
            Ok(None) => None,
            Ok(Some(analysis)) => match corrupt {
                Some((manifest, reason)) if manifest == analysis.manifest_digest() => {
                    Some((analysis.profile_digest(), reason))
                }
                _ => return Ok(self.ready(store, AnalysisLock::Build(lock), analysis, Disposition::Reused)),
            },
            Err(StoreError::CorruptAnalysis { profile, reason, .. }) => Some((profile, reason)),
            Err(error) => return Err(error.into()),
        };
        if let Some((profile, reason)) = quarantined {
            let id = (self.context.host.new_invocation_id)().map_err(Failure::internal)?;
            store.quarantine(&lock, profile, id)?;
            warnings.push(Warning::CorruptAnalysisRebuilt { analysis_profile_sha256: profile, reason });
            disposition = Disposition::Rebuilt;
        }
        let built = self.analyze(store, &lock, queries)?;
        let mut ready = self.ready(store, AnalysisLock::Build(lock), built.analysis, disposition);
        ready.answered = built.answered;
        ready.watchdog_seconds = Some(built.watchdog_seconds);
        ready.times = Some(built.times);
        ready.warnings.extend(warnings);
        Ok(ready)
    }

    fn analyze(
        &self,
        store: &Store,
        lock: &BuildGuard,
        queries: Option<&QueryList>,
    ) -> Result<Built, Failure> {
        let host = self.context.host;
        let id = (host.new_invocation_id)().map_err(Failure::internal)?;
        let staging = store.begin_staging(id, lock)?;
        let staged = self
            .source
            .snapshot_into(&staging, host.store_reserve_bytes, &|| host.interrupts.first())
            .map_err(|error| Failure::store_or_sample(error, self.sample_path))?;
        // INVARIANT(source-change-aborts): Ghidra only ever starts on the bytes that were identified.
        if staged != self.identity {
            return Err(PublicError::SampleChanged { path: self.sample_path.into() }.into());
        }
        let place = Workplace { store, staging: &staging, sample: Some(self.identity.digest) };
        let task = WorkerTask::Analyze { queries: queries.cloned() };
        let reply = worker::run(self.context, &self.engine, &place, &task)?;
        let times = WorkerTimes::of(&reply);
        staging.remove_sample()?;
        match reply.response.outcome {
            Outcome::Analyzed { analysis, .. } => {
                let analysis = self.promote(store, lock, &staging, *analysis).map_err(|failure| {
                    // Whoever did not end in order has its log already.
                    match reply.end.as_ref().err().and_then(|end| end.diagnostic_log.as_deref()) {
                        Some(log) => failure.with_log(Some(log.clone())),
                        None => diagnostics::attach(self.context, &place, &reply.run, failure),
                    }
                })?;
                let answered = match (reply.end, reply.answers) {
                    (Err(end), answers) => Some(Answered::cut_short(answers, end)),
                    (Ok(()), Some(answers)) => {
                        Some(Answered::in_order(self.context, &place, &reply.run, answers)?)
                    }
                    (Ok(()), None) => None,
                };
                Ok(Built { analysis, answered, watchdog_seconds: reply.run.watchdog_seconds, times })
            }
            Outcome::Failed { error } => {
                let failure = Failure::worker(error, None, "analyze");
                Err(diagnostics::attach(self.context, &place, &reply.run, failure))
            }
            Outcome::Probed { .. } | Outcome::Queried { .. } => {
                Err(Failure::internal("a response passed validation with a foreign outcome"))
            }
        }
    }

    fn promote(
        &self,
        store: &Store,
        lock: &BuildGuard,
        staging: &Staging,
        result: AnalysisResult,
    ) -> Result<StoredAnalysis, Failure> {
        // INVARIANT(no-promotion-after-cancel): the last look at the user's wish before renaming.
        if let Some(signal) = self.context.host.interrupts.first() {
            return Err(interrupted(signal, None).into());
        }
        let profile = AnalysisProfile {
            profile_version: PROFILE_VERSION,
            ghidra_version: self.basis.ghidra_version.clone(),
            ghidra_build: self.basis.ghidra_build.clone(),
            java_version: self.basis.java_version.clone(),
            analysis_adapter_version: self.basis.analysis_adapter_version,
            target: ProfileTarget {
                loader: result.target.loader.clone(),
                processor_language: result.target.processor_language.clone(),
                compiler_specification: result.target.compiler_specification.clone(),
            },
            loader_options: result.loader_options,
            analyzer_options: result.analyzer_options,
            max_cpu: self.basis.max_cpu,
        };
        let facts = &result.facts;
        let input = PromotionInput {
            sample: self.identity.clone(),
            profile,
            target: result.target,
            analyzers: result.analyzers,
            faults: result.faults,
            suspicions: result.suspicions,
            program: result.program,
            facts: FactsClaim {
                program: FileClaim { bytes: facts.program.bytes, sha256: facts.program.sha256 },
                functions: FileClaim { bytes: facts.functions.bytes, sha256: facts.functions.sha256 },
                function_count: facts.functions.count,
            },
            max_facts_bytes: MAX_FACTS_BYTES,
            ghidr_version: super::context::GHIDR_VERSION.to_owned(),
            adapter_protocol_version: PROTOCOL_VERSION,
            completed_at: (self.context.host.now)(),
        };
        Ok(store.validate_and_promote(lock, staging, &input, &|| self.context.host.interrupts.first())?)
    }

    fn ready<'store>(
        &'store self,
        store: &'store Store,
        lock: AnalysisLock,
        analysis: StoredAnalysis,
        disposition: Disposition,
    ) -> Ready<'store> {
        self.context.learn(|known| known.analysis_profile_sha256 = Some(analysis.profile_digest()));
        let mut warnings = self.context.policy_warnings(&self.engine);
        warnings.extend(Warning::for_faults(&analysis.manifest().faults));
        if !analysis.manifest().suspicions.is_empty() {
            let mut reasons = analysis.manifest().suspicions.clone();
            reasons.sort_unstable();
            warnings.push(Warning::SuspiciousAnalysis { reasons });
        }
        let manifest = analysis.manifest();
        if manifest.analysis_profile.target.verification(&manifest.sample.header)
            == TargetVerification::Unverified
        {
            warnings.push(Warning::unverified_target());
        }
        Ready {
            store,
            interrupts: self.context.host.interrupts,
            lock,
            analysis,
            disposition,
            answered: None,
            watchdog_seconds: None,
            times: None,
            warnings,
        }
    }

    fn busy(&self, error: StoreError) -> Failure {
        match error {
            StoreError::Busy { retry_after_seconds, .. } => PublicError::AnalysisBusy {
                analysis_basis_sha256: Some(self.basis_digest),
                analysis_profile_sha256: self.context.known().analysis_profile_sha256,
                retry_after_seconds,
            }
            .into(),
            other => other.into(),
        }
    }

    /// Provenance of an answer from `ready`.
    pub fn provenance(&self, ready: &Ready<'_>, watchdog: Option<u64>) -> QueryProvenance {
        let manifest = ready.analysis.manifest();
        let target = manifest.analysis_profile.target.clone();
        let verification = target.verification(&manifest.sample.header);
        QueryProvenance {
            ghidr_version: super::context::GHIDR_VERSION.to_owned(),
            adapter_protocol_version: PROTOCOL_VERSION,
            ghidra_version: self.basis.ghidra_version.clone(),
            java_version: self.basis.java_version.clone(),
            sample_sha256: self.identity.digest,
            source_path: PathValue::from(self.sample_path),
            analysis_profile_sha256: ready.analysis.profile_digest(),
            target: ReportedTarget { target, verification },
            analysis_store: reported_store(ready.store.location()),
            sandbox: self.context.sandbox.into(),
            limits: ReportedLimits { child_watchdog_seconds: watchdog, ..self.limits },
        }
    }

    /// What `--verbose` says about where the Analysis came from and what the workers spent their time on.
    pub fn explain(&self, ready: &Ready<'_>, query_worker: Option<&WorkerTimes>) -> String {
        let verb = match ready.disposition {
            Disposition::Created => "created",
            Disposition::Reused => "reused",
            Disposition::Rebuilt => "rebuilt",
        };
        let mut text = format!("analysis {}: {verb}\n", ready.analysis.profile_digest());
        for times in ready.times.iter().chain(query_worker) {
            text.push_str(&times.describe());
        }
        text
    }
}
