//! Nothing leaves the machine: the real commands need no network at all, and no request names a place to send to.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::fake_engine::World;
use crate::support::ghidr::{Ghidr, Run};
use crate::support::{boots, fixtures};

/// Runs `ghidr` where there is no network interface but a loopback that is down.
fn without_network(ghidr: &Ghidr, arguments: &[&str]) -> Run {
    let command = ghidr.command(arguments);
    let mut isolated = Command::new("/usr/bin/unshare");
    isolated.args(["--map-root-user", "--net"]).arg(command.get_program()).args(command.get_args());
    isolated.env_clear().stdin(Stdio::null());
    isolated.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = Run::from(isolated.output().expect("unshare is installed"));
    run.check_framing();
    run
}

#[test]
fn every_command_answers_in_an_empty_network_namespace() {
    let ghidr = Ghidr::new();
    let sample = fixtures::path("elf-aarch64");
    let sample = sample.to_str().unwrap();
    let _boot = boots::take();
    let decompiled = without_network(&ghidr, &["decompile", sample, "--name", "main"]).success();
    assert!(decompiled["data"]["decompilation"]["text"].as_str().unwrap().contains("main"));
    let inspected = without_network(&ghidr, &["inspect", sample]).success();
    assert_eq!(inspected["data"]["analysis"]["disposition"], "reused");
    let others = [
        &["functions", sample][..],
        &["batch", sample, "--decompile-all"],
        &["doctor"],
        &["store", "list"],
        &["clean", "--all", "--yes"],
    ];
    for arguments in others {
        without_network(&ghidr, arguments).success();
    }
}

/// Every name in a document, with what it is inside of; list elements share their list's.
fn names(value: &Value, inside: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = if inside.is_empty() { name.clone() } else { format!("{inside}.{name}") };
                names(member, &path, found);
                found.insert(path);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| names(element, inside, found)),
        _ => {}
    }
}

/// A new member of a request is looked at here before a worker can be told anything with it.
#[test]
fn the_members_of_a_request_are_a_closed_list() {
    let world = World::new();
    world.ask("decompile", &["--name", "main"]).success();
    world.ask("decompile", &["--address", "ram:0x0000000000001040"]).success();
    world.run([OsString::from("doctor")]);
    let mut found = BTreeSet::new();
    for seen in world.seen.borrow().iter() {
        names(&seen.request, "", &mut found);
    }
    let expected = [
        "arguments",
        "arguments.facts_directory",
        "arguments.project_directory",
        "arguments.queries",
        "arguments.queries.answers_path",
        "arguments.queries.items",
        "arguments.queries.items.kind",
        "arguments.queries.items.selector",
        "arguments.queries.items.selector.kind",
        "arguments.queries.items.selector.offset",
        "arguments.queries.items.selector.space",
        "arguments.queries.items.selector.value",
        "arguments.queries.max_answers_bytes",
        "arguments.queries.stop_at_failure",
        "arguments.queries.timeout_seconds",
        "arguments.sample_path",
        "boot",
        "boot.class_path",
        "boot.jvm_options",
        "boot.libjvm",
        "boot.main_stack_mib",
        "engine",
        "engine.layout",
        "engine.path",
        "grants",
        "grants.access",
        "grants.path",
        "invocation_id",
        "limits",
        "limits.analysis_timeout_seconds",
        "limits.decompile_timeout_seconds",
        "limits.max_cpu",
        "limits.max_facts_bytes",
        "limits.max_response_bytes",
        "operation",
        "progress_path",
        "protocol_version",
    ];
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, expected);
}
