//! What crosses the boundary to the worker, and what of a failed run is kept.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::contract::schema_problems;
use crate::support::fake_engine::World;
use crate::support::tree;

#[test]
fn the_worker_receives_the_staged_sample_and_never_the_callers_path() {
    let world = World::new();
    let sample = world.write_sample(OsStr::from_bytes(b"secret name \xff,"), b"bytes");
    world
        .run([OsStr::new("decompile"), sample.as_os_str(), OsStr::new("--name"), OsStr::new("main")])
        .success();
    let seen = world.seen.borrow();
    let staged = seen[0].request["arguments"]["sample_path"].as_str().unwrap();
    assert!(Path::new(staged).starts_with(world.store().join("staging")));
    assert_eq!(seen[0].sample_sha256.as_deref(), Some(hex::encode(Sha256::digest(b"bytes")).as_str()));
    let said = format!("{:?}", (&seen[0].plan.arguments, &seen[0].plan.environment, &seen[0].request));
    assert!(!said.contains("secret name") && !said.contains("samples"), "{said}");
}

/// Ghidra looks for debug information beside the file that it imports.
#[test]
fn nothing_that_stands_beside_the_sample_stands_beside_its_copy() {
    let world = World::new();
    for neighbour in ["sample.debug", "sample.pdb", ".debug"] {
        world.write_sample(OsStr::new(neighbour), b"symbols");
    }
    world.next(|answer| {
        let staged = Path::new(answer.request["arguments"]["sample_path"].as_str().unwrap());
        assert_eq!(tree::names(staged.parent().unwrap()), ["sample"]);
    });
    world.ask("inspect", &[]).success();
}

#[test]
fn only_the_two_paths_are_on_the_command_line() {
    let world = World::new();
    world.ask("decompile", &["--name", "main"]).success();
    let seen = world.seen.borrow();
    let invocation = seen[0].invocation.to_str().unwrap();
    let arguments: Vec<&str> =
        seen[0].plan.arguments.iter().map(|argument| argument.to_str().unwrap()).collect();
    let [worker, option, limit, request, response] = arguments[..] else { panic!("{arguments:?}") };
    assert_eq!((worker, option), ("--worker", "--file-size-bytes"));
    assert!(limit.parse::<u64>().is_ok());
    assert_eq!(request, format!("{invocation}/request.json"));
    assert_eq!(response, format!("{invocation}/response.json"));
}

#[test]
fn the_request_is_private_and_the_invocation_is_gone_afterwards() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    let seen = world.seen.borrow();
    assert_eq!(seen[0].request_mode, 0o600);
    assert!(!seen[0].invocation.exists());
    let id = seen[0].request["invocation_id"].as_str().unwrap();
    assert!(id.len() == 32 && seen[0].invocation.parent().unwrap().ends_with(id));
}

#[test]
fn every_path_of_a_request_is_absolute_and_granted() {
    let world = World::new();
    world.ask("decompile", &["--name", "main"]).success();
    world.ask("decompile", &["--name", "main"]).success();
    for seen in world.seen.borrow().iter() {
        let grants: Vec<&Value> = seen.request["grants"].as_array().unwrap().iter().collect();
        let arguments = seen.request["arguments"].as_object().unwrap();
        let answers = ("answers_path", &seen.request["arguments"]["queries"]["answers_path"]);
        let named = arguments.iter().map(|(name, path)| (name.as_str(), path));
        for (name, path) in named.filter(|(name, _)| *name != "queries").chain([answers]) {
            let path = Path::new(path.as_str().unwrap());
            assert!(path.is_absolute(), "{name}");
            let grant = grants.iter().find(|grant| path.starts_with(grant["path"].as_str().unwrap()));
            let access = if name == "sample_path" { "read" } else { "write" };
            assert_eq!(grant.unwrap()["access"], access, "{name}");
        }
    }
}

#[test]
fn a_decompiled_text_has_line_feeds_alone() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    for text in ["int main(void)\r\n{}\n", "int main(void)\r{}\n"] {
        world.next(|answer| answer.answers[0]["decompilation"]["text"] = text.into());
        let error = world.ask("decompile", &["--name", "main"]).error("protocol_violation", 1);
        assert_eq!(error["details"]["field"], "answers.jsonl line 1: text", "{error}");
    }
    let document = world.ask("decompile", &["--name", "main"]).success();
    assert!(!document["data"]["decompilation"]["text"].as_str().unwrap().contains('\r'));
}

#[test]
fn limits_reach_the_worker_as_given() {
    let world = World::new();
    let flags = [
        "--analysis-timeout-seconds",
        "7",
        "--decompile-timeout-seconds",
        "8",
        "--max-cpu",
        "1",
        "--max-heap-mib",
        "300",
    ];
    world.ask("decompile", &[&["--name", "main"], &flags[..]].concat()).success();
    let seen = world.seen.borrow();
    let limits = &seen[0].request["limits"];
    let numbers =
        [&limits["analysis_timeout_seconds"], &limits["decompile_timeout_seconds"], &limits["max_cpu"]];
    assert_eq!(numbers, [&json!(7), &json!(8), &json!(1)]);
    let options = seen[0].request["boot"]["jvm_options"].as_array().unwrap();
    for option in ["-Xmx300m", "-XX:ActiveProcessorCount=1", "-Dcpu.core.override=1"] {
        assert!(options.contains(&json!(option)), "{option}");
    }
}

/// The Sample changes between its identification and its copy: the clock of the staging id is that moment.
#[test]
fn source_change_aborts_before_ghidra_starts() {
    let mut world = World::new();
    world.change_sample_when_staging();
    let error = world.ask("inspect", &[]).error("sample_changed", 1);
    assert_eq!(error["retryable"], true);
    assert_eq!(world.runs(), 0);
    assert!(world.analyses().is_empty());
}

