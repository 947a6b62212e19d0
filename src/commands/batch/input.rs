//! The Queries of a batch, read strictly and completely before anything is run.
//!
//! One JSON object per line, and nothing else: no blank line, no unknown or repeated member, no
//! null. Everything is bounded: lines, bytes, bytes of a line. The first thing that is wrong is
//! named by its line.

use std::os::fd::AsFd as _;
use std::path::Path;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::commands::context::Context;
use crate::commands::failure::{Failure, interrupted};
use crate::domain::batch::BatchOperation;
use crate::domain::error::PublicError;
use crate::domain::limits::{
    DEFAULT_PAGE_LIMIT, MAX_BATCH_INPUT_BYTES, MAX_BATCH_LINE_BYTES, MAX_BATCH_QUERIES,
};
use crate::domain::page::PageRequest;
use crate::domain::path_value::PathValue;
use crate::domain::selector::{FunctionSelector, RequestedSelector};
use crate::process::input;

/// Stands for standard input in the place of a path.
const STANDARD_INPUT: &str = "-";

/// What `op` can be.
const OPERATIONS: &str = "there are 'inspect', 'functions' and 'decompile'";

/// What some editors put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One Query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchQuery {
    /// As `inspect`.
    Inspect,
    /// As `functions`.
    Functions(PageRequest),
    /// As `decompile`.
    Decompile {
        /// The selector as it was given.
        requested: RequestedSelector,
        /// What it means.
        selector: FunctionSelector,
    },
}

/// One line: the members of every operation. Which of them an operation takes is checked afterwards, in words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default, deserialize_with = "present")]
    op: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    limit: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    offset: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    all: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    name: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    address: Option<Value>,
}

impl BatchQuery {
    /// What it asks.
    pub const fn operation(&self) -> BatchOperation {
        match self {
            Self::Inspect => BatchOperation::Inspect,
            Self::Functions(_) => BatchOperation::Functions,
            Self::Decompile { .. } => BatchOperation::Decompile,
        }
    }
}

/// Reads the Queries from a file, or from standard input.
pub fn read(context: &Context<'_>, source: &Path) -> Result<Vec<BatchQuery>, Failure> {
    let is_standard_input = source == Path::new(STANDARD_INPUT);
    let unreadable = |error: std::io::Error| {
        let place = if is_standard_input { "standard input".to_owned() } else { named(source) };
        refuse(None, format!("the queries cannot be read from {place}: {error}"))
    };
    let interrupts = context.host.interrupts;
    let bytes = if is_standard_input {
        let standard_input = (context.host.standard_input)().map_err(unreadable)?;
        input::read(standard_input.as_fd(), MAX_BATCH_INPUT_BYTES, interrupts)
    } else {
        let file = input::open(source).map_err(unreadable)?;
        input::read(file.as_fd(), MAX_BATCH_INPUT_BYTES, interrupts)
    };
    let bytes = bytes.map_err(unreadable)?;
    if let Some(signal) = interrupts.first() {
        return Err(interrupted(signal, None).into());
    }
    parse(&bytes)
}

fn named(path: &Path) -> String {
    format!("'{}'", PathValue::from(path))
}

fn parse(bytes: &[u8]) -> Result<Vec<BatchQuery>, Failure> {
    if bytes.len() as u64 > MAX_BATCH_INPUT_BYTES {
        return Err(refuse(None, format!("the queries are more than {MAX_BATCH_INPUT_BYTES} bytes")));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return Err(refuse(
            Some(1),
            "it begins with a byte order mark; save the queries without one".to_owned(),
        ));
    }
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if text.is_empty() {
        return Err(refuse(None, "there is no query".to_owned()));
    }
    let mut queries = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let number = Some(index as u64 + 1);
        if index == MAX_BATCH_QUERIES {
            return Err(refuse(number, format!("a batch has at most {MAX_BATCH_QUERIES} queries")));
        }
        queries.push(parse_line(line).map_err(|reason| refuse(number, reason))?);
    }
    Ok(queries)
}

