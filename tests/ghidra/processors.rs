//! How many processors Ghidra works with is what it was told, not what the machine has.

use std::process::Stdio;
use std::time::Duration;

use crate::support::ghidr::Ghidr;
use crate::support::{boots, fixtures, processes};

/// The most native decompilers at one moment of an analysis: each thread of Ghidra's pool has one.
fn most_decompilers(max_cpu: &str) -> usize {
    let ghidr = Ghidr::new();
    let sample = fixtures::path("elf-x86_64-pie");
    let mut command = ghidr.command(["--max-cpu", max_cpu, "inspect", sample.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let family = processes::descendants(child.id());
        most = most.max(family.into_iter().filter(|pid| processes::is_named(*pid, "decompile")).count());
        std::thread::sleep(Duration::from_millis(3));
    }
    assert!(child.wait().unwrap().success());
    most
}

#[test]
fn an_analysis_decompiles_on_as_many_processors_as_it_may_use() {
    let _boot = boots::take();
    // One that is ending can be seen beside the next one. Four is more than a machine of two would use by itself.
    let (of_one, of_four) = (most_decompilers("1"), most_decompilers("4"));
    assert!((1..=2).contains(&of_one) && (3..=5).contains(&of_four), "{of_one} and {of_four}");
}
