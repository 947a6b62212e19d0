//! No command changes the Sample or a stored Analysis.

use crate::support::{boots, fixtures, shared, tree};

#[test]
fn no_command_changes_the_sample_or_the_analyses() {
    let shared = shared::bubblewrap();
    let fixture = "pe32plus-x86_64.dll";
    shared.forget_results(fixture);
    let path = fixtures::path(fixture);
    let path = path.to_str().unwrap();
    let state = || (tree::state(path.as_ref()), tree::state(&shared.analysis(fixture)));
    let before = state();
    assert!(before.1.len() > 10, "{before:?}");
    let nothing = "0".repeat(64);
    let commands: [(&[&str], i32); 18] = [
        (&["inspect", path], 0),
        (&["functions", path], 0),
        (&["functions", path, "--all", "--max-inline-bytes", "2000"], 0),
        (&["functions", path, "--all", "--max-inline-bytes", "10"], 1),
        (&["functions", path, "--offset", "1000000"], 0),
        (&["decompile", path, "--name", "classify"], 0),
        (&["decompile", path, "--name", "scramble"], 1),
        (&["decompile", path, "--name", "no such function"], 1),
        (&["decompile", path, "--address", "ram:0x000000020ccb1001"], 1),
        (&["decompile", path, "--address", "nowhere:0x0000000000000000"], 1),
        (&["decompile", path], 2),
        (&["batch", path, "--decompile-all"], 0),
        (&["doctor"], 0),
        (&["store", "list"], 0),
        (&["clean", path, "--dry-run"], 0),
        (&["clean", "--all", "--dry-run"], 0),
        (&["clean", "--all"], 1),
        (&["clean", "--digest", &nothing], 0),
    ];
    for (arguments, status) in commands {
        let _boot = boots::take();
        let run = shared.run(arguments);
        assert_eq!(run.status, Some(status), "{arguments:?}: {run}");
        assert_eq!(state(), before, "{arguments:?} changed something");
    }
}
