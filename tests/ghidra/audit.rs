//! What the trusted command starts, opens and maps.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::{descendants, maps, wait_for};
use crate::support::{boots, fixtures, shared};

/// A cached facts Query traced by `strace` (a package that `cargo xtask test` installs).
fn trace(arguments: &[&str]) -> (Run, String) {
    let shared = shared::bubblewrap();
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-s", "4096", "-e", "trace=%process,%file", "-o"]).arg(log.path());
    command.arg(env!("CARGO_BIN_EXE_ghidr")).args(arguments).stdin(Stdio::null()).env_clear();
    command.envs(shared.ghidr.command([""; 0]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let run = Run::from(command.output().expect("strace is installed"));
    let log = String::from_utf8_lossy(&std::fs::read(log.path()).unwrap()).into_owned();
    assert!(log.contains("execve("), "nothing was traced: {run}");
    (run, log)
}

#[test]
fn a_cached_facts_query_starts_no_process_and_opens_only_what_it_answers_from() {
    let shared = shared::bubblewrap();
    let fixture = "elf-x86_64-stripped";
    let analysis = shared.analysis(fixture);
    let path = fixtures::path(fixture);
    let path = path.to_str().unwrap();
    for arguments in [&["inspect", path][..], &["functions", path], &["functions", path, "--offset", "7"]] {
        let (run, log) = trace(arguments);
        run.success();
        assert_no_process_was_started(&log);
        let opened: Vec<&str> = opened_files(&log);
        let mut read = Vec::new();
        for name in opened {
            // Files of the store are opened by their name inside a directory that was opened before.
            let base = Path::new(name).file_name().unwrap_or_default().to_str().unwrap();
            match base {
                "manifest.json" | "manifest.sha256" | "profile.json" | "program.json" | "functions.jsonl" => {
                    read.push(base.to_owned());
                }
                _ => assert!(name == path || may_be_opened(name, base), "{arguments:?} opened {name}"),
            }
        }
        for needed in ["manifest.json", "manifest.sha256", "profile.json"] {
            assert!(read.iter().any(|name| name == needed), "{needed} was not read: {read:?}");
        }
        assert!(analysis.join("project").exists());
    }
}

fn assert_no_process_was_started(log: &str) {
    for line in log.lines() {
        let call = line.split_once(' ').map_or("", |(_pid, call)| call.trim_start());
        let thread = call.contains("CLONE_THREAD");
        let starts = ["fork(", "vfork(", "clone(", "clone3("].iter().any(|name| call.starts_with(name));
        assert!(!starts || thread, "a process was started: {line}");
        assert!(!call.starts_with("execveat("), "{line}");
    }
    assert_eq!(log.matches("execve(").count(), 1, "another program was executed");
}

#[test]
fn a_repeated_decompilation_starts_no_process_and_differs_in_the_watchdog_alone() {
    let fixture = "elf-x86_64-pie";
    let mut first = shared::bubblewrap().decompiled(fixture, ["--name", "classify"]);
    let path = fixtures::path(fixture);
    let (run, log) = trace(&["decompile", path.to_str().unwrap(), "--name", "classify"]);
    assert_no_process_was_started(&log);
    let repeated = run.success();
    assert!(first["provenance"]["limits"]["child_watchdog_seconds"].is_u64(), "{first}");
    first["provenance"]["limits"]["child_watchdog_seconds"] = serde_json::Value::Null;
    first["provenance"]["source_path"] = repeated["provenance"]["source_path"].clone();
    assert_eq!(repeated, first);
}

/// Names of the regular files that a trace shows as opened; directories are passed through only.
fn opened_files(log: &str) -> Vec<&str> {
    let calls = log.lines().filter(|line| line.contains("open") && !line.contains(" = -1 "));
    let files = calls.filter(|line| !line.contains("O_DIRECTORY") && !line.contains("O_PATH"));
    files.filter_map(|line| line.split('"').nth(1)).collect()
}

/// Besides the Analysis and the Sample: the engine's descriptor, locks, and the system's own files.
fn may_be_opened(name: &str, base: &str) -> bool {
    let lock = base.ends_with(".lock");
    let described = ["store.json", "engine.json", "release", "application.properties"].contains(&base);
    let system = ["/etc/ld.so", "/lib/", "/lib64/", "/usr/lib/", "/proc/self/", "/sys/", "/nix/store/"];
    lock || described || system.iter().any(|prefix| name.starts_with(prefix))
}

#[test]
fn the_parent_never_maps_a_jvm_while_its_worker_does() {
    let ghidr = Ghidr::new();
    let path = fixtures::path("elf-x86_64-shared.so");
    let _boot = boots::take();
    let mut command = ghidr.command(["inspect".as_ref(), path.as_os_str()]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let parent = child.id();
    let worker = wait_for("a worker with a JVM", || {
        assert!(!maps(parent, "libjvm"), "the parent maps a JVM");
        descendants(parent).into_iter().find(|pid| maps(*pid, "libjvm"))
    });
    wait_for("the end of the JVM", || {
        assert!(!maps(parent, "libjvm"), "the parent maps a JVM");
        (!maps(worker, "libjvm")).then_some(())
    });
    Run::from(child.wait_with_output().unwrap()).success();
}

#[test]
fn the_executable_does_not_need_libjvm() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghidr"));
    // The dynamic loader lists what the executable needs instead of running it.
    let output = command.env("LD_TRACE_LOADED_OBJECTS", "1").stdin(Stdio::null()).output().unwrap();
    let needed = String::from_utf8(output.stdout).unwrap();
    assert!(needed.contains("libc.so"), "{needed}");
    assert!(!needed.contains("libjvm"), "{needed}");
}