fn parse_line(line: &[u8]) -> Result<BatchQuery, String> {
    if line.len() > MAX_BATCH_LINE_BYTES {
        return Err(format!("a query has at most {MAX_BATCH_LINE_BYTES} bytes"));
    }
    let trimmed = line.trim_ascii();
    if trimmed.is_empty() {
        return Err("it is empty, and must be a query".to_owned());
    }
    // Serde takes an array for a struct, too.
    if !trimmed.starts_with(b"{") {
        return Err("it is not a JSON object, which begins with {".to_owned());
    }
    let line: Line = serde_json::from_slice(line).map_err(|error| describe(&error))?;
    let op = text("op", line.op.as_ref())?;
    let op = op.ok_or_else(|| format!("'op' is missing; {OPERATIONS}"))?;
    let mut given = [
        ("limit", &line.limit),
        ("offset", &line.offset),
        ("all", &line.all),
        ("name", &line.name),
        ("address", &line.address),
    ]
    .into_iter()
    .filter(|(_, value)| value.is_some());
    let mut takes_only = |taken: &[&str]| match given.find(|(name, _)| !taken.contains(name)) {
        Some((name, _)) => Err(format!("'{op}' takes no '{name}'")),
        None => Ok(()),
    };
    match op.as_str() {
        "inspect" => takes_only(&[]).map(|()| BatchQuery::Inspect),
        "functions" => {
            takes_only(&["limit", "offset", "all"])?;
            functions(&line)
        }
        "decompile" => {
            takes_only(&["name", "address"])?;
            match (text("name", line.name.as_ref())?, text("address", line.address.as_ref())?) {
                (Some(value), None) => decompile(RequestedSelector::Name { value }),
                (None, Some(value)) => decompile(RequestedSelector::Address { value }),
                _ => Err("'decompile' takes exactly one of 'name' and 'address'".to_owned()),
            }
        }
        _ => Err(format!("there is no operation '{op}'; {OPERATIONS}")),
    }
}

fn functions(line: &Line) -> Result<BatchQuery, String> {
    let (limit, offset) = (whole("limit", line.limit.as_ref())?, whole("offset", line.offset.as_ref())?);
    let all = match &line.all {
        None => false,
        Some(value) => value.as_bool().ok_or_else(|| "'all' must be true or false".to_owned())?,
    };
    match (all, limit, offset) {
        (true, None, None) => Ok(BatchQuery::Functions(PageRequest::All)),
        (true, ..) => Err("'all' excludes 'limit' and 'offset'".to_owned()),
        (false, Some(0), _) => Err("'limit' is at least 1".to_owned()),
        (false, limit, offset) => Ok(BatchQuery::Functions(PageRequest::Window {
            offset: offset.unwrap_or(0),
            limit: limit.unwrap_or(DEFAULT_PAGE_LIMIT),
        })),
    }
}

fn whole(name: &str, value: Option<&Value>) -> Result<Option<u64>, String> {
    let whole = |value: &Value| value.as_u64().ok_or_else(|| format!("'{name}' must be a whole number"));
    value.map(whole).transpose()
}

fn text(name: &str, value: Option<&Value>) -> Result<Option<String>, String> {
    let text =
        |value: &Value| value.as_str().map(str::to_owned).ok_or_else(|| format!("'{name}' must be a string"));
    value.map(text).transpose()
}

fn decompile(requested: RequestedSelector) -> Result<BatchQuery, String> {
    let selector = requested.parse().map_err(|error| {
        let value = requested.value();
        let meant = FunctionSelector::suggest_address(value);
        let meant = meant.map(|text| format!("; use: {text}")).unwrap_or_default();
        format!("'{value}' is no address: {error}{meant}")
    })?;
    Ok(BatchQuery::Decompile { requested, selector })
}

/// What serde says, without its own idea of a line: here every document is one.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = text.strip_suffix(&place).unwrap_or(&text);
    if error.column() == 0 { reason.to_owned() } else { format!("{reason} at column {}", error.column()) }
}

