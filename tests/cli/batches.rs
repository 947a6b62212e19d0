//! `batch` as a process: what is refused before anything is run, and standard input.

use std::io::Write as _;
use std::process::{Child, Stdio};

use crate::support::fake_process::Processes;
use crate::support::ghidr::{Ghidr, Run};
use crate::support::processes::wait_for;

#[test]
fn a_batch_that_is_wrong_anywhere_runs_nothing_and_names_the_line() {
    let ghidr = Ghidr::new();
    let queries = ghidr.root().join("queries.jsonl");
    let path = queries.to_str().unwrap();
    for (text, line) in [
        ("{\"op\":\"inspect\"}\n{\"op\":\"inspect\",\"op\":\"inspect\"}\n", Some(2)),
        ("{\"op\":\"erase\"}\n", Some(1)),
        ("{\"op\":\"inspect\"}\n\n", Some(2)),
        ("", None),
    ] {
        std::fs::write(&queries, text).unwrap();
        // Not even the sample is looked for.
        let error = ghidr.run(["batch", "/nowhere/sample", path]).error("invalid_batch", 2);
        assert_eq!(error["details"]["line"].as_u64(), line, "{error}");
    }
    std::fs::write(&queries, vec![b' '; 600_000]).unwrap();
    let error = ghidr.run(["batch", "/nowhere/sample", path]).error("invalid_batch", 2);
    assert!(error["details"]["reason"].as_str().unwrap().contains("524288"), "{error}");
    let error = ghidr.run(["batch", "/nowhere/sample", "/nowhere/queries"]).error("invalid_batch", 2);
    let expected = "the queries cannot be read from '/nowhere/queries': ";
    assert!(error["details"]["reason"].as_str().unwrap().starts_with(expected), "{error}");
    assert!(!ghidr.store().exists());
}

#[test]
fn standard_input_is_read_to_its_end() {
    let processes = Processes::new();
    let mut child = processes.asking("batch", &["-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for part in ["{\"op\":\"insp", "ect\"}\n{\"op\":\"decompile\",", "\"name\":\"main\"}"] {
        stdin.write_all(part.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }
    drop(stdin);
    let document = processes.ended(Run::from(child.wait_with_output().unwrap())).success();
    assert_eq!(document["data"]["counts"]["succeeded"], 2);
}

/// Nobody writes, and the command still ends when it is told to.
#[test]
fn an_interrupt_ends_the_waiting_for_queries() {
    let processes = Processes::new();
    let mut child = processes.asking("batch", &["-"]).stdin(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    interrupt(&processes, child);
    drop(stdin);
}

#[test]
fn an_interrupt_ends_the_waiting_for_whoever_writes_the_queries() {
    let processes = Processes::new();
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("queries");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let ask = || processes.asking("batch", &[fifo.to_str().unwrap()]).stdin(Stdio::null()).spawn().unwrap();
    interrupt(&processes, ask());
    let child = ask();
    std::fs::write(&fifo, "{\"op\":\"nonsense\"}\n").unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    processes.ended(run).error("invalid_batch", 2);
}

fn interrupt(processes: &Processes, child: Child) {
    let pid = rustix::process::Pid::from_child(&child);
    // A signal that comes once there is a handler is never lost, wherever the command is then.
    wait_for("the handler", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        (u64::from_str_radix(caught.trim(), 16).ok()? & 0b10 != 0).then_some(())
    });
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    processes.ended(run).error("interrupted", 130);
}
