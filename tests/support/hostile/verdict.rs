//! What a hostile Sample may lead to, whoever runs it: one valid document for each question, a
//! success or a typed error that blames the Sample or names a limit, and answers that agree.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use crate::support::ghidr::Run;
use crate::support::sweep::{Counts, count};

/// Flags of every question, besides the engine's own limits of time.
const LIMITS: [&str; 4] = ["--max-heap-mib", "1024", "--max-inline-bytes", "1000000000"];
/// Errors that blame the Sample, or name the limit it exceeded. Everything else, a broken protocol
/// or a dead worker for example, is a defect.
const TYPED: [&str; 15] = [
    "ambiguous_target",
    "analysis_failed",
    "analysis_timeout",
    "container_sample",
    "decompile_failed",
    "decompile_timeout",
    "disk_quota_exceeded",
    "function_not_decompilable",
    "import_failed",
    "java_heap_exhausted",
    "memory_limit_exceeded",
    "result_too_large",
    "task_limit_exceeded",
    "unsupported_target",
    "watchdog_timeout",
];
/// What is counted when the Sample was analyzed, or at least imported.
pub const REACHED: &str = "analysis was reached";
/// What is counted when a function was decompiled, and when that was a typed error.
pub const DECOMPILED: &str = "one function decompiled";
const NOT_DECOMPILED: &str = "one function not decompiled: a typed error";
/// Phases of a worker in which the Sample has been imported.
const AFTER_IMPORT: [&str; 5] = ["analysis", "facts", "save", "open", "query"];

/// Asks about the Sample at `path` and counts what came of it; `ask` runs one command in JSON
/// format and has checked its framing. The engine has `seconds` for an analysis, and as many for a
/// function. With `decompile`, one function is decompiled too.
pub fn examine(
    ask: &dyn Fn(&[OsString]) -> Run,
    path: &Path,
    seconds: u32,
    decompile: Option<u64>,
    counts: &mut Counts,
) -> String {
    let seconds = seconds.to_string();
    let times = ["--analysis-timeout-seconds", &seconds, "--decompile-timeout-seconds", &seconds];
    let ask = |command: &str, more: &[&str]| {
        let mut arguments = vec![OsString::from(command), path.into()];
        arguments.extend(more.iter().chain(&times).chain(&LIMITS).map(OsString::from));
        let run = ask(&arguments);
        let document = run.document();
        let code = document["error"]["code"].as_str().unwrap_or("success").to_owned();
        assert!(code == "success" || TYPED.contains(&code.as_str()), "{command}: {run}");
        (code, document)
    };
    let (code, inspection) = ask("inspect", &[]);
    let reached = code == "success" || reached_analysis(&inspection);
    count(counts, if reached { REACHED } else { "refused before analysis" });
    if code != "success" {
        return code;
    }
    let (listed, list) = ask("functions", &["--all"]);
    assert_eq!(listed, "success", "{list}");
    let functions = list["data"]["items"].as_array().unwrap();
    assert_eq!(inspection["data"]["program"]["function_count"], functions.len(), "the answers disagree");
    let decompilable: Vec<&Value> =
        functions.iter().filter(|function| function["decompilable"] == true).collect();
    if let (Some(choice), false) = (decompile, decompilable.is_empty()) {
        let chosen = decompilable[usize::try_from(choice).unwrap() % decompilable.len()];
        let entry = &chosen["entry"];
        let address = format!("{}:{}", entry["space"].as_str().unwrap(), entry["offset"].as_str().unwrap());
        let (code, document) = ask("decompile", &["--address", &address]);
        if code == "success" {
            assert_eq!(document["data"]["function"]["name"], chosen["name"], "another function");
        }
        count(counts, if code == "success" { DECOMPILED } else { NOT_DECOMPILED });
    }
    code
}

/// Removes what depends on how fast the machine is: more or fewer exceed a limit of time.
pub fn forget_what_time_decides(counts: &mut Counts) {
    counts.retain(|what, _| ![DECOMPILED, NOT_DECOMPILED].contains(&what.as_str()));
}

fn reached_analysis(document: &Value) -> bool {
    let details = &document["error"]["details"];
    let phase = details["progress"]["phase"].as_str().unwrap_or_default();
    document["error"]["code"] == "analysis_timeout" || AFTER_IMPORT.contains(&phase)
}
