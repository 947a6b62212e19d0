//! Accepts the file of answers, or says how it breaks the protocol.
//!
//! One line for each answered Query, in their order, each judged as strictly as a response. An
//! orderly worker's file must be the one that its response describes, to the last byte. Of a worker
//! that was ended, the lines it completed count: the last one may be cut off, and what follows a
//! line that breaks the protocol is left unread. Memory is bounded by one line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::bounds;
use super::limits::{MAX_ANSWERS_BYTES, MAX_LISTED_WARNINGS};
use super::receive::{check_error, check_faults, check_nothing_ignored, open_regular};
use super::request::Queries;
use super::response::{Answer, AnswersSummary, QueryOutcome, Stopped};
use super::violation::{ProtocolViolation, ReceiveError};
use crate::domain::digest::ContentDigest;
use crate::domain::invocation_files::ANSWERS;

/// Answers that were validated. The file stays readable when its directory is gone.
#[derive(Debug)]
pub struct Answers {
    file: File,
    path: PathBuf,
    count: u64,
    failed: u64,
    bytes: u64,
    max_answer_bytes: u64,
    /// Why an orderly worker answered fewer Queries than it was asked.
    pub stopped: Option<Stopped>,
}

impl Answers {
    /// The answers to `queries` of a worker whose response describes them as `summary`.
    pub fn receive(
        path: &Path,
        queries: &Queries,
        summary: &AnswersSummary,
        max_answer_bytes: u64,
    ) -> Result<Self, ReceiveError> {
        check_summary(queries, summary, max_answer_bytes)?;
        let file = open_regular(path, ANSWERS, "a regular file")?;
        let found = hash(&file, path, summary.bytes)?;
        if found != (summary.bytes, summary.sha256) {
            return Err(violation("the file that the response describes", "another").into());
        }
        let answers = Self {
            file,
            path: path.to_owned(),
            count: summary.count,
            failed: summary.failed,
            bytes: summary.bytes,
            max_answer_bytes,
            stopped: summary.stopped,
        };
        let mut failed = 0;
        let mut last_failed = false;
        let end = answers.each::<ReceiveError>(|answer| {
            last_failed = matches!(answer.outcome, QueryOutcome::Failed { .. });
            failed += u64::from(last_failed);
            Ok(())
        })?;
        if end != summary.bytes || failed != summary.failed {
            return Err(violation("the lines that the response counts", "others").into());
        }
        if summary.stopped == Some(Stopped::Failure) && !last_failed {
            return Err(violation("a failure at the end", "an answer").into());
        }
        Ok(answers)
    }

    /// What a worker that did not end in order completed of the answers to `asked` Queries. It creates the file when it
    /// comes to the first of them: `None` when there is none. Fails only when the system does not read what is there.
    pub fn salvage(path: &Path, asked: usize, max_answer_bytes: u64) -> Result<Option<Self>, ReceiveError> {
        let file = match open_regular(path, ANSWERS, "a regular file") {
            Err(ReceiveError::Violation(_)) => return Ok(None),
            opened => opened?,
        };
        let mut answers = Self {
            file,
            path: path.to_owned(),
            count: asked as u64,
            failed: 0,
            bytes: MAX_ANSWERS_BYTES,
            max_answer_bytes,
            stopped: None,
        };
        let (mut complete, mut failed) = (0, 0);
        let read = answers.each::<ReceiveError>(|answer| {
            complete += 1;
            failed += u64::from(matches!(answer.outcome, QueryOutcome::Failed { .. }));
            Ok(())
        });
        match read {
            Ok(_) | Err(ReceiveError::Violation(_)) => {}
            Err(error @ ReceiveError::Unreadable { .. }) => return Err(error),
        }
        (answers.count, answers.failed) = (complete, failed);
        Ok(Some(answers))
    }

    /// How many Queries were answered: the first ones of the request.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// How many of the answers are failures.
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// Hands over every answer, in order; how many bytes they are.
    pub fn each<E: From<ReceiveError>>(
        &self,
        mut visit: impl FnMut(Answer) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut file = &self.file;
        let unreadable = ReceiveError::unreadable(&self.path);
        file.rewind().map_err(&unreadable)?;
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        let mut bytes = 0;
        for index in 0..self.count {
            line.clear();
            let limit = self.max_answer_bytes.saturating_add(1);
            reader.by_ref().take(limit).read_until(b'\n', &mut line).map_err(&unreadable)?;
            bytes += line.len() as u64;
            if bytes > self.bytes {
                return Err(ReceiveError::from(violation("a bounded file", "a larger one")).into());
            }
            let field = format!("{ANSWERS} line {}", index + 1);
            if line.pop() != Some(b'\n') {
                let expected = format!("a line of at most {} bytes", self.max_answer_bytes);
                return Err(
                    ReceiveError::from(ProtocolViolation::new(&field, expected, "no such line")).into()
                );
            }
            let answer =
                read(&line, index).map_err(|violation| ReceiveError::from(within(&field, violation)))?;
            visit(answer)?;
        }
        Ok(bytes)
    }
}

