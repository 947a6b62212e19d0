//! Two commands at once on one store.

use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::wait_for;
use crate::support::{boots, fixtures, shared, tree};

#[test]
fn of_two_cold_commands_one_builds_and_the_other_is_told_to_come_back() {
    let ghidr = Ghidr::new();
    let path = fixtures::path("elf-i386");
    let _boot = boots::take();
    let mut command = ghidr.command(["inspect".as_ref(), path.as_os_str()]);
    let first =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_for("the first command's staging", || {
        (!tree::names(&ghidr.store().join("staging")).is_empty()).then_some(())
    });
    let error = ghidr.run(["functions".as_ref(), path.as_os_str()]).error("analysis_busy", 1);
    assert!(error["details"]["retry_after_seconds"].as_u64().unwrap() > 0, "{error}");
    assert_eq!(error["retryable"], true);
    let first = Run::from(first.wait_with_output().unwrap());
    assert_eq!(first.success()["data"]["analysis"]["disposition"], "created");
    let again = ghidr.run(["inspect".as_ref(), path.as_os_str()]).success();
    assert_eq!(again["data"]["analysis"]["disposition"], "reused");
}

#[test]
fn readers_never_refuse_each_other() {
    let shared = shared::bubblewrap();
    shared.fixture("elf-x86_64-pie");
    let path = fixtures::path("elf-x86_64-pie");
    let path = path.to_str().unwrap();
    let _boot = boots::take();
    shared.forget_results("elf-x86_64-pie");
    let spawn = |arguments: &[&str]| {
        let mut command = shared.ghidr.command(arguments);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let mut running = vec![
        spawn(&["decompile", path, "--name", "main"]),
        spawn(&["decompile", path, "--name", "classify"]),
    ];
    running.extend((0..4).map(|_| spawn(&["functions", path])));
    for child in running {
        Run::from(child.wait_with_output().unwrap()).success();
    }
}
