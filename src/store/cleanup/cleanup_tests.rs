//! Cleanups that succeed, fail and die at every step, on a store with two Samples.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::*;
use crate::domain::cleanup::{CleanupCounts, CleanupMatch};
use crate::domain::digest::{BasisDigest, ProfileDigest, SampleDigest};
use crate::domain::invocation_id::InvocationId;
use crate::store::error::StoreError;
use crate::store::lock::LockScope;
use crate::store::testing::{TestStore, bound_by_modes, id};

const SAMPLE: SampleDigest = SampleDigest::from_bytes([1; 32]);
const OTHER: SampleDigest = SampleDigest::from_bytes([2; 32]);
const BASIS: BasisDigest = BasisDigest::from_bytes([3; 32]);
const SCOPES: [CleanupScope; 2] = [CleanupScope::Sample(SAMPLE), CleanupScope::All];

/// Two Profiles of each Sample, one of them quarantined twice, and what belongs to no Sample.
fn filled() -> TestStore {
    let test = TestStore::new();
    for sample in [SAMPLE, OTHER] {
        fill(&test, sample);
    }
    write(&test, &format!("artifacts/global/{}.json", "0a".repeat(32)), 10);
    write(&test, &format!("diagnostics/global/{}/manifest.json", id(9)), 10);
    test
}

fn fill(test: &TestStore, sample: SampleDigest) {
    for profile in [profile(1), profile(2)] {
        write(test, &format!("analyses/{sample}/{profile}/manifest.json"), 100);
        write(test, &format!("analyses/{sample}/{profile}/project/analysis.rep/idata/00/db"), 5_000);
    }
    write(test, &format!("artifacts/{sample}/{}/{}.json", profile(1), "0b".repeat(32)), 20);
    write(test, &format!("artifacts/{sample}/{}/{}.jsonl", profile(1), "0c".repeat(32)), 20);
    write(test, &format!("results/{sample}/{}/{}.json", profile(2), "0d".repeat(32)), 50);
    write(test, &format!("diagnostics/{sample}/{}/stderr.log", id(1)), 30);
    for invocation in [id(1), id(2)] {
        write(test, &format!("quarantine/{sample}/{}/{invocation}/manifest.json", profile(3)), 40);
    }
}

fn profile(number: u8) -> ProfileDigest {
    ProfileDigest::from_bytes([0x10 + number; 32])
}

fn write(test: &TestStore, path: &str, bytes: usize) {
    let path = test.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, vec![b'x'; bytes]).unwrap();
}

/// Every entry below a directory with what a file holds or a link says; lock files left out.
fn state(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(path) = pending.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if entry.file_name() == "locks" {
                continue;
            }
            let content = if kind.is_dir() {
                pending.push(entry.path());
                "directory".to_owned()
            } else if kind.is_symlink() {
                format!("link to {}", fs::read_link(entry.path()).unwrap().display())
            } else {
                format!("{} bytes", fs::read(entry.path()).unwrap().len())
            };
            found.insert(entry.path().strip_prefix(directory).unwrap().to_owned(), content);
        }
    }
    found
}

fn files(state: &BTreeMap<PathBuf, String>, part: &str) -> usize {
    let named = state.iter().filter(|(path, _)| path.to_string_lossy().contains(part));
    named.filter(|(_, content)| *content != "directory").count()
}

fn survey(test: &TestStore, scope: CleanupScope) -> CleanupMatch {
    test.store.survey(&test.store.lock().unwrap(), scope).unwrap()
}

fn clean_with(
    test: &TestStore,
    scope: CleanupScope,
    id: InvocationId,
    before_step: &mut dyn FnMut(&CleanupStep) -> io::Result<()>,
) -> Result<(), CleanupError> {
    let lock = test.store.clean_lock(scope).unwrap();
    test.store.sweep_for_cleanup(&lock).unwrap();
    test.store.clean(&lock, id, before_step)?;
    test.store.retire_locks(lock);
    Ok(())
}

