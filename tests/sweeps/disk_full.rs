//! A store on a disk that is filled up to every remaining size, and to every remaining number of
//! files, before a command: the answer is right or `store_space_insufficient`, staging is removed,
//! and with room again the next command succeeds.
//!
//! The preflight is passed because the reserve is set to nothing. Scripted worker, which dies of a
//! full disk as a real one does.

use std::path::Path;

use super::scenario::{SCENARIOS, Stage, judge};
use crate::support::ghidr::Run;
use crate::support::small_disk::SmallDisk;
use crate::support::sweep::{Counts, Ledger, Sweep, count};
use crate::support::tree;

const SWEEP: Sweep = Sweep {
    name: "disk_full",
    about: "A command on a disk that is full but for every number of blocks, then for every number of files, up to \
            more than it needs: the answer is right or `store_space_insufficient`, staging is removed, and with room \
            again the next command succeeds and nothing is left behind. Scripted worker.",
    cases,
};

#[test]
fn sweep() {
    SWEEP.run();
}

const BLOCK_BYTES: u64 = 4_096;
/// More than any command of a scenario needs.
const MOST_BLOCKS: u64 = 64;
const MOST_FILES: u64 = 64;
const PLENTY: u64 = 200;

fn cases(ledger: &mut Ledger) {
    let disk = SmallDisk::new(4 * 1_024, 2_000);
    for scenario in &SCENARIOS {
        let mut stage = Stage::new(scenario);
        let mut rooms: Vec<(u64, u64)> = (0..=MOST_BLOCKS).map(|blocks| (blocks, PLENTY)).collect();
        rooms.extend((0..=MOST_FILES).map(|files| (PLENTY, files)));
        let wanted = ledger.many(8, usize::MAX);
        for (blocks, files) in ledger.random(scenario.name).some(rooms, wanted) {
            let id = format!("{}: {blocks} blocks and {files} files left", scenario.name);
            ledger.case(id.clone(), |_, counts| fill(&mut stage, &disk, (blocks, files), &id, counts));
        }
    }
}

fn fill(stage: &mut Stage, disk: &SmallDisk, (blocks, files): (u64, u64), what: &str, counts: &mut Counts) {
    disk.free();
    let store = disk.outside().join("store");
    stage.prepare(&store);
    disk.leave(blocks * BLOCK_BYTES, files);
    stage.world.use_store(disk.inside().join("store"));
    let run = Run::from(disk.enter(&stage.command()).output().unwrap());
    stage.world.use_store(store.clone());
    run.check_framing();
    assert_eq!(tree::names(&store.join("staging")), Vec::<String>::new(), "{what}: {run}");
    if run.status == Some(0) {
        assert_eq!(judge(&from_outside(&run, disk)), stage.expected, "{what}: a wrong answer");
        count(counts, "answered");
    } else {
        let code = judge(&run).unwrap_err();
        let as_undisturbed = stage.expected.as_ref() == Err(&code);
        let has_log = run.document()["error"].get("diagnostic_log").is_some();
        let says_so = code == "store_space_insufficient"
            || (code == "doctor_failed" && store_status(&run) == "unwritable");
        assert!(as_undisturbed || says_so, "{what}: {run}");
        count(counts, format!("refused: {code}"));
        if has_log {
            count(counts, "refused with a diagnostic log");
        }
    }
    disk.free();
    stage.recovers(what);
    count(counts, "the next command succeeded and nothing was left behind");
}

/// The run with paths on the disk as this process reads them.
fn from_outside(run: &Run, disk: &SmallDisk) -> Run {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let stdout = String::from_utf8(run.stdout.clone()).unwrap();
    let stdout = stdout.replace(&text(disk.inside()), &text(&disk.outside()));
    Run { status: run.status, stdout: stdout.into_bytes(), stderr: run.stderr.clone() }
}

/// What a failed `doctor` says of the store.
fn store_status(run: &Run) -> String {
    let document = run.document();
    let component = &document["error"]["details"]["report"]["components"]["analysis_store"];
    component["status"].as_str().unwrap().to_owned()
}
