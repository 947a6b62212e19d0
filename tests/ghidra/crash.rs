//! A Java virtual machine that crashes leaves its own report in the Diagnostic Log, and nothing of the caller's.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::{descendants, maps, wait_for, wait_until_gone};
use crate::support::{boots, fixtures, tree};

/// Values that only the caller knows.
const OF_THE_CALLER: [(&str, &str); 3] = [
    ("GHIDR_TEST_SECRET", "value-of-the-callers-environment"),
    ("JAVA_TOOL_OPTIONS", "-Dcaller=value-of-the-callers-tool-options"),
    ("LD_LIBRARY_PATH", "/nonexistent/value-of-the-callers-library-path"),
];

/// A segmentation fault that comes from outside is one all the same.
#[test]
fn a_crash_is_typed_and_its_report_joins_the_log_without_path_or_environment() {
    let ghidr = Ghidr::new();
    let ghidr = OF_THE_CALLER.iter().fold(ghidr, |ghidr, (name, value)| ghidr.environment(name, *value));
    let directory = ghidr.root().join("directory-of-the-sample");
    std::fs::create_dir(&directory).unwrap();
    let sample = directory.join("name-of-the-sample");
    std::fs::copy(fixtures::path("elf-i386"), &sample).unwrap();
    let _boot = boots::take();
    let mut command = ghidr.command(["inspect".as_ref(), sample.as_os_str()]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let staging = ghidr.store().join("staging");
    wait_for("the analysis", || {
        let progress = tree::names(&staging).into_iter().find_map(|invocation| {
            std::fs::read_to_string(staging.join(invocation).join("invocation/progress")).ok()
        });
        progress.is_some_and(|line| line.starts_with("analysis\t")).then_some(())
    });
    let worker = descendants(child.id()).into_iter().find(|pid| maps(*pid, "libjvm")).unwrap();
    kill_process(Pid::from_raw(i32::try_from(worker).unwrap()).unwrap(), Signal::SEGV).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    run.check_framing();
    let error = run.error("worker_failed", 1);
    wait_until_gone(ghidr.root());

    let manifest_path = error["diagnostic_log"]["path"]["value"].as_str().unwrap();
    let manifest: Value = serde_json::from_slice(&std::fs::read(manifest_path).unwrap()).unwrap();
    let report = &manifest["crash_report"];
    let bundle = std::path::Path::new(manifest_path).parent().unwrap();
    let text = std::fs::read_to_string(bundle.join("crash_report.log")).unwrap();
    assert_eq!(report["observed_bytes"], text.len(), "{report}");
    assert!(text.contains("A fatal error has been detected by the Java Runtime Environment"), "{text}");
    assert!(text.contains("SIGSEGV"), "{text}");
    for name in tree::names(bundle) {
        let text = String::from_utf8_lossy(&std::fs::read(bundle.join(&name)).unwrap()).into_owned();
        for (_, value) in OF_THE_CALLER {
            assert!(!text.contains(value), "{name} holds {value}");
        }
        for private in
            ["directory-of-the-sample", "name-of-the-sample", "GHIDR_TEST_SECRET", "home/ghidr-store"]
        {
            let segments_only = name != "manifest.json" || private != "home/ghidr-store";
            assert!(!text.contains(private) || !segments_only, "{name} holds {private}");
        }
    }
    ghidr.run(["inspect".as_ref(), sample.as_os_str()]).success();
    assert_eq!(tree::names(&ghidr.store().join("diagnostics")).len(), 1, "success leaves no log of its own");
}
