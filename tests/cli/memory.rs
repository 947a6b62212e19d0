//! What the executable needs of memory does not grow with what it tells.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::fake_answer::function;
use crate::support::fake_engine::World;
use crate::support::ghidr::{Ghidr, Run};

/// Of writable memory of its own, in KiB.
const ALLOWED_KIB: usize = 8 << 10;
const FUNCTIONS: u64 = 8_000;
const NAME_CHARS: usize = 3_000;

/// The executable beside the bundle of `world`, whose facts it can read and whose engine never runs.
fn executable(world: &World) -> PathBuf {
    let bin = world.path("prefix/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(world.path("prefix/lib")).unwrap();
    std::fs::rename(world.path("bundle"), world.path("prefix/lib/ghidr")).unwrap();
    let executable = bin.join("ghidr");
    // Copied by another process: see `cli::engines`.
    let mut copy = Command::new("cp");
    copy.args([env!("CARGO_BIN_EXE_ghidr").as_ref(), executable.as_os_str()]);
    assert!(copy.status().unwrap().success());
    executable
}

fn within(allowed_kib: usize, world: &World, executable: &Path, arguments: &[&str]) -> Run {
    command_within(allowed_kib, world, executable, "functions", arguments)
}

fn command_within(
    allowed_kib: usize,
    world: &World,
    executable: &Path,
    command: &str,
    arguments: &[&str],
) -> Run {
    let ghidr = Ghidr::new().executable(executable.to_owned()).environment("GHIDR_STORE", world.store());
    let sample = world.sample();
    let asked = ghidr.command([&[command, sample.to_str().unwrap()], arguments].concat());
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -d {allowed_kib} && exec \"$@\""), "sh"]);
    limited.arg(asked.get_program()).args(asked.get_args()).env_clear();
    limited.envs(asked.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Run::from(limited.output().unwrap())
}

/// A world whose table is three times as large as the memory allowed, and its executable.
fn large_table() -> (World, PathBuf) {
    let world = World::new();
    world.next(|answer| {
        let named = |index| function(&"n".repeat(NAME_CHARS), "q", "ram", 0x1000 + index * 16);
        answer.functions = (0..FUNCTIONS).map(named).collect();
    });
    world.ask("inspect", &[]).success();
    let executable = executable(&world);
    (world, executable)
}

#[test]
fn a_listing_three_times_as_large_as_the_memory_allowed_is_stored_and_measured() {
    let (world, executable) = large_table();
    let spilled = within(ALLOWED_KIB, &world, &executable, &["--all"]).success();
    let artifact = &spilled["data"]["artifact"];
    let bytes = std::fs::read(artifact["path"]["value"].as_str().unwrap()).unwrap();
    assert!(bytes.len() > 3 * ALLOWED_KIB * 1_024, "{} bytes", bytes.len());
    assert_eq!(artifact["bytes"], bytes.len());
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(document["data"]["page"]["returned"], FUNCTIONS);
    assert_eq!(document["data"]["items"].as_array().map(Vec::len), Some(FUNCTIONS as usize));
    assert_eq!(document["warnings"], spilled["warnings"]);
    let refused = within(ALLOWED_KIB, &world, &executable, &["--all", "--max-inline-bytes", "10"]);
    refused.error("inline_budget_too_small", 1);
    // What is asked for inline is held, so the limit does bind.
    let inline = ["--all", "--max-inline-bytes", "100000000"];
    let held = within(ALLOWED_KIB, &world, &executable, &inline);
    assert!(held.status != Some(0) && held.stdout.is_empty(), "{held}");
}

#[test]
fn the_lists_of_a_batch_are_not_held_either() {
    let (world, executable) = large_table();
    let queries = world.path("queries.jsonl");
    std::fs::write(&queries, "{\"op\":\"functions\",\"all\":true}\n".repeat(2)).unwrap();
    let queries = [queries.to_str().unwrap()];
    let spilled = command_within(ALLOWED_KIB, &world, &executable, "batch", &queries).success();
    let path = spilled["data"]["artifact"]["path"]["value"].as_str().unwrap();
    let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(document["data"]["counts"]["succeeded"], 2);
    let items = document["data"]["items"].as_array().unwrap();
    for item in items {
        assert_eq!(item["data"]["items"].as_array().map(Vec::len), Some(FUNCTIONS as usize));
    }
    assert_eq!(items[0]["data"], items[1]["data"]);
}
