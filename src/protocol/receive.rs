//! Accepts a response, or says how it breaks the protocol.
//!
//! Only a final, regular, bounded `response.json` counts; the worker's output streams are
//! never read for results.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::Serialize;

use super::bounds;
use super::limits::PROTOCOL_VERSION;
use super::request::{Arguments, Operation, Request};
use super::response::{Outcome, Response};
use super::violation::{ProtocolViolation, ReceiveError};
use crate::domain::fault::{FAULT_LIMIT, FaultList};
use crate::domain::profile::{OptionValue, ResolvedOption};
use crate::domain::worker_error::WorkerError;

/// How the worker that left a response came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, having answered: the response is the last one.
    InOrder,
    /// Before that. What it published of an Analysis holds without answers to its Queries.
    CutShort,
}

/// Reads and validates the response to `request`, at most `max_bytes` long.
pub fn receive(
    path: &Path,
    request: &Request,
    ending: Ending,
    max_bytes: u64,
) -> Result<Response, ReceiveError> {
    let bytes = read_bounded(path, max_bytes)?;
    bounds::check(&bytes)?;
    let response: Response = serde_json::from_slice(&bytes)
        .map_err(|error| ProtocolViolation::new("response", "a document of the protocol", error))?;
    check_nothing_ignored(&bytes, &response)?;
    check_echo(request, &response)?;
    check_outcome(&request.arguments, &response.outcome, ending)?;
    Ok(response)
}

/// The bytes of a regular file of at most `max_bytes`.
pub fn read_bounded(path: &Path, max_bytes: u64) -> Result<Vec<u8>, ReceiveError> {
    let file = open_regular(path, "response", "a regular response.json")?;
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(ReceiveError::unreadable(path))?;
    if bytes.len() as u64 > max_bytes {
        return Err(ProtocolViolation::new("response", format!("at most {max_bytes} bytes"), "more").into());
    }
    Ok(bytes)
}

/// Opens a file that a worker left, if it is one; `field` and `expected` name it in a violation.
pub(super) fn open_regular(path: &Path, field: &str, expected: &str) -> Result<File, ReceiveError> {
    let violation = |received: &str| ProtocolViolation::new(field, expected, received);
    let unreadable = ReceiveError::unreadable(path);
    // A worker can leave nothing, a link, a FIFO or a forbidden file; any other failure is the system's.
    let refused = |error: Errno| match error {
        Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ACCESS => violation(&error.to_string()).into(),
        other => unreadable(other.into()),
    };
    // INVARIANT(response-is-regular): NOFOLLOW and NONBLOCK keep a symlink or FIFO that a
    // hostile worker planted from redirecting or blocking the harness.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(refused)?);
    if !file.metadata().map_err(&unreadable)?.is_file() {
        return Err(violation("another kind of file").into());
    }
    Ok(file)
}

/// Types that are also public documents tolerate unknown fields when parsed; here nothing
/// may be left over.
pub(super) fn check_nothing_ignored(
    bytes: &[u8],
    document: &impl Serialize,
) -> Result<(), ProtocolViolation> {
    let received: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
    if received.is_some() && received == serde_json::to_value(document).ok() {
        return Ok(());
    }
    Err(ProtocolViolation::new("response", "only known fields in their canonical spelling", "others"))
}

fn check_echo(request: &Request, response: &Response) -> Result<(), ProtocolViolation> {
    if response.protocol_version != PROTOCOL_VERSION {
        return Err(ProtocolViolation::new("protocol_version", PROTOCOL_VERSION, response.protocol_version));
    }
    if response.invocation_id != request.invocation_id {
        return Err(ProtocolViolation::new("invocation_id", request.invocation_id, response.invocation_id));
    }
    let expected = request.arguments.operation();
    if response.operation != expected {
        return Err(ProtocolViolation::new(
            "operation",
            format!("{expected:?}"),
            format!("{:?}", response.operation),
        ));
    }
    Ok(())
}

fn check_outcome(arguments: &Arguments, outcome: &Outcome, ending: Ending) -> Result<(), ProtocolViolation> {
    match (arguments, outcome) {
        (_, Outcome::Failed { error }) => check_error(error),
        (Arguments::Probe {}, Outcome::Probed { .. }) => Ok(()),
        (Arguments::Query { .. }, Outcome::Queried { .. }) => Ok(()),
        (Arguments::Analyze { queries, .. }, Outcome::Analyzed { analysis, answers }) => {
            check_faults(&analysis.faults)?;
            check_options(&analysis.loader_options)?;
            check_options(&analysis.analyzer_options)?;
            if !analysis.suspicions.is_sorted_by(|a, b| a < b) {
                return Err(ProtocolViolation::new("suspicions", "each once, in order", "another list"));
            }
            let is_early = ending == Ending::CutShort && answers.is_none();
            if queries.is_some() == answers.is_some() || is_early {
                return Ok(());
            }
            Err(ProtocolViolation::new("answers", "answers exactly when there were queries", "another"))
        }
        _ => Err(ProtocolViolation::new(
            "outcome",
            format!("an outcome of {:?}", Operation::from(arguments)),
            "one of another operation",
        )),
    }
}

impl From<&Arguments> for Operation {
    fn from(arguments: &Arguments) -> Self {
        arguments.operation()
    }
}

/// A value is written as its type says: the digest of a Profile knows one spelling of it.
fn check_options(options: &[ResolvedOption]) -> Result<(), ProtocolViolation> {
    let agrees = |option: &ResolvedOption| match option.option_type.as_str() {
        "boolean" => matches!(option.value, OptionValue::Boolean(_)),
        "integer" | "long" => matches!(option.value, OptionValue::Integer(_)),
        _ => matches!(option.value, OptionValue::Text(_)),
    };
    match options.iter().find(|option| !agrees(option)) {
        None => Ok(()),
        Some(option) => Err(ProtocolViolation::new("options", "a value of its option's type", &option.name)),
    }
}

