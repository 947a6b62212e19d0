//! The Queries of a batch, read strictly and completely before anything is run.
//!
//! One JSON object per line, and nothing else: no blank line, no unknown or repeated member, no
//! null. Everything is bounded: lines, bytes, bytes of a line. The first thing that is wrong is
//! named by its line.

use std::os::fd::AsFd as _;
use std::path::Path;

use serde::{Deserialize, Deserializer};

use crate::commands::context::Context;
use crate::commands::failure::{Failure, interrupted};
use crate::domain::batch::BatchOperation;
use crate::domain::error::PublicError;
use crate::domain::limits::{
    DEFAULT_PAGE_LIMIT, MAX_BATCH_INPUT_BYTES, MAX_BATCH_LINE_BYTES, MAX_BATCH_QUERIES,
};
use crate::domain::page::PageRequest;
use crate::domain::selector::{FunctionSelector, RequestedSelector};
use crate::process::input;

/// Stands for standard input in the place of a path.
const STANDARD_INPUT: &str = "-";

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

/// One line.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Inspect {},
    Functions {
        #[serde(default, deserialize_with = "present")]
        limit: Option<u64>,
        #[serde(default, deserialize_with = "present")]
        offset: Option<u64>,
        #[serde(default)]
        all: bool,
    },
    Decompile {
        #[serde(default, deserialize_with = "present")]
        name: Option<String>,
        #[serde(default, deserialize_with = "present")]
        address: Option<String>,
    },
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
    let unreadable = |error: std::io::Error| refuse(None, format!("the queries cannot be read: {error}"));
    let interrupts = context.host.interrupts;
    let bytes = if source == Path::new(STANDARD_INPUT) {
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

fn parse(bytes: &[u8]) -> Result<Vec<BatchQuery>, Failure> {
    if bytes.len() as u64 > MAX_BATCH_INPUT_BYTES {
        return Err(refuse(None, format!("the queries are more than {MAX_BATCH_INPUT_BYTES} bytes")));
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
    let line: Line = serde_json::from_slice(line).map_err(|error| describe(&error))?;
    match line {
        Line::Inspect {} => Ok(BatchQuery::Inspect),
        Line::Functions { limit: Some(_), all: true, .. }
        | Line::Functions { offset: Some(_), all: true, .. } => {
            Err("'all' excludes 'limit' and 'offset'".to_owned())
        }
        Line::Functions { all: true, .. } => Ok(BatchQuery::Functions(PageRequest::All)),
        Line::Functions { limit: Some(0), .. } => Err("'limit' is at least 1".to_owned()),
        Line::Functions { limit, offset, .. } => Ok(BatchQuery::Functions(PageRequest::Window {
            offset: offset.unwrap_or(0),
            limit: limit.unwrap_or(DEFAULT_PAGE_LIMIT),
        })),
        Line::Decompile { name: Some(value), address: None } => decompile(RequestedSelector::Name { value }),
        Line::Decompile { name: None, address: Some(value) } => {
            decompile(RequestedSelector::Address { value })
        }
        Line::Decompile { .. } => Err("'decompile' takes exactly one of 'name' and 'address'".to_owned()),
    }
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
