//! The launcher's side of a scripted worker: reads the request, leaves the answer, reports the end.

use std::path::Path;
use std::time::Duration;

use ghidr::process::outcome::{CapturedStream, Segment};
use ghidr::process::worker_arguments::WorkerArguments;
use ghidr::process::{LaunchPlan, Outcome, Supervision};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::fake_answer::Answer;

/// What a worker is started with.
pub struct Called {
    /// Its arguments.
    pub arguments: WorkerArguments,
    /// Its request.
    pub request: Value,
}

/// Reads what the plan hands the worker.
pub fn called(plan: &LaunchPlan) -> Called {
    let worker = plan.arguments.iter().position(|argument| argument == "--worker").expect("a worker");
    let arguments = WorkerArguments::decode(&plan.arguments[worker..]).expect("worker arguments");
    let request = serde_json::from_slice(&std::fs::read(&arguments.request).unwrap()).unwrap();
    Called { arguments, request }
}

/// Leaves everything behind and ends as the answer says.
pub fn play(called: &Called, supervision: &mut Supervision<'_>, mut answer: Answer) -> Outcome {
    (supervision.on_tick)(Duration::from_millis(1));
    answer.leave_behind(&called.arguments.response);
    let capture = supervision.capture_directory;
    Outcome {
        worker_status: answer.status,
        program_status: answer.status,
        ended_by: answer.ended_by,
        termination: answer.termination,
        stdout: captured(capture, "stdout.log", &answer.stdout, answer.stdout_observed_bytes),
        stderr: captured(capture, "stderr.log", &answer.stderr, None),
        peak_memory_bytes: 0,
        elapsed: Duration::from_millis(1),
    }
}

fn captured(directory: &Path, name: &str, bytes: &[u8], observed: Option<u64>) -> CapturedStream {
    let path = directory.join(name);
    std::fs::write(&path, bytes).unwrap();
    let length = bytes.len() as u64;
    let segment = Segment { offset: 0, length, path, sha256: Sha256::digest(bytes).into() };
    CapturedStream {
        observed_bytes: observed.unwrap_or(length),
        truncated: observed.is_some(),
        segments: if bytes.is_empty() { Vec::new() } else { vec![segment] },
    }
}
