//! What a terminal shows while a worker runs.

use std::time::Duration;

use serde_json::json;

use crate::support::fake_process::Processes;
use crate::support::on_terminal::OnTerminal;
use crate::support::processes::wait_for;
use crate::support::tree;

#[test]
fn only_people_at_a_terminal_see_progress_and_it_goes_with_the_worker() {
    for format in ["human", "json"] {
        let processes = Processes::new();
        processes.script(&json!([{"do": "progress", "line": "analysis\tStack\n"}, {"do": "await_term"}]));
        let mut running = OnTerminal::start(processes.asking("inspect", &["--format", format]));
        if format == "human" {
            running.wait_for("\r\x1b[Kanalysis: Stack (");
        } else {
            let staging = processes.world.store().join("staging");
            wait_for("the worker", || {
                let found = tree::names(&staging).pop()?;
                staging.join(found).join("invocation/progress").exists().then_some(())
            });
            std::thread::sleep(Duration::from_millis(500));
        }
        let process = rustix::process::Pid::from_child(&running.command);
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        let run = running.finish();
        let shown = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status, Some(130), "{run}");
        if format == "human" {
            let (_, last) = shown.rsplit_once("\r\x1b[K").unwrap();
            assert!(last.contains("interrupted") && !last.contains("Stack ("), "{shown:?}");
        } else {
            assert!(shown.starts_with('{') && !shown.contains('\x1b'), "{shown:?}");
        }
    }
}
