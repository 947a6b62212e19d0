//! `--decompile-all`: one line for each decompilable Function, in an Artifact of its own.
//!
//! Goes through the function table in windows, each at most one worker, so that memory is bounded by
//! a window, and what a window completed is kept whatever becomes of the next. The Analysis is made
//! first and by a worker of its own: an interruption then costs one window, never the Analysis. What
//! was kept before is not asked again.

use super::{KIND, body, limits, policy};
use crate::cli::BatchArguments;
use crate::commands::analysis::Session;
use crate::commands::answer::{Answer, prepare};
use crate::commands::context::Context;
use crate::commands::decompilation::{Inquiry, Obtained};
use crate::commands::decompile::text_of;
use crate::commands::failure::Failure;
use crate::commands::wanted::Wanted;
use crate::domain::batch::{
    BatchCounts, BatchReport, DecompilationLine, DecompilationOutcome, LINE_KIND, LINES_MEDIA_TYPE,
    LinesDescriptor,
};
use crate::domain::documents::{FunctionIdentity, SCHEMA_VERSION};
use crate::domain::function::FunctionItem;
use crate::domain::limits::MAX_BATCH_QUERIES;
use crate::domain::selector::{FunctionSelector, Resolution};
use crate::domain::warning;
use crate::output::envelope::{Envelope, encode};
use crate::output::{batch as batch_text, human};

/// Decompiles everything in the Sample.
pub fn run(context: &Context<'_>, arguments: &BatchArguments) -> Result<Answer, Failure> {
    let session = Session::begin(context, &arguments.sample, limits(context, arguments))?;
    session.with_analysis(None, |ready| {
        let table = ready.analysis.functions()?;
        let mut inquiry = Inquiry::new(&session, ready, policy(arguments));
        let spill = ready.spill();
        let mut lines = spill.store.begin_lines(spill.lock, spill.scope)?;
        let mut counts = BatchCounts::default();
        for start in (0..table.total()).step_by(MAX_BATCH_QUERIES) {
            let end = start.saturating_add(MAX_BATCH_QUERIES as u64).min(table.total());
            let items: Vec<FunctionItem> = table
                .read_page(start..end, &|| ready.interrupts.first())?
                .into_iter()
                .filter(|item| item.decompilable)
                .collect();
            let wanted: Vec<Wanted> = items.iter().map(want).collect();
            inquiry.obtain(&wanted, &mut |index, obtained| {
                let line = line(&items[index], obtained, &mut counts);
                Ok(lines.append(&encode(&line).map_err(Failure::internal)?)?)
            })?;
        }
        let pending = lines.finish()?;
        let decompilations = LinesDescriptor {
            path: pending.final_path().into(),
            bytes: pending.bytes(),
            lines: counts.total,
            sha256: pending.sha256(),
            media_type: LINES_MEDIA_TYPE.to_owned(),
        };
        let data = BatchReport { counts, items: None, decompilations: Some(decompilations) };
        let provenance = |watchdog| session.provenance(ready, watchdog);
        let made = provenance(inquiry.watchdog_seconds.or(ready.watchdog_seconds));
        let text = |made: &Envelope<_, _>| {
            batch_text::report(&made.data, &made.provenance, |list| Ok(human::function_list(list)))
        };
        let repeated = |made: &Envelope<_, BatchReport>| made.clone().with_provenance(provenance(None));
        let warnings = warning::normalize(ready.warnings.clone());
        let envelope = Envelope::new(KIND, made, data, warnings);
        let explanation = session.explain(ready, inquiry.times.as_ref());
        let prepared = prepare(context, &envelope, text, explanation, Some(&spill), repeated)?;
        pending.publish()?;
        prepared.publish()
    })
}

fn want(item: &FunctionItem) -> Wanted {
    let entry = &item.entry;
    Wanted {
        selector: FunctionSelector::Address { space: entry.space.clone(), offset: entry.offset },
        resolution: Ok(Resolution::Unique(Box::new(item.clone()))),
    }
}

fn line(item: &FunctionItem, obtained: Obtained, counts: &mut BatchCounts) -> DecompilationLine {
    let function = FunctionIdentity {
        name: item.name.clone(),
        qualified_name: item.qualified_name.clone(),
        entry: item.entry.clone(),
    };
    let (outcome, own_warnings) = match obtained {
        Obtained::Text { decompilation, .. } => {
            counts.succeed();
            let (decompilation, own) = text_of(decompilation);
            (DecompilationOutcome::Succeeded { decompilation }, own)
        }
        Obtained::Failed(failure) => {
            counts.fail();
            let (error, warning) = body(failure);
            (DecompilationOutcome::Failed { error: Box::new(error) }, warning.into_iter().collect())
        }
        Obtained::NotRun(reason) => {
            counts.skip();
            (DecompilationOutcome::NotRun { reason }, Vec::new())
        }
    };
    let (schema_version, kind) = (SCHEMA_VERSION, LINE_KIND.to_owned());
    DecompilationLine { schema_version, kind, function, outcome, warnings: warning::normalize(own_warnings) }
}