#[test]
fn room_for_the_copy_and_a_reserve_is_asked_for_first() {
    let mut world = World::new();
    world.reserve_bytes = u64::MAX;
    let error = world.ask("inspect", &[]).error("store_space_insufficient", 1);
    assert!(error["details"]["required_bytes"].as_u64() > error["details"]["available_bytes"].as_u64());
    assert_eq!(world.runs(), 0);
}

/// The worker of one command is the moment at which another one meets its lock.
#[test]
fn a_busy_analysis_is_refused_at_once_with_a_delay() {
    use std::sync::mpsc::channel;
    let first = World::new();
    let (met, meeting) = channel();
    let (go_on, going_on) = channel::<()>();
    let (store, sample) = (first.store(), first.sample());
    let other = std::thread::spawn(move || {
        meeting.recv().unwrap();
        let mut second = World::new();
        second.use_store(store);
        let run = second.run_unframed(["inspect".as_ref(), sample.as_os_str()]);
        go_on.send(()).unwrap();
        (run, second.runs())
    });
    first.next(move |_| {
        met.send(()).unwrap();
        going_on.recv().unwrap();
    });
    first.ask("inspect", &[]).success();
    let (run, runs) = other.join().unwrap();
    run.check_framing();
    let error = run.error("analysis_busy", 1);
    assert!(
        error["retryable"].as_bool().unwrap()
            && error["details"]["retry_after_seconds"].as_u64().unwrap() > 0
    );
    assert!(error["details"]["analysis_basis_sha256"].is_string());
    assert_eq!(runs, 0, "no duplicate work");
    assert_eq!(error["details"]["analysis_profile_sha256"], json!(null), "no Analysis yet");
}

/// Who finds an Analysis corrupt that another command is using cannot make it again yet, and names it.
#[test]
fn a_busy_rebuild_names_the_profile_that_is_stored() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    let analysis = world.analysis();
    std::fs::write(analysis.join("manifest.sha256"), "0".repeat(64)).unwrap();
    let (profile, sample) = (analysis.file_name().unwrap(), analysis.parent().unwrap().file_name().unwrap());
    let locks = world.store().join("locks").join(sample);
    let basis = tree::names(&locks).into_iter().find(|name| name != "sample.lock").unwrap();
    let reader = std::fs::File::open(locks.join(basis)).unwrap();
    reader.lock_shared().unwrap();
    let run = world.run_once(&["inspect".into(), world.sample().into_os_string()]);
    let error = run.error("analysis_busy", 1);
    assert_eq!(error["details"]["analysis_profile_sha256"], *profile.to_str().unwrap());
    drop(reader);
    let rebuilt = world.ask("inspect", &[]).success();
    assert_eq!(rebuilt["data"]["analysis"]["disposition"], "rebuilt");
}

#[test]
fn a_retained_log_holds_what_the_worker_said_and_nothing_of_the_caller() {
    let world = World::new();
    let sample = world.write_sample("secret-name", b"bytes");
    world.next(|answer| {
        answer.stdout = b"out \xff".to_vec();
        answer.stderr = b"err".to_vec();
        answer.status = Some(9);
    });
    let error = world.run(["inspect".as_ref(), sample.as_os_str()]).error("worker_failed", 1);
    let bundle = world.diagnostics().remove(0);
    let sample_scope = hex::encode(Sha256::digest(b"bytes"));
    assert!(bundle.parent().unwrap().ends_with(sample_scope));
    let manifest = std::fs::read(bundle.join("manifest.json")).unwrap();
    let descriptor = &error["diagnostic_log"];
    assert_eq!(descriptor["path"]["value"], bundle.join("manifest.json").to_str().unwrap());
    assert_eq!(descriptor["bytes"], manifest.len());
    assert_eq!(descriptor["sha256"], hex::encode(Sha256::digest(&manifest)).as_str());
    let document: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(schema_problems("diagnostic_manifest", &document), Vec::<String>::new());
    assert_eq!(
        (&document["stdout"]["encoding"], &document["stderr"]["encoding"]),
        (&json!("bytes"), &json!("utf8"))
    );
    assert_eq!(
        document["termination"],
        json!({"reason": "exited", "mode": null, "exit_code": 9, "signal": null})
    );
    assert_eq!(std::fs::read(bundle.join("stdout.log")).unwrap(), b"out \xff");
    assert_eq!(std::fs::read(bundle.join("stderr.log")).unwrap(), b"err");
    for file in ["manifest.json", "stdout.log", "stderr.log"] {
        let text = String::from_utf8_lossy(&std::fs::read(bundle.join(file)).unwrap()).into_owned();
        for word in ["secret-name", "samples", "HOME", "GHIDR_STORE"] {
            assert!(!text.contains(word), "{file} holds {word}");
        }
    }
}

#[test]
fn a_log_that_lost_bytes_says_so_in_a_warning() {
    let world = World::new();
    world.next(|answer| {
        answer.stdout = b"kept".to_vec();
        answer.stdout_observed_bytes = Some(1 << 30);
        answer.status = Some(1);
    });
    let run = world.ask("inspect", &[]);
    let log = run.error("worker_failed", 1)["diagnostic_log"].clone();
    let warnings = run.document()["warnings"].clone();
    assert_eq!(warnings[0]["code"], "diagnostics_truncated");
    assert_eq!(warnings[0]["details"]["diagnostic_log"], log);
    assert_eq!(warnings.as_array().unwrap().len(), 1);
}

#[test]
fn a_success_keeps_no_log() {
    let world = World::new();
    world.next(|answer| answer.stdout = b"chatter".to_vec());
    world.ask("inspect", &[]).success();
    world.run(["doctor"]).success();
    assert!(world.diagnostics().is_empty());
}