fn check_summary(
    queries: &Queries,
    summary: &AnswersSummary,
    max_answer_bytes: u64,
) -> Result<(), ProtocolViolation> {
    let asked = queries.items.len() as u64;
    let stopped_well = match summary.stopped {
        None => summary.count == asked,
        Some(Stopped::Failure) => queries.stop_at_failure && summary.failed > 0,
        Some(Stopped::Time) => queries.timeout_seconds.is_some(),
        Some(Stopped::Size) => true,
    };
    let within = summary.count < asked || summary.stopped.is_none();
    let most_failed = if queries.stop_at_failure { 1 } else { summary.count };
    if !stopped_well || !within || summary.count == 0 || summary.failed > most_failed {
        return Err(violation("counts that fit the queries", "others"));
    }
    // A first answer is written whatever its size; no further one beyond the limit.
    if summary.bytes > queries.max_answers_bytes.max(max_answer_bytes.saturating_add(1)) {
        return Err(violation("a bounded file", "a larger one"));
    }
    Ok(())
}

fn hash(mut file: &File, path: &Path, most: u64) -> Result<(u64, ContentDigest), ReceiveError> {
    let mut hasher = Sha256::new();
    let mut reader = file.by_ref().take(most.saturating_add(1));
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&buffer[..count]);
                bytes += count as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ReceiveError::unreadable(path)(error)),
        }
    }
    Ok((bytes, ContentDigest::from_bytes(hasher.finalize().into())))
}

fn read(line: &[u8], index: u64) -> Result<Answer, ProtocolViolation> {
    bounds::check(line)?;
    let answer: Answer = serde_json::from_slice(line)
        .map_err(|error| ProtocolViolation::new("response", "an answer of the protocol", error))?;
    check_nothing_ignored(line, &answer)?;
    if answer.index != index {
        return Err(ProtocolViolation::new("index", index, answer.index));
    }
    match &answer.outcome {
        QueryOutcome::Decompiled { decompilation } => {
            if decompilation.text.contains('\r') {
                return Err(ProtocolViolation::new("text", "LF line ends", "a carriage return"));
            }
            check_faults(&decompilation.faults)?;
            if decompilation.warnings.len() > MAX_LISTED_WARNINGS {
                let expected = format!("at most {MAX_LISTED_WARNINGS}");
                return Err(ProtocolViolation::new("warnings", expected, "more"));
            }
        }
        QueryOutcome::Failed { error } => check_error(error)?,
    }
    Ok(answer)
}

fn violation(expected: &str, received: &str) -> ProtocolViolation {
    ProtocolViolation::new(ANSWERS, expected, received)
}

/// A violation inside a line says in which one.
fn within(line: &str, violation: ProtocolViolation) -> ProtocolViolation {
    let field = match violation.field.as_str() {
        "response" => line.to_owned(),
        field => format!("{line}: {field}"),
    };
    ProtocolViolation { field, ..violation }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FAILURE: &str =
        r#"{"index":0,"outcome":{"status":"failed","error":{"code":"function_not_found","details":{}}}}"#;

    #[test]
    fn salvage_tells_no_file_from_no_answers_and_both_from_what_cannot_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(ANSWERS);
        assert!(Answers::salvage(&path, 2, 4_096).unwrap().is_none());
        for (text, complete) in [(String::new(), 0), (format!("{FAILURE}\n{{\"index\":1,"), 1)] {
            std::fs::write(&path, text).unwrap();
            let answers = Answers::salvage(&path, 2, 4_096).unwrap().unwrap();
            assert_eq!((answers.count(), answers.failed()), (complete, complete));
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/proc/self/mem", &path).unwrap();
        assert!(Answers::salvage(&path, 2, 4_096).unwrap().is_none(), "a link is no file of answers");
        // A regular file whose first byte is an input/output error, and one that is not even opened.
        for path in [Path::new("/proc/self/mem"), &Path::new("/").join("n".repeat(300))] {
            let salvaged = Answers::salvage(path, 2, 4_096);
            assert!(matches!(salvaged, Err(ReceiveError::Unreadable { .. })), "{salvaged:?}");
        }
    }
}
