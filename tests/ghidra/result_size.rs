//! Answers larger than the inline budget, and results larger than the fixed response limit.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::ghidr::{Ghidr, Run};
use crate::support::shared::{self, Shared};
use crate::support::{boots, fixtures, tree};

const LS: &str = "/bin/ls";

fn functions_of_ls(shared: &Shared, budget: &str) -> Run {
    shared.sample(Path::new(LS));
    shared.run(["functions", LS, "--all", "--max-inline-bytes", budget])
}

fn artifact_path(descriptor: &Value) -> PathBuf {
    assert_eq!(descriptor["data"]["artifact"]["path"]["encoding"], "utf8");
    descriptor["data"]["artifact"]["path"]["value"].as_str().unwrap().into()
}

#[test]
fn a_large_answer_becomes_an_artifact_with_exactly_the_bytes_that_stdout_would_have_had() {
    let shared = shared::bubblewrap();
    let run = functions_of_ls(shared, "65536");
    assert!(run.stdout.len() <= 65_536);
    let descriptor = run.success();
    assert_eq!(descriptor["kind"], "function_list");
    assert_eq!(descriptor["data"]["spilled"], true);
    assert_eq!(descriptor["data"]["artifact"]["contains"], "complete_success_response");
    assert_eq!(descriptor["data"]["artifact"]["media_type"], "application/json");
    let path = artifact_path(&descriptor);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(descriptor["data"]["artifact"]["bytes"], bytes.len());
    assert_eq!(descriptor["data"]["artifact"]["sha256"], tree::sha256(&path).as_str());
    let inline = functions_of_ls(shared, &bytes.len().to_string());
    assert_eq!(inline.stdout, bytes, "the budget counts the final line feed and is inclusive");
    let spilled = functions_of_ls(shared, &(bytes.len() - 1).to_string()).success();
    assert_eq!(spilled, descriptor);
}

#[test]
fn a_budget_too_small_for_the_descriptor_names_the_smallest_that_works_and_leaves_no_artifact() {
    let shared = shared::second();
    let error = functions_of_ls(shared, "100").error("inline_budget_too_small", 1);
    assert_eq!(error["details"]["configured_bytes"], 100);
    let required = error["details"]["required_bytes"].as_u64().unwrap();
    let artifacts = shared.ghidr.store().join("artifacts");
    assert!(tree::state(&artifacts).values().all(|(.., file)| file.is_none()), "an artifact was left");
    assert_eq!(tree::names(&shared.ghidr.store().join("staging")), Vec::<String>::new());
    let below = functions_of_ls(shared, &(required - 1).to_string());
    below.error("inline_budget_too_small", 1);
    let fits = functions_of_ls(shared, &required.to_string());
    fits.success();
    assert_eq!(fits.stdout.len() as u64, required);
}

#[test]
fn a_damaged_artifact_is_replaced_before_it_is_referenced_again() {
    let shared = shared::of_mode("off");
    let descriptor = functions_of_ls(shared, "65536").success();
    let path = artifact_path(&descriptor);
    tree::flip_byte(&path);
    assert_ne!(descriptor["data"]["artifact"]["sha256"], tree::sha256(&path).as_str());
    assert_eq!(functions_of_ls(shared, "65536").success(), descriptor);
    assert_eq!(descriptor["data"]["artifact"]["sha256"], tree::sha256(&path).as_str());
}

/// Runs a command on a host whose worker may answer with that many bytes only.
fn run_with_response_limit(ghidr: &Ghidr, limit_bytes: u64, arguments: &[&str]) -> Run {
    let limit = limit_bytes.to_string();
    let run = ghidr.command_on_host(("FAKE_MAX_RESPONSE_BYTES", &limit), arguments).output().unwrap();
    let run = Run::from(run);
    run.check_framing();
    run
}

#[test]
fn a_result_too_large_is_typed_and_keeps_the_finished_analysis() {
    let ghidr = Ghidr::new();
    let path = fixtures::path("elf-x86_64-pie");
    let path = path.to_str().unwrap();
    let _boot = boots::take();
    let ok = run_with_response_limit(&ghidr, 1 << 20, &["inspect", path]);
    ok.success();
    let limit = 700;
    let run = run_with_response_limit(&ghidr, limit, &["decompile", path, "--name", "main"]);
    let error = run.error("result_too_large", 1);
    assert_eq!(error["details"]["limit_bytes"], limit);
    assert!(error["details"]["observed_at_least_bytes"].as_u64().unwrap() > limit, "{error}");
    assert_eq!(error["retryable"], false);
    let again = ghidr.run(["inspect", path]).success();
    assert_eq!(again["data"]["analysis"]["disposition"], "reused");
    ghidr.run(["decompile", path, "--name", "main"]).success();
}