pub(super) fn check_faults(faults: &FaultList) -> Result<(), ProtocolViolation> {
    if faults.items.len() <= FAULT_LIMIT && faults.total >= faults.items.len() as u64 {
        return Ok(());
    }
    Err(ProtocolViolation::new("faults", "a bounded list with its total", "another"))
}

pub(super) fn check_error(error: &WorkerError) -> Result<(), ProtocolViolation> {
    let bounded = match error {
        WorkerError::AmbiguousTarget { candidates } => candidates.is_bounded(),
        WorkerError::ContainerSample { members, .. } => members.is_bounded(),
        WorkerError::FunctionSelectorAmbiguous { candidates } => candidates.is_bounded(),
        WorkerError::AddressSpaceNotFound { spaces } => spaces.is_bounded(),
        WorkerError::UnsupportedTarget { loaders, .. } => {
            loaders.len() <= crate::domain::limits::CANDIDATE_LIMIT
        }
        _ => true,
    };
    if bounded {
        return Ok(());
    }
    Err(ProtocolViolation::new("candidates", "a bounded list that discloses its bound", "another"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::invocation_id::InvocationId;
    use crate::protocol::encode::tests::request_with_name;
    use std::os::unix::fs::symlink;

    fn reply(fields: &str) -> String {
        format!(r#"{{"protocol_version":1,"invocation_id":"{}",{fields}}}"#, "07".repeat(16))
    }

    const GOOD: &str = r#""operation":"query","phases":[],"outcome":{"status":"queried","answers":{"bytes":1,"sha256":"0707070707070707070707070707070707070707070707070707070707070707","count":1,"failed":0,"stopped":null}}"#;

    fn receive_text(text: &str) -> Result<Response, ReceiveError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("response.json");
        std::fs::write(&path, text).unwrap();
        receive(&path, &request_with_name("main".into()), Ending::InOrder, 4_096)
    }

    fn field_of(result: Result<Response, ReceiveError>) -> String {
        let Err(ReceiveError::Violation(violation)) = result else { unreachable!("{result:?}") };
        violation.field
    }

    #[test]
    fn a_good_response_is_accepted() {
        let response = receive_text(&reply(GOOD)).unwrap();
        assert_eq!(response.invocation_id, InvocationId::from_bytes([7; 16]));
    }

    #[test]
    fn a_failure_of_the_system_is_not_the_workers() {
        let path = Path::new("/").join("n".repeat(300));
        let received = receive(&path, &request_with_name("main".into()), Ending::InOrder, 4_096);
        assert!(matches!(received, Err(ReceiveError::Unreadable { .. })), "{received:?}");
    }

    #[test]
    fn each_echoed_field_has_its_own_violation() {
        let version = reply(GOOD).replace(r#""protocol_version":1"#, r#""protocol_version":2"#);
        assert_eq!(field_of(receive_text(&version)), "protocol_version");
        let id = reply(GOOD).replace("0707", "0808");
        assert_eq!(field_of(receive_text(&id)), "invocation_id");
        let operation = reply(GOOD).replace(r#""operation":"query""#, r#""operation":"probe""#);
        assert_eq!(field_of(receive_text(&operation)), "operation");
    }

    #[test]
    fn unknown_missing_duplicate_and_trailing_content_is_refused() {
        let unknown = reply(&format!(r#"{GOOD},"extra":1"#));
        let duplicate = reply(&format!(r#"{GOOD},"phases":[]"#));
        let missing = reply(&GOOD.replace(r#""phases":[],"#, ""));
        let trailing = format!("{} {{}}", reply(GOOD));
        for text in [unknown, duplicate, missing, trailing, String::new()] {
            assert_eq!(field_of(receive_text(&text)), "response", "{text}");
        }
    }

    #[test]
    fn unknown_fields_are_refused_at_every_depth() {
        let nested = reply(
            r#""operation":"query","phases":[],"outcome":{"status":"failed","error":{"code":"decompile_failed","details":{"entry":{"space":"ram","offset":"0x1","extra":1},"reason":"r"}}}"#,
        );
        assert_eq!(field_of(receive_text(&nested)), "response");
        assert!(receive_text(&nested.replace(r#","extra":1"#, "")).is_ok());
    }

    #[test]
    fn an_outcome_of_another_operation_is_refused() {
        let probe = reply(
            r#""operation":"query","phases":[],"outcome":{"status":"probed","probe":{"ghidra_version":"","ghidra_build":"","java_version":"","java_compiler":true,"native_decompiler":true,"fonts":true}}"#,
        );
        assert_eq!(field_of(receive_text(&probe)), "outcome");
    }

    #[test]
    fn response_is_regular_and_bounded() {
        let request = request_with_name("main".into());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("response.json");
        assert_eq!(field_of(receive(&path, &request, Ending::InOrder, 10)), "response");
        std::fs::write(directory.path().join("elsewhere"), reply(GOOD)).unwrap();
        symlink(directory.path().join("elsewhere"), &path).unwrap();
        assert_eq!(field_of(receive(&path, &request, Ending::InOrder, 4_096)), "response");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(field_of(receive(&path, &request, Ending::InOrder, 4_096)), "response");
        std::fs::remove_dir(&path).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(field_of(receive(&path, &request, Ending::InOrder, 4_096)), "response");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, reply(GOOD)).unwrap();
        let size = reply(GOOD).len() as u64;
        assert!(receive(&path, &request, Ending::InOrder, size).is_ok());
        assert_eq!(field_of(receive(&path, &request, Ending::InOrder, size - 1)), "response");
    }
}