fn clean(test: &TestStore, scope: CleanupScope) -> Result<(), CleanupError> {
    clean_with(test, scope, id(8), &mut |_| Ok(()))
}

/// The steps of a cleanup that succeeds.
fn steps(scope: CleanupScope) -> Vec<CleanupStep> {
    let mut steps = Vec::new();
    clean_with(&filled(), scope, id(8), &mut |step| {
        steps.push(step.clone());
        Ok(())
    })
    .unwrap();
    steps
}

fn refuse() -> io::Result<()> {
    Err(rustix::io::Errno::IO.into())
}

#[test]
fn the_survey_counts_every_kind_and_every_profile() {
    let test = filled();
    let one = survey(&test, CleanupScope::Sample(SAMPLE));
    let numbers = |counts: CleanupCounts| {
        let data = [counts.analyses, counts.quarantined_analyses, counts.kept_results];
        (data, [counts.artifacts, counts.diagnostic_logs])
    };
    assert_eq!(numbers(one.counts), ([2, 2, 1], [2, 1]));
    assert_eq!(one.analysis_profile_sha256, [profile(1), profile(2), profile(3)]);
    assert_eq!(one.counts.usage.logical_bytes, 2 * 5_100 + 2 * 20 + 50 + 30 + 2 * 40);
    let all = survey(&test, CleanupScope::All);
    assert_eq!(numbers(all.counts), ([4, 4, 2], [5, 3]));
    assert_eq!(all.analysis_profile_sha256, one.analysis_profile_sha256, "unique over both samples");
    assert_eq!(all.counts.usage.logical_bytes, 2 * one.counts.usage.logical_bytes + 20);
    let global = test.store.survey_global(&test.store.lock().unwrap()).unwrap();
    assert_eq!(numbers(global), ([0, 0, 0], [1, 1]));
    assert_eq!(survey(&test, CleanupScope::Sample(SampleDigest::from_bytes([9; 32]))), <_>::default());
    assert_eq!(test.store.kept_samples(&test.store.lock().unwrap()).unwrap(), [SAMPLE, OTHER]);
}

#[test]
fn a_sample_goes_with_its_locks_and_no_other_is_touched() {
    let test = filled();
    drop(test.store.read_lock(SAMPLE, BASIS).unwrap());
    drop(test.store.read_lock(OTHER, BASIS).unwrap());
    let before = state(test.path());
    clean(&test, CleanupScope::Sample(SAMPLE)).unwrap();
    let mut expected = before;
    expected.retain(|path, _| !path.to_string_lossy().contains(&SAMPLE.to_string()));
    expected.insert("cleanup".into(), "directory".into());
    assert_eq!(state(test.path()), expected);
    assert!(!test.path().join(format!("locks/{SAMPLE}")).exists());
    assert!(test.path().join(format!("locks/{OTHER}/sample.lock")).exists());
    clean(&test, CleanupScope::Sample(SAMPLE)).unwrap();
    assert_eq!(state(test.path()), expected);
}

#[test]
fn after_everything_only_the_record_and_empty_folders_remain() {
    let test = filled();
    drop(test.store.read_lock(SAMPLE, BASIS).unwrap());
    write(&test, "staging/left behind/file", 10);
    write(&test, "analyses/foreign file", 10);
    write(&test, "cleanup/foreign/file", 10);
    write(&test, "cleanup/foreign file", 10);
    clean(&test, CleanupScope::All).unwrap();
    let left: Vec<_> = state(test.path()).into_keys().collect();
    let folders =
        ["analyses", "artifacts", "cleanup", "diagnostics", "quarantine", "results", "staging", "store.json"];
    assert_eq!(left, folders.map(PathBuf::from));
    assert_eq!(fs::read_dir(test.path().join("locks")).unwrap().count(), 0);
    clean(&test, CleanupScope::All).unwrap();
    drop(test.store.read_lock(SAMPLE, BASIS).unwrap());
}

