//! The command line of the worker: written by the harness, read by the same executable in the worker's place.
//!
//! `--worker [--file-size-bytes N] [--probe-sandbox] REQUEST RESPONSE`. Nothing that comes from a Sample is ever part of it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The first argument of a worker; never a public option.
pub const WORKER: &str = "--worker";
const FILE_SIZE: &str = "--file-size-bytes";
const PROBE_SANDBOX: &str = "--probe-sandbox";

/// What a worker is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// To answer its request with Ghidra.
    Answer,
    /// To try what it can reach from where it is.
    ProbeSandbox,
}

/// What a worker is told on its command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerArguments {
    /// Bound of every file the worker writes, made its own `RLIMIT_FSIZE` before anything else.
    pub file_size_bytes: Option<u64>,
    /// What it is started for.
    pub job: Job,
    /// The request, as an absolute path on the worker's side.
    pub request: PathBuf,
    /// Where the response goes, as an absolute path on the worker's side.
    pub response: PathBuf,
}

/// Why a worker command line was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the worker is started by ghidr itself, as `--worker REQUEST RESPONSE`: {0}")]
pub struct WorkerArgumentsError(&'static str);

impl WorkerArguments {
    /// The arguments in the order [`Self::decode`] reads them.
    #[must_use]
    pub fn encode(&self) -> Vec<OsString> {
        let mut arguments = vec![OsString::from(WORKER)];
        if let Some(bytes) = self.file_size_bytes {
            arguments.extend([OsString::from(FILE_SIZE), OsString::from(bytes.to_string())]);
        }
        if self.job == Job::ProbeSandbox {
            arguments.push(PROBE_SANDBOX.into());
        }
        arguments.extend([self.request.clone().into_os_string(), self.response.clone().into_os_string()]);
        arguments
    }

    /// Reads the arguments that follow the program's name.
    ///
    /// # Errors
    ///
    /// For anything but the exact form, relative paths included.
    pub fn decode(arguments: &[OsString]) -> Result<Self, WorkerArgumentsError> {
        let rest = match arguments {
            [first, rest @ ..] if first == WORKER => rest,
            _ => return Err(WorkerArgumentsError("the first argument differs")),
        };
        let (file_size_bytes, rest) = match rest {
            [option, value, rest @ ..] if option == FILE_SIZE => (Some(positive(value)?), rest),
            _ => (None, rest),
        };
        let (job, rest) = match rest {
            [option, rest @ ..] if option == PROBE_SANDBOX => (Job::ProbeSandbox, rest),
            _ => (Job::Answer, rest),
        };
        let [request, response] = rest else {
            return Err(WorkerArgumentsError("exactly two paths are expected"));
        };
        let (request, response) = (absolute(request)?, absolute(response)?);
        Ok(Self { file_size_bytes, job, request, response })
    }
}

fn positive(value: &OsStr) -> Result<u64, WorkerArgumentsError> {
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
    number.ok_or(WorkerArgumentsError("the file size is not a positive number"))
}

fn absolute(value: &OsStr) -> Result<PathBuf, WorkerArgumentsError> {
    let path = Path::new(value);
    if path.is_absolute() { Ok(path.to_owned()) } else { Err(WorkerArgumentsError("a path is not absolute")) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn every_form_survives_the_round_trip() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/a b\n\xff/request.json"));
        for file_size_bytes in [None, Some(1), Some(u64::MAX)] {
            for job in [Job::Answer, Job::ProbeSandbox] {
                let request = odd.clone();
                let arguments = WorkerArguments { file_size_bytes, job, request, response: "/r".into() };
                assert_eq!(WorkerArguments::decode(&arguments.encode()).unwrap(), arguments);
            }
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for wrong in [
            &[][..],
            &["--worker"],
            &["--worker", "/request"],
            &["--worker", "/request", "response"],
            &["--worker", "request", "/response"],
            &["--worker", "/request", "/response", "/more"],
            &["--worker", "--file-size-bytes", "0", "/request", "/response"],
            &["--worker", "--file-size-bytes", "-1", "/request", "/response"],
            &["--worker", "--probe-sandbox", "--file-size-bytes", "1", "/request", "/response"],
            &["--Worker", "/request", "/response"],
        ] {
            let arguments: Vec<OsString> = wrong.iter().map(OsString::from).collect();
            assert!(WorkerArguments::decode(&arguments).is_err(), "{wrong:?} was accepted");
        }
    }
}
