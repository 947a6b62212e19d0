//! `ghidr inspect`: a Sample's Program and the Analysis behind it, from validated facts.

use super::analysis::{Ready, Session};
use super::answer::{Answer, answer};
use super::context::Context;
use super::failure::Failure;
use crate::cli::InspectArguments;
use crate::domain::documents::{AnalysisSummary, Disposition, Inspection, ProgramSummary, SampleSummary};
use crate::domain::fault::Completeness;
use crate::domain::warning;
use crate::output::envelope::Envelope;
use crate::output::human;

/// Kind of the success document.
pub const KIND: &str = "inspection";

/// Runs the command.
pub fn run(context: &Context<'_>, arguments: &InspectArguments) -> Result<Answer, Failure> {
    let session = Session::begin(context, &arguments.sample, context.reported_limits(false))?;
    session.with_analysis(None, |ready| {
        let data = inspection(&session, ready)?;
        let provenance = session.provenance(ready, ready.watchdog_seconds);
        let text = |made: &Envelope<_, _>| Ok(human::inspection(&made.data, &made.provenance));
        let repeated = |made: &Envelope<_, Inspection>| {
            let mut again = made.clone().with_provenance(session.provenance(ready, None));
            again.data.analysis.disposition = Disposition::Reused;
            again
        };
        let envelope = Envelope::new(KIND, provenance, data, warning::normalize(ready.warnings.clone()));
        answer(context, &envelope, text, session.explain(ready, None), &ready.spill(), repeated)
    })
}

/// The data of the document.
pub fn inspection(session: &Session<'_>, ready: &Ready<'_>) -> Result<Inspection, Failure> {
    let facts = ready.analysis.program_facts()?;
    let manifest = ready.analysis.manifest();
    Ok(Inspection {
        sample: SampleSummary { sha256: session.identity.digest, size_bytes: session.identity.size_bytes },
        program: ProgramSummary {
            image_base: facts.image_base,
            minimum_address: facts.minimum_address,
            maximum_address: facts.maximum_address,
            function_count: facts.function_count,
        },
        analysis: AnalysisSummary {
            disposition: ready.disposition,
            completeness: Some(Completeness::judge(&manifest.analyzers, &manifest.faults)),
        },
    })
}
