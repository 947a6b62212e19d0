//! The escape probe sees each protection that is taken away, and nothing else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::worker_run::WorkerRun;

/// Names of the protections that did not hold in a sandbox whose plan was changed by `change`.
fn breaches(change: impl FnOnce(WorkerRun) -> WorkerRun) -> BTreeSet<String> {
    let run = WorkerRun::new("bubblewrap", "").with("probe", "1");
    let report = change(run).finish();
    assert_eq!(report.outcome["worker_status"], 0, "{}", report.outcome);
    let response = std::fs::read(report.root.join("invocation/response.json")).unwrap();
    let findings: Vec<Value> = serde_json::from_slice(&response).unwrap();
    assert_eq!(findings.len(), 21);
    let breached = findings.iter().filter(|finding| !finding["breach"].is_null());
    breached.map(|finding| finding["protection"].as_str().unwrap().to_owned()).collect()
}

/// With `words` of the command line replaced.
fn breaches_after(edits: &[(&[&str], &[&str])], expected: &[&str]) {
    let found = breaches(|run| run.with("edits", json!(edits).to_string()));
    assert_eq!(found, expected.iter().map(|name| (*name).to_owned()).collect(), "{edits:?}");
}

#[test]
fn the_production_sandbox_holds() {
    assert_eq!(breaches(|run| run), BTreeSet::new());
}

/// `--unshare-all` is written out without one of its namespaces.
#[test]
fn a_namespace_that_is_left_out_is_seen() {
    const ALL: [&str; 5] =
        ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];
    let without =
        |left_out: &str| -> Vec<&str> { ALL.into_iter().filter(|kind| *kind != left_out).collect() };
    let all: &[&str] = &["--unshare-all"];
    breaches_after(&[(all, &without("--unshare-net"))], &["network_namespace"]);
    breaches_after(&[(all, &without("--unshare-ipc"))], &["ipc_namespace"]);
    breaches_after(&[(all, &without("--unshare-cgroup-try"))], &["control_group_namespace"]);
    let host_name: &[&str] = &["--hostname", "localhost"];
    breaches_after(&[(all, &without("--unshare-uts")), (host_name, &[])], &["host_name_namespace"]);
    let first: &[&str] = &["--as-pid-1"];
    breaches_after(
        &[(all, &without("--unshare-pid")), (first, &[])],
        &["process_namespace", "first_process"],
    );
}