#[test]
fn a_failed_rename_undoes_all_before_it() {
    for scope in SCOPES {
        let moves = steps(scope).iter().filter(|step| step.kind == CleanupStepKind::Move).count();
        assert_eq!(moves, if scope == CleanupScope::All { 12 } else { 5 });
        for failing in 0..=moves {
            let test = filled();
            let before = state(test.path());
            let mut seen = 0;
            let outcome = clean_with(&test, scope, id(8), &mut |step| {
                let fails = match step.kind {
                    CleanupStepKind::Move => seen == failing,
                    CleanupStepKind::Seal => failing == moves,
                    _ => false,
                };
                seen += usize::from(step.kind == CleanupStepKind::Move);
                if fails { refuse() } else { Ok(()) }
            });
            assert!(matches!(outcome, Err(CleanupError::Refused(StoreError::Io { .. }))), "{outcome:?}");
            let mut after = state(test.path());
            assert_eq!(after.remove(Path::new("cleanup")).as_deref(), Some("directory"));
            assert_eq!(after, before, "rename {failing} of {moves}");
        }
    }
}

#[test]
fn a_rename_that_the_system_refuses_undoes_all_before_it() {
    let test = filled();
    let before = state(test.path());
    let lock = test.store.clean_lock(CleanupScope::Sample(SAMPLE)).unwrap();
    let outcome = test.store.clean(&lock, id(8), &mut |step| {
        if step.kind == CleanupStepKind::Move && step.path.to_string_lossy().contains("quarantine") {
            // Somebody else's file is where the fourth one is to go.
            let taken = format!("cleanup/{SAMPLE}-{}/quarantine/{SAMPLE}", id(8));
            write(&test, &taken, 1);
        }
        Ok(())
    });
    assert!(matches!(outcome, Err(CleanupError::Refused(StoreError::Corrupt { .. }))), "{outcome:?}");
    let mut after = state(test.path());
    after.remove(Path::new("cleanup"));
    assert_eq!(after, before);
}