/// A member that is there has a value.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn refuse(line: Option<u64>, reason: String) -> Failure {
    PublicError::InvalidBatch { line, reason }.into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn refused(text: &[u8]) -> (Option<u64>, String) {
        match *parse(text).unwrap_err().error {
            PublicError::InvalidBatch { line, reason } => (line, reason),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn every_operation_has_its_arguments_and_defaults() {
        let text = concat!(
            "{\"op\":\"inspect\"}\n{\"op\":\"functions\"}\n{\"limit\":5,\"op\":\"functions\",\"offset\":2}\n",
            "{\"op\":\"functions\",\"all\":true}\n{\"op\":\"decompile\",\"name\":\"a\\u0062\"}\r\n",
            "{\"op\":\"decompile\",\"address\":\"ram:0x0010\"}"
        );
        let queries = parse(text.as_bytes()).unwrap();
        assert_eq!(queries[0], BatchQuery::Inspect);
        assert_eq!(
            queries[1],
            BatchQuery::Functions(PageRequest::Window { offset: 0, limit: DEFAULT_PAGE_LIMIT })
        );
        assert_eq!(queries[2], BatchQuery::Functions(PageRequest::Window { offset: 2, limit: 5 }));
        assert_eq!(queries[3], BatchQuery::Functions(PageRequest::All));
        let BatchQuery::Decompile { requested, .. } = &queries[4] else { unreachable!() };
        assert_eq!(*requested, RequestedSelector::Name { value: "ab".into() });
        assert_eq!(queries.len(), 6);
    }

    #[test]
    fn the_first_wrong_line_is_named() {
        let wrong: [&[u8]; 23] = [
            b"",
            b" ",
            b"null",
            b"[]",
            b"{}",
            b"{\"op\":\"inspect\"} {\"op\":\"inspect\"}",
            b"{\"op\":\"inspect\",\"op\":\"inspect\"}",
            b"{\"op\":\"inspect\",\"more\":1}",
            b"{\"op\":\"erase\"}",
            b"{\"op\":\"Inspect\"}",
            b"{\"op\":1}",
            b"{\"op\":\"functions\",\"limit\":0}",
            b"{\"op\":\"functions\",\"limit\":-1}",
            b"{\"op\":\"functions\",\"limit\":1.0}",
            b"{\"op\":\"functions\",\"limit\":\"1\"}",
            b"{\"op\":\"functions\",\"limit\":null}",
            b"{\"op\":\"functions\",\"limit\":1,\"limit\":1}",
            b"{\"op\":\"functions\",\"all\":true,\"offset\":0}",
            b"{\"op\":\"decompile\"}",
            b"{\"op\":\"decompile\",\"name\":\"a\",\"address\":\"ram:0x1\"}",
            b"{\"op\":\"decompile\",\"name\":\"a\",\"name\":\"a\"}",
            b"{\"op\":\"decompile\",\"address\":\"ram:0X1\"}",
            b"{\"op\":\"decompile\",\"name\":\"\xff\"}",
        ];
        for line in wrong {
            let mut text = b"{\"op\":\"inspect\"}\n".to_vec();
            text.extend(line);
            text.extend(b"\n{\"op\":\"inspect\"}\n");
            let (number, reason) = refused(&text);
            assert_eq!(number, Some(2), "{}: {reason}", String::from_utf8_lossy(line));
            assert!(!reason.contains(" line "), "{reason}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_words_of_the_parser() {
        let cases: [(&[u8], &str); 17] = [
            (b"", "it is empty, and must be a query"),
            (b" \t\r", "it is empty, and must be a query"),
            (b"[\"inspect\"]", "it is not a JSON object, which begins with {"),
            (b" [\"functions\",1]", "it is not a JSON object, which begins with {"),
            (b"\"inspect\"", "it is not a JSON object, which begins with {"),
            (b"inspect", "it is not a JSON object, which begins with {"),
            (b"{}", "'op' is missing; there are 'inspect', 'functions' and 'decompile'"),
            (b"{\"op\":null}", "'op' must be a string"),
            (b"{\"op\":[\"inspect\"]}", "'op' must be a string"),
            (
                b"{\"op\":\"e\"}",
                "there is no operation 'e'; there are 'inspect', 'functions' and 'decompile'",
            ),
            (b"{\"op\":\"functions\",\"limit\":\"5\"}", "'limit' must be a whole number"),
            (b"{\"op\":\"functions\",\"offset\":-1}", "'offset' must be a whole number"),
            (b"{\"op\":\"functions\",\"offset\":18446744073709551616}", "'offset' must be a whole number"),
            (b"{\"op\":\"functions\",\"all\":1}", "'all' must be true or false"),
            (b"{\"op\":\"decompile\",\"name\":7}", "'name' must be a string"),
            (b"{\"op\":\"inspect\",\"name\":\"main\"}", "'inspect' takes no 'name'"),
            (b"{\"op\":\"functions\",\"limit\":1,\"address\":\"\"}", "'functions' takes no 'address'"),
        ];
        for (line, expected) in cases {
            let text = [b"{\"op\":\"inspect\"}\n", line, b"\n{\"op\":\"inspect\"}"].concat();
            assert_eq!(refused(&text), (Some(2), expected.to_owned()), "{}", String::from_utf8_lossy(line));
        }
        let (line, reason) = refused(b"\xef\xbb\xbf{\"op\":\"inspect\"}\n");
        assert!(line == Some(1) && reason.contains("byte order mark"), "{line:?} {reason}");
    }

    #[test]
    fn what_cannot_be_read_is_named_byte_by_byte() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/q\xff.jsonl"));
        assert_eq!(named(path), "'/q\\xff.jsonl'");
    }

    #[test]
    fn the_input_is_bounded_in_every_direction() {
        assert_eq!(refused(b"").0, None);
        assert_eq!(refused(b"\n").0, None);
        let query = b"{\"op\":\"inspect\"}\n";
        assert_eq!(parse(&query.repeat(MAX_BATCH_QUERIES)).unwrap().len(), MAX_BATCH_QUERIES);
        let (line, reason) = refused(&query.repeat(MAX_BATCH_QUERIES + 1));
        assert_eq!(line, Some(MAX_BATCH_QUERIES as u64 + 1), "{reason}");
        let frame = "{\"op\":\"decompile\",\"name\":\"\"}".len();
        let named = |length: usize| format!("{{\"op\":\"decompile\",\"name\":\"{}\"}}\n", "n".repeat(length));
        let longest = named(MAX_BATCH_LINE_BYTES - frame);
        assert!(parse(longest.as_bytes()).is_ok());
        assert_eq!(refused(named(MAX_BATCH_LINE_BYTES - frame + 1).as_bytes()).0, Some(1));
        let most = longest.repeat(MAX_BATCH_INPUT_BYTES as usize / longest.len() + 1);
        assert_eq!(refused(most.as_bytes()).0, None);
    }
}
