//! Plain-text presentation of the same results that JSON documents carry.
//!
//! Every untrusted string is escaped; nothing here is meant to be parsed.

use std::fmt::Write as _;

use serde::Serialize;

use super::escape;
use super::page_notice::page_notice;
use crate::domain::counted::counted;
use crate::domain::doctor_report::{ComponentStatus, DoctorReport};
use crate::domain::documents::{ArtifactDescriptor, DecompilationData, FunctionList, Inspection};
use crate::domain::protection::ProtectionStatus;
use crate::domain::provenance::QueryProvenance;
use crate::domain::warning::{Warning, WarningDocument};

/// `doctor`.
pub fn doctor(report: &DoctorReport) -> String {
    let components = &report.components;
    let version =
        |version: &Option<String>| version.as_deref().map(|text| format!(" {text}")).unwrap_or_default();
    let mut text = String::new();
    let mut row = |label: String, status: ComponentStatus, ready: &str, problem: &Option<String>| {
        let state = if status == ComponentStatus::Ready { ready } else { status_word(status) };
        let _ = write!(text, "{}: {state}", escape::line(&label));
        if let Some(problem) = problem {
            let _ = write!(text, " ({})", escape::line(problem));
        }
        text.push('\n');
    };
    let ghidra = &components.ghidra;
    row(format!("Ghidra{}", version(&ghidra.version)), ghidra.status, "ready", &ghidra.problem);
    let java = &components.java;
    row(format!("JDK{}", version(&java.version)), java.status, "ready", &java.problem);
    let store = &components.analysis_store;
    row("Analysis store".to_owned(), store.status, "writable", &store.problem);
    let sandbox = &components.sandbox;
    row(format!("Sandbox {}", word(&sandbox.backend)), sandbox.status, "ready", &sandbox.problem);
    if let Some(protections) = &sandbox.protections {
        let active = protections.iter().filter(|report| report.status == ProtectionStatus::Active).count();
        let _ = writeln!(text, "Protections: {active} of {} hold", protections.len());
        for report in protections.iter().filter(|report| report.status != ProtectionStatus::Active) {
            let problem = report.problem.as_deref().unwrap_or("unknown");
            let _ = writeln!(text, "  {}: {}", word(&report.protection), escape::line(problem));
        }
    }
    if let Some(problem) = ghidra.boot_data.as_ref().and_then(|data| data.problem.as_ref()) {
        let _ =
            writeln!(text, "Boot data: not used, so every start takes longer ({})", escape::line(problem));
    }
    if let (Some(path), Some(usage)) = (&store.path, &store.usage) {
        let path = path.to_string();
        let _ = writeln!(text, "Store: {}, {} bytes in use", escape::line(&path), usage.allocated_bytes);
    }
    text
}

/// A value's name in JSON, which is also where the documentation explains it.
fn word(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_owned()
}

fn status_word(status: ComponentStatus) -> &'static str {
    match status {
        ComponentStatus::Ready => "ready",
        ComponentStatus::Missing => "missing",
        ComponentStatus::Incompatible => "incompatible",
        ComponentStatus::Invalid => "invalid",
        ComponentStatus::Unwritable => "unwritable",
    }
}

/// `inspect`.
pub fn inspection(data: &Inspection, provenance: &QueryProvenance) -> String {
    let target = &provenance.target.target;
    let mut text = String::new();
    let mut row = |label: &str, value: &str| {
        let _ = writeln!(text, "{label}: {}", escape::line(value));
    };
    row("Sample", &data.sample.sha256.to_string());
    row("Size", &counted(data.sample.size_bytes, "byte"));
    row("Format", &target.format);
    row("Language", &target.processor_language);
    row("Compiler", &target.compiler_specification);
    if let Some(base) = &data.program.image_base {
        row("Image base", &base.to_string());
    }
    if let (Some(low), Some(high)) = (&data.program.minimum_address, &data.program.maximum_address) {
        row("Memory", &format!("{low} to {high}"));
    }
    row("Functions", &data.program.function_count.to_string());
    if let Some(completeness) = &data.analysis.completeness {
        let verdict = if completeness.complete { "complete" } else { "incomplete" };
        let counts = format!("{verdict} ({} of {} analyzers)", completeness.completed, completeness.enabled);
        row("Analysis", &counts);
        if !completeness.not_run_analyzers.is_empty() {
            row("Analyzers that did not run", &completeness.not_run_analyzers.join(", "));
        }
        if !completeness.failed.is_empty() {
            row("Failed analyzers", &completeness.failed.join(", "));
        }
    }
    text
}

/// `functions`.
pub fn function_list(data: &FunctionList) -> String {
    let rows: Vec<[String; 3]> = data
        .items
        .iter()
        .map(|item| {
            [
                escape::line(&item.entry.to_string()).into_owned(),
                item.body_address_count.to_string(),
                escape::line(&item.qualified_name).into_owned(),
            ]
        })
        .collect();
    let width = |column: usize, heading: &str| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(heading.len())
    };
    let (address_width, size_width) = (width(0, "ADDRESS"), width(1, "SIZE"));
    let mut text = format!("{:address_width$}  {:>size_width$}  NAME\n", "ADDRESS", "SIZE");
    for [address, size, name] in &rows {
        let _ = writeln!(text, "{address:address_width$}  {size:>size_width$}  {name}");
    }
    text.push_str(&page_notice(&data.page, "functions"));
    text
}