#[test]
fn an_undo_that_fails_too_leaves_a_transaction_to_finish() {
    let test = filled();
    let scope = CleanupScope::Sample(SAMPLE);
    let outcome = clean_with(&test, scope, id(8), &mut |step| match step.kind {
        CleanupStepKind::Seal | CleanupStepKind::Undo => refuse(),
        _ => Ok(()),
    });
    let Err(CleanupError::Incomplete { transaction, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(transaction, test.path().join(format!("cleanup/{SAMPLE}-{}", id(8))));
    assert_eq!(survey(&test, scope).counts.analyses, 2);
    clean(&test, scope).unwrap();
    assert_eq!(survey(&test, scope), CleanupMatch::default());
}

/// A command that dies is one that never returns from `before_step`.
#[test]
fn death_at_any_step_leaves_data_in_place_or_a_transaction_and_nothing_is_deleted_in_place() {
    for scope in SCOPES {
        let steps = steps(scope);
        let sealed = steps.iter().position(|step| step.kind == CleanupStepKind::Seal).unwrap();
        for (dying, at) in steps.iter().enumerate() {
            let test = filled();
            let before = state(test.path());
            let all = survey(&test, scope);
            let mut taken = 0;
            let died = catch_unwind(AssertUnwindSafe(|| {
                clean_with(&test, scope, id(8), &mut |_| {
                    assert_ne!(taken, dying, "killed");
                    taken += 1;
                    Ok(())
                })
            }));
            assert!(died.is_err());
            let left = survey(&test, scope);
            if dying <= sealed {
                assert_eq!(left, all, "{at}: nothing is deleted before every rename is done");
            } else {
                assert!(
                    files(&state(test.path()), "") < files(&before, "") || at.kind == CleanupStepKind::Delete
                );
                let active = test.path().join(format!("analyses/{SAMPLE}"));
                assert!(!active.exists(), "{at}: what is being deleted is out of sight");
            }
            let others = |state: &BTreeMap<PathBuf, String>| files(state, &OTHER.to_string());
            if scope != CleanupScope::All {
                assert_eq!(others(&state(test.path())), others(&before), "{at}");
            }
            // A new Analysis may be made before the next cleanup.
            write(&test, &format!("analyses/{SAMPLE}/{}/manifest.json", profile(5)), 10);
            clean_with(&test, scope, id(9), &mut |_| Ok(())).unwrap();
            assert_eq!(survey(&test, scope), CleanupMatch::default(), "{at}");
            assert_eq!(fs::read_dir(test.path().join("cleanup")).unwrap().count(), 0, "{at}");
        }
    }
}

#[test]
fn a_failed_deletion_says_what_is_left_and_the_next_cleanup_deletes_that_first() {
    for scope in SCOPES {
        let steps = steps(scope);
        let deletions = steps.iter().filter(|step| step.kind == CleanupStepKind::Delete).count();
        for failing in 0..deletions {
            let test = filled();
            let all = survey(&test, scope);
            let mut seen = 0;
            let outcome = clean_with(&test, scope, id(8), &mut |step| {
                seen += usize::from(step.kind == CleanupStepKind::Delete);
                if seen > failing { refuse() } else { Ok(()) }
            });
            assert!(matches!(outcome, Err(CleanupError::Incomplete { .. })), "{outcome:?}");
            let remaining = survey(&test, scope);
            let mut sum = all.counts.without(remaining.counts);
            assert_eq!(sum.analyses, (failing as u64).min(all.counts.analyses), "deletion {failing}");
            sum += remaining.counts;
            assert_eq!(sum, all.counts);
            fill(&test, SAMPLE);
            let mut order = Vec::new();
            clean_with(&test, scope, id(9), &mut |step| {
                order.push(step.kind);
                Ok(())
            })
            .unwrap();
            let begun = order.iter().position(|kind| *kind == CleanupStepKind::Begin).unwrap();
            assert_eq!(order[begun - 1], CleanupStepKind::End);
            assert!(order[..begun - 1].iter().all(|kind| *kind == CleanupStepKind::Delete));
            assert_eq!(survey(&test, scope), CleanupMatch::default());
        }
    }
}

#[test]
fn a_transaction_of_another_target_is_left_to_its_own_cleanup() {
    let test = filled();
    let stop = &mut |step: &CleanupStep| if step.kind == CleanupStepKind::Delete { refuse() } else { Ok(()) };
    clean_with(&test, CleanupScope::Sample(SAMPLE), id(8), stop).unwrap_err();
    let left = test.path().join(format!("cleanup/{SAMPLE}-{}", id(8)));
    clean(&test, CleanupScope::Sample(OTHER)).unwrap();
    assert!(left.exists());
    let leftovers = test.store.leftovers(&test.store.lock().unwrap()).unwrap();
    assert_eq!((leftovers.transactions, leftovers.usage.logical_bytes), (1, 10_400));
    clean(&test, CleanupScope::All).unwrap();
    assert!(!left.exists());
}

#[test]
fn what_lies_in_a_transaction_satisfies_no_query() {
    let test = TestStore::new();
    let analysis = test.promote(2, 1);
    let scope = CleanupScope::Sample(test.sample());
    let stop = &mut |step: &CleanupStep| if step.kind == CleanupStepKind::Delete { refuse() } else { Ok(()) };
    clean_with(&test, scope, id(8), stop).unwrap_err();
    assert!(!analysis.exists() && survey(&test, scope).counts.analyses == 1);
    assert!(test.store.find_analysis(&test.read_lock(2)).unwrap().is_none());
}

#[test]
fn links_and_foreign_things_are_removed_and_what_they_point_to_stays() {
    let test = filled();
    let outside = test.path().parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), b"kept").unwrap();
    symlink(&outside, test.path().join(format!("analyses/{SAMPLE}/{}/facts", profile(1)))).unwrap();
    symlink(&outside, test.path().join(format!("analyses/{SAMPLE}/{}", profile(9)))).unwrap();
    fs::remove_dir_all(test.path().join(format!("diagnostics/{SAMPLE}"))).unwrap();
    symlink(&outside, test.path().join(format!("diagnostics/{SAMPLE}"))).unwrap();
    let fifo = test.path().join(format!("artifacts/{SAMPLE}/fifo"));
    rustix::fs::mknodat(rustix::fs::CWD, fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let closed = test.path().join(format!("analyses/{SAMPLE}/{}/project", profile(2)));
    fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).unwrap();
    let matched = survey(&test, CleanupScope::Sample(SAMPLE)).counts;
    assert_eq!((matched.analyses, matched.diagnostic_logs), (3, 0), "a link in its place counts as damaged");
    clean(&test, CleanupScope::Sample(SAMPLE)).unwrap();
    assert_eq!(files(&state(test.path()), &SAMPLE.to_string()), 0);
    assert_eq!(fs::read(outside.join("kept")).unwrap(), b"kept");
}

