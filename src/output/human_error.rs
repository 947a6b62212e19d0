//! An error and what to do about it, as plain text for stderr.
//!
//! Says in words what the document says in members: the message, then a line for each detail that helps a person.
//! Every untrusted string is escaped.

use std::fmt::Write as _;

use super::error_document::ErrorDocument;
use super::{escape, human, storage};
use crate::domain::candidates::Candidates;
use crate::domain::error::{ErrorBody, PublicError};
use crate::domain::path_value::PathValue;
use crate::domain::provenance::ReportedStore;
use crate::domain::selector::FunctionCandidate;

/// Where a path of the caller may stand for the standard input, which is no file.
const STANDARD_INPUT: [&str; 3] = ["-", "/dev/stdin", "/dev/fd/0"];

/// The whole text; `command` are the words of the command that the command line names.
pub fn describe(document: &ErrorDocument, command: &[String]) -> String {
    let error = &document.error.error;
    let mut text = describe_body(&document.error);
    let known = document.provenance.as_ref();
    if let Some(store) = known.and_then(|known| known.analysis_store.as_ref())
        && concerns_store(error)
    {
        let ReportedStore { path, source } = store;
        let _ = writeln!(text, "  store: {} (from {})", escape::line(&path.to_string()), source.setting());
    }
    if matches!(error, PublicError::InvalidArguments { .. }) {
        let command: String = command.iter().map(|word| format!("{word} ")).collect();
        let _ = writeln!(text, "  see: ghidr {command}--help");
    }
    text.push_str(&human::warnings(&document.warnings));
    text
}

/// The error by itself, whatever document it is in.
pub fn describe_body(body: &ErrorBody) -> String {
    let mut text = format!("error: {}\n", escape::line(&body.message));
    for (label, value) in details(&body.error) {
        let _ = writeln!(text, "  {}: {}", escape::line(&label), escape::line(&value));
    }
    if let PublicError::DoctorFailed { report } = &body.error {
        text.push_str(&human::doctor(report));
    }
    if let Some(log) = &body.diagnostic_log {
        let path = log.path.to_string();
        let _ = writeln!(text, "  diagnostic log (may hold sample content): {}", escape::line(&path));
    }
    text
}

/// Labels and values.
type Details = Vec<(String, String)>;

fn detail(label: &str, value: impl ToString) -> Details {
    vec![(label.to_owned(), value.to_string())]
}

fn details(error: &PublicError) -> Details {
    match error {
        PublicError::FunctionSelectorAmbiguous { candidates, .. } => addresses(candidates),
        PublicError::FunctionEntryRequired { containing_entry: Some(entry) } => {
            detail("use", format!("--address {entry}"))
        }
        PublicError::FunctionEntryRequired { containing_entry: None } => detail(
            "see",
            "ghidr inspect SAMPLE names the image base, at which Ghidra places a position-independent program; \
            other tools count its addresses from zero",
        ),
        PublicError::FunctionNotFound { .. } => {
            detail("see", "ghidr functions SAMPLE lists every name; a stripped program has lost most of them")
        }
        PublicError::AddressSpaceNotFound { spaces, .. } => detail("address spaces", spaces.items.join(", ")),
        PublicError::ContainerSample { members, .. } if !members.items.is_empty() => {
            detail("members", members.items.join(", "))
        }
        PublicError::SandboxUnavailable { observed, .. } => detail("observed", observed),
        PublicError::CleanupIncomplete { removed, remaining, transaction, .. } => [
            detail("removed", storage::describe(removed)),
            detail("remaining", storage::describe(remaining)),
            detail("in", transaction),
        ]
        .concat(),
        PublicError::ConfirmationRequired { matched, declined: false } => {
            detail("would remove", storage::describe(matched))
        }
        PublicError::SampleNotFound { path } | PublicError::SampleNotRegular { path, .. } => {
            [location(path), instead(path, error)].concat()
        }
        PublicError::SampleUnreadable { path, .. }
        | PublicError::SampleTooLarge { path, .. }
        | PublicError::SampleChanged { path }
        | PublicError::CorruptAnalysis { path, .. }
        | PublicError::StoreFailed { path, .. }
        | PublicError::StoreIncompatible { path, .. }
        | PublicError::StoreSpaceInsufficient { path, .. }
        | PublicError::StoreUnwritable { path, .. }
        | PublicError::InvalidStorePath { path: Some(path), .. } => location(path),
        _ => Vec::new(),
    }
}

fn location(path: &PathValue) -> Details {
    let text = path.to_string();
    detail("path", if text.is_empty() { "(empty)" } else { &text })
}