/// `decompile`.
pub fn decompilation(data: &DecompilationData) -> String {
    let mut text = escape::lines(&data.decompilation.text).into_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// What the suggested budgets are multiples of, in bytes.
const BUDGET_STEP_BYTES: u64 = 65_536;

/// A result that became an Artifact.
pub fn spilled(artifact: &ArtifactDescriptor, is_repeatable: bool) -> String {
    let path = artifact.path.to_string();
    let path = escape::line(&path);
    let mut text =
        String::from("as a JSON document the answer exceeds --max-inline-bytes, so it was stored as one\n");
    let _ = writeln!(text, "Artifact: {path}\nSize: {} bytes\nSHA-256: {}", artifact.bytes, artifact.sha256);
    text.push_str("to read it, open it with jq, for example");
    if is_repeatable {
        // The same answer may have a few more bytes next time, when it tells of other circumstances.
        let enough =
            artifact.bytes.saturating_add(BUDGET_STEP_BYTES / 16).next_multiple_of(BUDGET_STEP_BYTES);
        let _ = write!(text, "; to see the answer here: --max-inline-bytes {enough}");
    }
    text.push('\n');
    text
}

/// Most letters of a fault's own words that a warning repeats.
const MOST_FAULT_LETTERS: usize = 200;

/// Warnings, one line each, for stderr.
pub fn warnings(warnings: &[WarningDocument]) -> String {
    let mut text = String::new();
    for WarningDocument { warning, message } in warnings {
        let _ = write!(text, "warning: {}", escape::line(message));
        if let Warning::AnalyzerFailed { exception_class, message, .. }
        | Warning::EngineFault { exception_class, message, .. } = warning
        {
            let _ = write!(text, ": {}", escape::line(&cause(exception_class, message)));
        }
        text.push('\n');
    }
    text
}

/// A fault in its own words: the first line of them, or else its class.
fn cause(exception_class: &str, message: &str) -> String {
    let words = message.trim().lines().next().unwrap_or(exception_class);
    match words.char_indices().nth(MOST_FAULT_LETTERS) {
        Some((end, _)) => format!("{}...", &words[..end]),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::address::{Address, Offset};
    use crate::domain::function::FunctionItem;
    use crate::domain::page::PageRequest;

    fn item(name: &str, offset: u64, size: u64) -> FunctionItem {
        let entry = Address { space: "ram".into(), offset: Offset::new(offset, 8) };
        FunctionItem { body_address_count: size, ..FunctionItem::in_memory(name, name, entry) }
    }

    #[test]
    fn only_what_can_be_asked_again_is_to_be_asked_with_a_larger_budget() {
        let artifact = ArtifactDescriptor {
            path: std::path::Path::new("/a").into(),
            bytes: 70_000,
            sha256: crate::domain::digest::ContentDigest::of(b""),
            media_type: String::new(),
            contains: crate::domain::documents::ArtifactContents::CompleteSuccessResponse,
        };
        let said = spilled(&artifact, true);
        assert!(
            said.ends_with(
                "open it with jq, for example; to see the answer here: --max-inline-bytes 131072\n"
            )
        );
        let said = spilled(&artifact, false);
        assert!(said.ends_with("to read it, open it with jq, for example\n"), "{said}");
    }

    #[test]
    fn the_table_is_aligned_and_tells_how_to_continue() {
        let data = FunctionList {
            page: PageRequest::Window { offset: 0, limit: 2 }.describe("o", 3),
            items: vec![item("_start", 0x40_1000, 112), item("ma\x1bin", 0x40_1120, 24_800)],
        };
        let expected = "ADDRESS          SIZE  NAME\n\
                        ram:0x00401000    112  _start\n\
                        ram:0x00401120  24800  ma\\u{1b}in\n\
                        2 of 3 functions shown; more: --offset 2, or --all\n";
        assert_eq!(function_list(&data), expected);
    }

    #[test]
    fn a_warning_of_a_fault_says_its_first_line_escaped_and_bounded() {
        let shown = |message: &str| {
            let (analyzer, exception_class) = ("DWARF".to_owned(), "java.io.IOException".to_owned());
            let fault = Warning::AnalyzerFailed { analyzer, exception_class, message: message.to_owned() };
            warnings(&[fault.into()])
        };
        let said = "warning: analyzer 'DWARF' failed; what it would have found is missing: ";
        assert_eq!(shown("un\x1bknown form\nat line 2"), format!("{said}un\\u{{1b}}known form\n"));
        assert_eq!(shown(" \n"), format!("{said}java.io.IOException\n"));
        assert_eq!(shown(&"\u{e4}".repeat(201)), format!("{said}{}...\n", "\u{e4}".repeat(200)));
        let component = "Loader".to_owned();
        let fault = Warning::EngineFault { component, exception_class: "E".into(), message: "why".into() };
        assert_eq!(warnings(&[fault.into()]), "warning: the engine reported a fault in Loader: why\n");
        let other = warnings(&[Warning::SandboxDisabled {}.into()]);
        assert_eq!(other, "warning: the worker runs without a sandbox\n");
    }
}