#[test]
fn a_directory_that_may_not_be_opened_is_counted_before_it_goes_or_stops_the_count() {
    let scope = CleanupScope::Sample(SAMPLE);
    let expected = survey(&filled(), scope);
    let closed = [
        format!("analyses/{SAMPLE}"),
        format!("analyses/{SAMPLE}/{}/project", profile(1)),
        format!("quarantine/{SAMPLE}/{}", profile(3)),
        format!("results/{SAMPLE}/{}", profile(2)),
        format!("artifacts/{SAMPLE}"),
        format!("diagnostics/{SAMPLE}/{}", id(1)),
    ];
    for (path, mode) in closed.iter().flat_map(|path| [(path, 0o000), (path, 0o400)]) {
        let test = filled();
        fs::set_permissions(test.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
        bound_by_modes(|| {
            let lock = test.store.lock().unwrap();
            let refused = [
                test.store.survey(&lock, scope).map(drop),
                test.store.describe_sample(&lock, SAMPLE).map(drop),
            ];
            for outcome in refused {
                assert!(matches!(outcome, Err(StoreError::Io { .. })), "{path} {mode:o}: {outcome:?}");
            }
            drop(lock);
            let lock = test.store.clean_lock(scope).unwrap();
            assert_eq!(test.store.survey_for_cleanup(&lock).unwrap(), expected, "{path} {mode:o}");
            test.store.clean(&lock, id(8), &mut |_| Ok(())).unwrap();
        });
        assert_eq!(survey(&test, scope), CleanupMatch::default());
    }
}

#[test]
fn a_transaction_that_may_not_be_opened_is_counted_before_it_goes() {
    let scope = CleanupScope::Sample(SAMPLE);
    let test = filled();
    let expected = survey(&test, scope);
    let stop = &mut |step: &CleanupStep| if step.kind == CleanupStepKind::Delete { refuse() } else { Ok(()) };
    clean_with(&test, scope, id(8), stop).unwrap_err();
    let left = test.path().join(format!("cleanup/{SAMPLE}-{}", id(8)));
    fs::set_permissions(&left, fs::Permissions::from_mode(0o000)).unwrap();
    bound_by_modes(|| {
        let lock = test.store.lock().unwrap();
        assert!(matches!(test.store.survey(&lock, scope), Err(StoreError::Io { .. })));
        assert!(matches!(test.store.leftovers(&lock), Err(StoreError::Io { .. })));
        drop(lock);
        let lock = test.store.clean_lock(scope).unwrap();
        assert_eq!(test.store.survey_for_cleanup(&lock).unwrap(), expected);
        test.store.clean(&lock, id(9), &mut |_| Ok(())).unwrap();
    });
    assert!(!left.exists());
}

#[test]
fn an_area_that_is_no_directory_goes_only_with_everything() {
    for area in ["analyses", "results", "artifacts", "diagnostics", "quarantine", "cleanup", "staging"] {
        let test = filled();
        let outside = test.path().parent().unwrap().join("outside");
        let _ = fs::rename(test.path().join(area), &outside);
        fs::create_dir_all(&outside).unwrap();
        let before = state(&outside);
        symlink(&outside, test.path().join(area)).unwrap();
        let lock = test.store.clean_lock(CleanupScope::Sample(SAMPLE)).unwrap();
        let outcome = test.store.sweep_for_cleanup(&lock).map_err(CleanupError::from);
        let outcome = outcome.and_then(|()| test.store.clean(&lock, id(8), &mut |_| Ok(())));
        assert!(matches!(outcome, Err(CleanupError::Refused(StoreError::Corrupt { .. }))), "{area}");
        drop(lock);
        clean(&test, CleanupScope::All).unwrap();
        assert_eq!(files(&state(test.path()), ""), 1, "{area}: only store.json");
        assert_eq!(state(&outside), before, "{area}");
    }
}

#[test]
fn cleaners_wait_for_nobody_and_change_nothing_when_somebody_is_there() {
    let test = filled();
    let other = test.reopen();
    let busy = |outcome: Result<CleanLock, StoreError>, expected: LockScope| matches!(outcome, Err(StoreError::Busy { scope, .. }) if scope == expected);
    let before = state(test.path());
    for builds in [false, true] {
        let reader = (!builds).then(|| other.read_lock(SAMPLE, BASIS).unwrap());
        let builder = builds.then(|| other.build_lock(SAMPLE, BASIS).unwrap());
        assert!(busy(test.store.clean_lock(CleanupScope::Sample(SAMPLE)), LockScope::Sample));
        assert!(busy(test.store.clean_lock(CleanupScope::All), LockScope::Store));
        clean(&test, CleanupScope::Sample(SampleDigest::from_bytes([9; 32]))).unwrap();
        drop((reader, builder));
    }
    assert_eq!(state(test.path()), before);
    let cleaner = test.store.clean_lock(CleanupScope::Sample(SAMPLE)).unwrap();
    assert!(busy(other.clean_lock(CleanupScope::Sample(SAMPLE)), LockScope::Sample));
    assert!(busy(other.clean_lock(CleanupScope::All), LockScope::Store));
    assert!(matches!(other.read_lock(SAMPLE, BASIS), Err(StoreError::Busy { .. })));
    drop(other.read_lock(OTHER, BASIS).unwrap());
    drop(cleaner);
    let cleaner = test.store.clean_lock(CleanupScope::All).unwrap();
    assert!(busy(other.clean_lock(CleanupScope::Sample(OTHER)), LockScope::Store));
    assert!(matches!(other.lock(), Err(StoreError::Busy { .. })));
    drop(cleaner);
}

#[test]
fn lock_files_vanish_under_a_crowd_without_letting_two_in() {
    let test = TestStore::new();
    let inside = std::sync::atomic::AtomicU32::new(0);
    let entered = std::sync::atomic::AtomicU32::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (test, inside, entered) = (&test, &inside, &entered);
            scope.spawn(move || {
                let store = test.reopen();
                let target = if worker == 0 { CleanupScope::All } else { CleanupScope::Sample(SAMPLE) };
                for _ in 0..200 {
                    match store.clean_lock(target) {
                        Ok(lock) => {
                            assert_eq!(inside.fetch_add(1, order), 0);
                            entered.fetch_add(1, order);
                            inside.fetch_sub(1, order);
                            store.retire_locks(lock);
                        }
                        Err(error) => assert!(matches!(error, StoreError::Busy { .. }), "{error}"),
                    }
                }
            });
        }
    });
    assert!(entered.into_inner() > 0);
    // The last one to be refused may have left a file that it could not lock.
    clean(&test, CleanupScope::All).unwrap();
    assert_eq!(fs::read_dir(test.path().join("locks")).unwrap().count(), 0);
}