/// What to do about something that is no file, but whose content may be a Sample.
fn instead(path: &PathValue, error: &PublicError) -> Details {
    let is_stream =
        matches!(error, PublicError::SampleNotRegular { file_type, .. } if file_type != "directory");
    if is_stream || matches!(path, PathValue::Utf8(text) if STANDARD_INPUT.contains(&text.as_str())) {
        return detail(
            "instead",
            "copy its content into a file and ask about that; standard input is not read",
        );
    }
    Vec::new()
}

fn addresses(candidates: &Candidates<FunctionCandidate>) -> Details {
    let line = |candidate: &FunctionCandidate| {
        let note = if candidate.decompilable { "" } else { " (not decompilable)" };
        (format!("--address {}", candidate.entry), format!("{}{note}", candidate.qualified_name))
    };
    let mut lines: Details = candidates.items.iter().map(line).collect();
    if candidates.has_more {
        lines.extend(detail("and more", format!("{} in all", candidates.total)));
    }
    lines
}

/// Whether the place of the store has to do with it.
fn concerns_store(error: &PublicError) -> bool {
    matches!(
        error,
        PublicError::CorruptAnalysis { .. }
            | PublicError::StoreFailed { .. }
            | PublicError::StoreIncompatible { .. }
            | PublicError::StoreSpaceInsufficient { .. }
            | PublicError::StoreUnwritable { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::address::{Address, Offset};
    use crate::domain::provenance::ReducedProvenance;
    use crate::domain::store_source::StoreSource;

    fn text(error: PublicError, command: &[&str]) -> String {
        let store =
            ReportedStore { path: PathValue::Utf8("/s".to_owned()), source: StoreSource::Environment };
        let known = ReducedProvenance { analysis_store: Some(store), ..ReducedProvenance::default() };
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        describe(&ErrorDocument::new(error, known, None), &command)
    }

    #[test]
    fn an_error_about_a_path_shows_it_and_what_named_it() {
        let path = PathValue::Utf8("/s/a\x1b".to_owned());
        let error = PublicError::StoreUnwritable { path, reason: "read-only".to_owned() };
        let expected = "error: the analysis store cannot be written: read-only\n  path: /s/a\\u{1b}\n  \
            store: /s (from $GHIDR_STORE)\n";
        assert_eq!(text(error, &[]), expected);
        let missing = PublicError::GhidraMissing {
            path: Some(PathValue::Utf8("/nope".to_owned())),
            selected_by: "--ghidra".to_owned(),
        };
        assert_eq!(text(missing, &[]), "error: there is no Ghidra at /nope, which --ghidra names\n");
    }

    #[test]
    fn an_invalid_command_line_leads_to_the_help_of_its_own_command() {
        let error =
            || PublicError::InvalidArguments { argument: None, reason: "r".to_owned(), suggestion: None };
        assert_eq!(text(error(), &[]), "error: r\n  see: ghidr --help\n");
        assert_eq!(text(error(), &["store", "list"]), "error: r\n  see: ghidr store list --help\n");
    }

    #[test]
    fn what_is_no_file_gets_advice_that_a_directory_does_not() {
        let irregular = |file_type: &str| {
            let path = PathValue::Utf8("/p".to_owned());
            text(PublicError::SampleNotRegular { path, file_type: file_type.to_owned() }, &[])
        };
        assert!(
            irregular("character_device")
                .starts_with("error: the sample is not a regular file but a character device\n")
        );
        assert!(irregular("fifo").contains("  instead: copy its content into a file"));
        assert!(!irregular("directory").contains("instead"));
        let dash = PublicError::SampleNotFound { path: PathValue::Utf8("-".to_owned()) };
        assert!(text(dash, &[]).contains("standard input is not read"));
    }

    #[test]
    fn a_declined_cleanup_says_only_that_nothing_happened() {
        let matched = crate::domain::cleanup::CleanupCounts::default();
        let error = PublicError::ConfirmationRequired { matched, declined: true };
        assert_eq!(text(error, &[]), "error: nothing was removed\n");
    }

    #[test]
    fn an_address_in_no_function_may_be_one_without_the_image_base() {
        let nowhere = text(PublicError::FunctionEntryRequired { containing_entry: None }, &[]);
        assert!(nowhere.contains("  see: ghidr inspect SAMPLE names the image base, "), "{nowhere}");
        let entry = Address { space: "ram".into(), offset: Offset::new(0x10, 4) };
        let inside = text(PublicError::FunctionEntryRequired { containing_entry: Some(entry) }, &[]);
        assert!(
            inside.contains("  use: --address ram:0x0010\n") && !inside.contains("image base"),
            "{inside}"
        );
    }
}
