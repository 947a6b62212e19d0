//! Every error and warning code: its status, its message, its place in schema and documentation.

use std::fmt::Write as _;

use ghidr::commands::schemas;
use ghidr::domain::error::PublicError;
use ghidr::domain::exit_status::ExitStatus;
use ghidr::domain::warning::Warning;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::codes;
use crate::support::committed;
use crate::support::schema_samples::{count, sample};

/// One code as its published schema describes it, with an invented value of the producing type.
struct Code<T> {
    code: String,
    meaning: String,
    details: Vec<(String, String)>,
    value: T,
}

fn errors() -> Vec<Code<PublicError>> {
    codes("error", "ErrorBody")
}

fn warnings() -> Vec<Code<Warning>> {
    codes("inspection", "WarningDocument")
}

fn codes<T: DeserializeOwned>(kind: &str, definition: &str) -> Vec<Code<T>> {
    let published = schemas::published();
    let published = published.iter().find(|published| published.kind == kind).unwrap();
    let root = published.schema.as_value();
    let definition = &root["$defs"][definition];
    let alternatives = definition["oneOf"].as_array().unwrap();
    assert!(count(definition) >= alternatives.len());
    let code = |alternative: &Value| {
        let mut schema = alternative.clone();
        schema["$defs"] = root["$defs"].clone();
        let properties = alternative["properties"]["details"]["properties"].as_object();
        let describe = |property: &Value| prose(property["description"].as_str().unwrap());
        Code {
            code: alternative["properties"]["code"]["const"].as_str().unwrap().to_owned(),
            meaning: prose(alternative["description"].as_str().expect("a meaning")),
            details: properties
                .into_iter()
                .flatten()
                .map(|(name, property)| (name.clone(), describe(property)))
                .collect(),
            value: serde_json::from_value(sample(&schema, 0)).unwrap(),
        }
    };
    alternatives.iter().map(code).collect()
}

fn prose(description: &str) -> String {
    description.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_error_code_has_a_documented_exit_status() {
    let mut timeouts = Vec::new();
    for Code { code, value, .. } in errors() {
        let expected = match code.as_str() {
            "invalid_arguments" | "invalid_batch" => ExitStatus::Usage,
            "interrupted" => ExitStatus::Interrupted,
            code if code.ends_with("_timeout") => ExitStatus::Timeout,
            _ => ExitStatus::Failure,
        };
        assert_eq!(value.exit_status(), expected, "{code}");
        if expected == ExitStatus::Timeout {
            timeouts.push(code);
        }
    }
    assert_eq!(timeouts, ["analysis_timeout", "decompile_timeout", "watchdog_timeout"]);
}

#[test]
fn retryable_says_that_the_same_arguments_may_succeed_later() {
    let retryable: Vec<String> =
        errors().into_iter().filter(|code| code.value.retryable()).map(|code| code.code).collect();
    let expected = [
        "analysis_busy",
        "cleanup_incomplete",
        "interrupted",
        "output_failed",
        "sample_changed",
        "store_space_insufficient",
        "watchdog_timeout",
    ];
    assert_eq!(retryable, expected);
}

#[test]
fn messages_are_lower_case_fragments_without_a_full_stop() {
    let errors = errors().into_iter().map(|code| (code.code, code.value.to_string()));
    let warnings = warnings().into_iter().map(|code| (code.code, code.value.to_string()));
    for (code, message) in errors.chain(warnings) {
        let first = message.chars().next().unwrap();
        let is_fragment = first.is_lowercase() || first.is_ascii_digit() || message.starts_with("Ghidra ");
        assert!(is_fragment, "{code}: {message}");
        assert!(
            !message.ends_with('.') && !message.contains('\n') && message.len() < 200,
            "{code}: {message}"
        );
    }
}

#[test]
fn codes_are_sorted_unique_and_in_snake_case() {
    let errors: Vec<String> = errors().into_iter().map(|code| code.code).collect();
    let warnings: Vec<String> = warnings().into_iter().map(|code| code.code).collect();
    for codes in [&errors, &warnings] {
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:#?}");
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        assert!(codes.iter().all(|code| code.bytes().all(allowed)), "{codes:#?}");
    }
    assert!(errors.iter().all(|code| !warnings.contains(code)), "a code is both");
}

#[test]
fn every_code_is_provoked_through_an_executable_and_says_what_to_do() {
    let errors: Vec<String> = errors().into_iter().map(|code| code.code).collect();
    let warnings: Vec<String> = warnings().into_iter().map(|code| code.code).collect();
    codes::check(codes::ERRORS, &errors);
    codes::check(codes::WARNINGS, &warnings);
}

/// A code that nothing raises misleads everybody who writes a handler for it.
#[test]
fn every_code_is_raised_somewhere() {
    let production: String = committed::files_below("src", ".rs")
        .iter()
        .filter(|path| !path.ends_with("domain/error.rs") && !path.ends_with("domain/warning.rs"))
        .map(|path| std::fs::read_to_string(committed::project().join(path)).unwrap())
        .map(|text| text.split("#[cfg(test)]").next().unwrap().to_owned())
        .collect();
    let domain = std::fs::read_to_string(committed::project().join("src/domain/warning.rs")).unwrap();
    for code in errors() {
        let variant = format!("PublicError::{}", camel(&code.code));
        assert!(production.contains(&variant), "nothing raises {variant}");
    }
    for code in warnings() {
        let name = camel(&code.code);
        let raised =
            production.contains(&format!("Warning::{name}")) || domain.contains(&format!("Self::{name} {{"));
        assert!(raised, "nothing raises Warning::{name}");
    }
}

fn camel(code: &str) -> String {
    code.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

#[test]
fn the_page_about_errors_is_generated() {
    let mut page = String::from(
        "# Errors and warnings\n\n\
        Generated from the types that produce them; a test compares this page with the code. Control flow should look\n\
        at `code` and `details` only: `message` is for people and may change.\n\n\
        ## Exit statuses\n\n\
        | status | meaning |\n|---|---|\n\
        | 0 | success: one document on stdout, or a discovery text |\n\
        | 1 | failure |\n| 2 | invalid arguments |\n| 124 | a time limit expired |\n| 130 | interrupted |\n\n\
        ## Errors\n\n\
        A failed command prints one document of kind `error` on stderr and nothing on stdout. `retryable` means that the\n\
        same arguments may succeed later.\n",
    );
    for code in errors() {
        let status = code.value.exit_status() as u8;
        let retryable = if code.value.retryable() { ", retryable" } else { "" };
        section(
            &mut page,
            &code.code,
            &format!("{} Exit status {status}{retryable}.", code.meaning),
            codes::advice(codes::ERRORS, &code.code),
            &code.details,
        );
    }
    page.push_str(
        "\n## Warnings\n\nA warning never stands for missing data that was asked for; that is an error. Every document lists \
        its warnings\nwithout duplicates, ordered by code and then by details.\n",
    );
    for code in warnings() {
        section(
            &mut page,
            &code.code,
            &code.meaning,
            codes::advice(codes::WARNINGS, &code.code),
            &code.details,
        );
    }
    committed::check("docs/errors.md", page.as_bytes(), "contract::registry");
}

fn section(page: &mut String, code: &str, text: &str, advice: &str, details: &[(String, String)]) {
    let _ = write!(page, "\n### `{code}`\n\n{text}\n\nWhat to do: {advice}\n");
    if !details.is_empty() {
        page.push('\n');
    }
    for (name, description) in details {
        let _ = writeln!(page, "- `{name}`: {description}");
    }
}