/// Without `--unshare-user`, bubblewrap makes no user namespace for root, and leaves root's bounding set of capabilities.
/// So that everybody is root, the whole run is in a namespace where its user is.
#[test]
fn a_user_namespace_that_is_left_out_is_seen() {
    let outer = [
        "bwrap",
        "--unshare-user",
        "--uid",
        "0",
        "--gid",
        "0",
        "--cap-add",
        "ALL",
        "--dev-bind",
        "/",
        "/",
        "--",
    ];
    let all: &[&str] =
        &["--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"];
    let without: &[&str] =
        &["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];
    let found = breaches(|run| run.below(&outer).with("edits", json!([(all, without)]).to_string()));
    assert_eq!(found, ["capabilities".to_owned(), "user_namespace".to_owned()].into());
}

/// Bubblewrap always makes a mount namespace, so the caller's is said to be the very one it has just made.
#[test]
fn a_mount_namespace_that_is_the_callers_is_seen() {
    const WRAPPER: &str = r#"#!/bin/bash
cd "$(dirname "$0")" || exit 1
mkfifo made go
{
    read -r -d '}' made < made
    made=${made#*mnt-namespace*: }
    sed -i "s/mnt:\[[0-9]*]/mnt:[${made%%[!0-9]*}]/" invocation/request.json
    echo > go
} &
exec /usr/bin/bwrap --info-fd 201 --block-fd 202 "$@" 201> made 202<> go
"#;
    let found = breaches(|run| {
        let wrapper = run.program("bwrap-of-the-caller", WRAPPER);
        run.with("bwrap", wrapper)
    });
    assert_eq!(found, ["mount_namespace".to_owned()].into());
}

#[test]
fn a_process_restriction_that_is_left_out_is_seen() {
    breaches_after(&[(&["--new-session"], &[])], &["own_session"]);
    breaches_after(&[(&["--die-with-parent"], &[])], &["ends_with_parent"]);
    breaches_after(&[(&["--cap-drop", "ALL"], &["--cap-add", "ALL"])], &["capabilities"]);
    breaches_after(&[(&["--uid", "1000"], &["--uid", "0"])], &["user_namespace"]);
    breaches_after(&[(&["--file-size-bytes", "1073741824"], &[])], &["file_limits"]);
}

/// Each limit that a worker sets for itself; the caller's own must be wider, or there is nothing to leave out.
#[test]
fn a_limit_that_is_left_out_is_seen() {
    for limit in ["core", "open_files", "file_size"] {
        let found = breaches(|run| run.with("without_limit", limit));
        assert_eq!(found, ["file_limits".to_owned()].into(), "{limit}");
    }
}

#[test]
fn a_seal_or_a_size_that_is_left_out_is_seen() {
    breaches_after(&[(&["--remount-ro", "/"], &[])], &["read_only_files", "sized_file_systems"]);
    breaches_after(&[(&["--remount-ro", "/dev"], &[])], &["read_only_files", "sized_file_systems"]);
    breaches_after(&[(&["--remount-ro", "/proc"], &[])], &["read_only_files"]);
    for size in ["4194304", "16777216", "8388608"] {
        breaches_after(&[(&["--size", size], &[])], &["sized_file_systems"]);
    }
}

/// Every one of them in turn, the host's libraries included.
#[test]
fn a_read_only_bind_that_is_writable_is_seen() {
    let plan = WorkerRun::new("bubblewrap", "").with("probe", "1");
    let arguments = plan.finish().outcome["planned"].clone();
    let words: Vec<&str> = arguments.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let binds = words.windows(3).filter(|window| window[0] == "--ro-bind");
    // What lies below the run's own directory is another one in the next run.
    let targets: Vec<&str> =
        binds.map(|window| window[2]).filter(|path| !path.contains("ghidr-run-")).collect();
    assert!(targets.len() >= 6, "{targets:?}");
    for target in targets {
        let found = breaches(|run| run.with("writable_bind", target));
        assert_eq!(found, ["read_only_files".to_owned()].into(), "{target}");
    }
}

#[test]
fn a_file_of_the_caller_or_of_the_machine_that_is_shown_is_seen() {
    let run = |path: &str| {
        let end: &[&str] = &["--remount-ro", "/proc"];
        let shown: &[&str] = &["--ro-bind", path, path, "--remount-ro", "/proc"];
        breaches(|run| run.with("edits", json!([(end, shown)]).to_string()))
    };
    for path in ["/etc/passwd", "/etc", "/home", "/root"] {
        if std::path::Path::new(path).exists() {
            assert_eq!(run(path), ["hidden_files".to_owned()].into(), "{path}");
        }
    }
    let found = breaches(|run| {
        let root = run.root().display().to_string();
        let end: &[&str] = &["--remount-ro", "/proc"];
        let shown: &[&str] = &["--ro-bind", &root, &root, "--remount-ro", "/proc"];
        run.with("edits", json!([(end, shown)]).to_string())
    });
    assert_eq!(found, ["hidden_files".to_owned()].into());
}

#[test]
fn a_system_call_filter_that_is_left_out_is_seen() {
    let with = |filters: &str| breaches(|run| run.with("filters", filters));
    let without_calls = with("[0]");
    let expected: BTreeSet<String> = ["sockets", "system_calls"].map(str::to_owned).into();
    // The devices belong to root: to anybody else they are out of reach without a filter as well.
    let devices = rustix::process::geteuid().is_root().then(|| "device_attributes".to_owned());
    assert_eq!(without_calls, expected.into_iter().chain(devices).collect());
    assert_eq!(with("[1]"), ["new_system_calls".to_owned()].into());
}

#[test]
fn a_variable_or_a_descriptor_of_the_caller_is_seen() {
    for name in ["JAVA_TOOL_OPTIONS", "LD_AUDIT_OF_THE_CALLER"] {
        let found = breaches(|run| {
            let clear: &[&str] = &["--clearenv"];
            let none: &[&str] = &[];
            run.with("variable", name).with("edits", json!([(clear, none)]).to_string())
        });
        assert_eq!(found, ["environment".to_owned()].into(), "{name}");
    }
    const WRAPPER: &str = "#!/bin/sh\nexec 9</dev/null\nexec /usr/bin/bwrap \"$@\"\n";
    let found = breaches(|run| {
        let wrapper = run.program("bwrap-with-a-descriptor", WRAPPER);
        run.with("bwrap", wrapper)
    });
    assert_eq!(found, ["descriptors".to_owned()].into());
}
