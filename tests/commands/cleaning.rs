//! Whole cleanups on a store that commands filled: what goes, what stays, and what stops them.

use std::path::{Path, PathBuf};

use ghidr::domain::digest::{BasisDigest, SampleDigest};
use ghidr::domain::store_source::StoreSource;
use ghidr::store::{CleanupStepKind, Store, StoreLocation};
use serde_json::{Value, json};

use crate::support::fake_engine::{World, grandchildren};
use crate::support::ghidr::Run;
use crate::support::residue;
use crate::support::tree;

/// Two Samples with an Analysis, a kept result, an Artifact, a log and a quarantined Analysis each.
fn filled() -> World {
    let world = World::new();
    world.write_sample("other", b"another sample");
    for name in ["sample", "other"] {
        let sample = world.path("samples").join(name);
        let sample = sample.to_str().unwrap();
        world.run(["inspect", sample]).success();
        world.run(["functions", sample, "--all", "--max-inline-bytes", "1800"]).success();
        world.next(|answer| answer.fail("analysis_failed", json!({"exception_class": "E", "reason": "r"})));
        world.run(["inspect", sample, "--max-cpu", "1"]).error("analysis_failed", 1);
        let analysis = grandchildren(&world.store().join("analyses"))
            .into_iter()
            .find(|path| path.parent().unwrap().ends_with(digest(&world, name)))
            .unwrap();
        tree::flip_byte(&analysis.join("facts/program.json"));
        world.run(["inspect", sample]).success();
        world.run(["decompile", sample, "--name", "main"]).success();
    }
    world
}

fn digest(world: &World, name: &str) -> String {
    tree::sha256(&world.path("samples").join(name))
}

fn clean(world: &World, arguments: &[&str]) -> Run {
    world.run([&["clean"], arguments].concat())
}

fn sample(world: &World) -> String {
    world.sample().to_str().unwrap().to_owned()
}

/// Every file that is stored and its digest; locks left out.
fn stored(world: &World) -> Vec<(PathBuf, String)> {
    let folders = ["analyses", "artifacts", "diagnostics", "quarantine", "results"];
    let states = folders.iter().flat_map(|name| tree::state(&world.store().join(name)));
    states.filter_map(|(path, (_, _, digest))| Some((path, digest?))).collect()
}

fn of_sample(stored: &[(PathBuf, String)], digest: &str) -> Vec<(PathBuf, String)> {
    stored.iter().filter(|(path, _)| path.to_string_lossy().contains(digest)).cloned().collect()
}

fn numbers(counts: &Value) -> [u64; 4] {
    ["analyses", "quarantined_analyses", "artifacts", "diagnostic_logs"]
        .map(|name| counts[name].as_u64().unwrap())
}

#[test]
fn cleaning_a_sample_removes_all_of_it_and_nothing_of_another() {
    let world = filled();
    let other = of_sample(&stored(&world), &digest(&world, "other"));
    assert!(other.len() > 10, "{other:#?}");
    let dry = clean(&world, &[&sample(&world), "--dry-run"]).success();
    assert_eq!((dry["data"]["mode"].as_str(), dry["data"]["removed"].is_null()), (Some("dry_run"), true));
    assert_eq!(numbers(&dry["data"]["matched"]), [1, 1, 1, 1]);
    let executed = clean(&world, &[&sample(&world)]).success();
    assert_eq!(executed["kind"], "cleanup");
    let mut expected = dry["data"].clone();
    expected["mode"] = "executed".into();
    expected["removed"] = executed["data"]["removed"].clone();
    assert_eq!(executed["data"], expected, "a dry run says exactly what would go");
    let target = json!({
        "kind": "sample", "sha256": digest(&world, "sample"),
        "source_path": {"encoding": "utf8", "value": sample(&world)}
    });
    assert_eq!(executed["data"]["target"], target);
    let profiles = &executed["data"]["matched"]["analysis_profile_sha256"];
    assert_eq!(profiles.as_array().unwrap().len(), 1, "{profiles}");
    assert_eq!(of_sample(&stored(&world), &digest(&world, "sample")), []);
    assert_eq!(stored(&world), other, "the other sample's data is untouched");
    let runs = world.runs();
    let kept = world.run(["inspect", world.path("samples/other").to_str().unwrap()]).success();
    assert_eq!((kept["data"]["analysis"]["disposition"].as_str(), world.runs()), (Some("reused"), runs));
    let again = clean(&world, &[&sample(&world)]).success();
    assert_eq!((numbers(&again["data"]["removed"]), world.sample().exists()), ([0; 4], true));
}

#[test]
fn provenance_of_a_cleanup_is_the_reduced_one() {
    let world = filled();
    let document = clean(&world, &[&sample(&world), "--dry-run"]).success();
    let names: Vec<_> = document["provenance"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["adapter_protocol_version", "analysis_store", "ghidr_version", "sandbox"]);
}

#[test]
fn a_digest_stands_for_a_sample_that_is_gone() {
    let world = filled();
    std::fs::remove_file(world.sample()).unwrap();
    let digest = digest(&world, "other");
    let sample = stored(&world).len() - of_sample(&stored(&world), &digest).len();
    let document = clean(&world, &["--digest", &digest.to_uppercase()]).success();
    assert_eq!(document["data"]["target"], json!({"kind": "digest", "sha256": digest}));
    assert_eq!(numbers(&document["data"]["removed"]), [1, 1, 1, 1]);
    assert_eq!(stored(&world).len(), sample);
}

#[test]
fn everything_goes_with_yes_and_leaves_the_record_and_empty_folders() {
    let world = filled();
    world.run(["doctor", "--max-inline-bytes", "1000"]).success();
    let required = clean(&world, &["--all"]).error("confirmation_required", 1);
    assert_eq!(numbers(&required["details"]["matched"]), [2, 2, 3, 2], "doctor's report was spilled");
    let dry = clean(&world, &["--all", "--dry-run"]).success();
    let mut matched = dry["data"]["matched"].clone();
    matched.as_object_mut().unwrap().remove("analysis_profile_sha256");
    assert_eq!(matched, required["details"]["matched"]);
    assert_eq!(dry["data"]["target"], json!({"kind": "all"}));
    let executed = clean(&world, &["--all", "--yes"]).success();
    assert_eq!(executed["data"]["removed"], matched);
    residue::check(&world.store(), "clean --all");
    let created = world.ask("inspect", &[]).success();
    assert_eq!(created["data"]["analysis"]["disposition"], "created");
}

#[test]
fn a_reader_or_a_builder_makes_it_busy_before_anything_changes() {
    let world = filled();
    let before = stored(&world);
    let location = StoreLocation { path: world.store(), source: StoreSource::Cli };
    let store = Store::open_or_create(&location).unwrap();
    let digest: SampleDigest = digest(&world, "sample").parse().unwrap();
    let basis = BasisDigest::from_bytes([1; 32]);
    for builds in [false, true] {
        let reader = (!builds).then(|| store.read_lock(digest, basis).unwrap());
        let builder = builds.then(|| store.build_lock(digest, basis).unwrap());
        for arguments in [&[sample(&world).as_str()][..], &["--all", "--yes"]] {
            let error = clean(&world, arguments).error("analysis_busy", 1);
            assert!(
                error["details"]["retry_after_seconds"].as_u64().unwrap() > 0 && error["retryable"] == true
            );
        }
        assert_eq!(stored(&world), before);
        for arguments in [&[sample(&world).as_str(), "--dry-run"][..], &["--all", "--dry-run"]] {
            clean(&world, arguments).success();
        }
        drop((reader, builder));
    }
    clean(&world, &[&sample(&world)]).success();
}

#[test]
fn a_rename_that_fails_is_an_error_and_everything_is_back_in_its_place() {
    let world = filled();
    let before = stored(&world);
    for failing in 0..5 {
        let mut seen = 0;
        *world.before_cleanup_step.borrow_mut() = Box::new(move |step| {
            seen += usize::from(step.kind == CleanupStepKind::Move);
            let fails = step.kind == CleanupStepKind::Move && seen == failing + 1;
            if fails { Err(rustix::io::Errno::IO.into()) } else { Ok(()) }
        });
        let error = clean(&world, &[&sample(&world)]).error("store_failed", 1);
        assert_eq!(error["details"]["operation"], "rename", "{error}");
        assert_eq!(stored(&world), before, "rename {failing}");
        assert_eq!(tree::names(&world.store().join("cleanup")), Vec::<String>::new());
    }
    let reused = world.ask("inspect", &[]).success();
    assert_eq!(reused["data"]["analysis"]["disposition"], "reused");
}

#[test]
fn a_deletion_that_fails_is_incomplete_and_the_next_cleanup_of_the_target_finishes_it() {
    let world = filled();
    let matched = clean(&world, &[&sample(&world), "--dry-run"]).success()["data"]["matched"].clone();
    *world.before_cleanup_step.borrow_mut() = Box::new(|step| {
        let is_late = step.path.to_string_lossy().contains("diagnostics");
        let fails = step.kind == CleanupStepKind::Delete && is_late;
        if fails { Err(rustix::io::Errno::IO.into()) } else { Ok(()) }
    });
    let error = clean(&world, &[&sample(&world)]).error("cleanup_incomplete", 1);
    let details = &error["details"];
    assert_eq!((numbers(&details["removed"]), numbers(&details["remaining"])), ([1, 0, 1, 0], [0, 1, 0, 1]));
    for unit in ["logical_bytes", "allocated_bytes"] {
        let bytes = |counts: &Value| counts["usage"][unit].as_u64().unwrap();
        assert_eq!(bytes(&details["removed"]) + bytes(&details["remaining"]), bytes(&matched), "{unit}");
        assert!(bytes(&details["remaining"]) > 0);
    }
    assert_eq!(error["retryable"], true);
    let transaction = PathBuf::from(details["transaction"]["value"].as_str().unwrap());
    assert!(transaction.is_dir() && transaction.starts_with(world.store().join("cleanup")));
    let listed = world.run(["store", "list"]).success();
    assert_eq!(listed["data"]["interrupted_cleanups"]["transactions"], 1);
    // The Sample is analyzed anew, and the next cleanup removes both.
    *world.before_cleanup_step.borrow_mut() = Box::new(|_| Ok(()));
    assert_eq!(world.ask("inspect", &[]).success()["data"]["analysis"]["disposition"], "created");
    clean(&world, &["--digest", &digest(&world, "other")]).success();
    assert!(transaction.is_dir(), "another sample's cleanup leaves it alone");
    let finished = clean(&world, &[&sample(&world)]).success();
    assert_eq!(numbers(&finished["data"]["removed"]), [1, 1, 0, 1]);
    assert!(!transaction.exists());
}

/// A copy of a store, in the same world.
fn copied(world: &World, template: &Path, number: usize) -> PathBuf {
    let copy = world.path(&format!("store-{number}"));
    copy_directory(template, &copy);
    copy
}

fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    std::fs::set_permissions(to, std::fs::metadata(from).unwrap().permissions()).unwrap();
    for name in tree::names(from) {
        if from.join(&name).is_dir() {
            copy_directory(&from.join(&name), &to.join(&name));
        } else {
            std::fs::copy(from.join(&name), to.join(&name)).unwrap();
        }
    }
}

/// The command never comes back from one of its steps, as if it had been killed there.
#[test]
fn a_cleanup_killed_at_any_step_is_finished_by_the_next_one() {
    for arguments in [vec!["--digest".to_owned(), "SAMPLE".to_owned()], vec!["--all".into(), "--yes".into()]]
    {
        let mut world = filled();
        let template = world.store();
        for dying in 0.. {
            world.use_store(copied(&world, &template, dying));
            let arguments = arguments.clone().into_iter();
            let arguments: Vec<String> = std::iter::once("clean".to_owned())
                .chain(arguments.map(|word| word.replace("SAMPLE", &digest(&world, "sample"))))
                .collect();
            let mut taken: usize = 0;
            *world.before_cleanup_step.borrow_mut() = Box::new(move |_| {
                taken += 1;
                assert!(taken <= dying, "killed");
                Ok(())
            });
            let run = std::panic::AssertUnwindSafe(|| world.run(&arguments));
            if let Ok(finished) = std::panic::catch_unwind(run) {
                finished.success();
                assert!(dying > 8, "only {dying} steps");
                break;
            }
            *world.before_cleanup_step.borrow_mut() = Box::new(|_| Ok(()));
            // What is still there is served, and what is gone is made again.
            world.ask("inspect", &[]).success();
            world.run(&arguments).success();
            assert_eq!(of_sample(&stored(&world), &digest(&world, "sample")), []);
            assert_eq!(tree::names(&world.store().join("cleanup")), Vec::<String>::new());
        }
    }
}

#[test]
fn a_report_beyond_the_budget_is_an_artifact_of_no_sample_that_outlives_the_cleanup() {
    for arguments in [&["--digest", "SAMPLE"][..], &["--all", "--yes"]] {
        let world = filled();
        let digest = digest(&world, "sample");
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "SAMPLE" { digest.as_str() } else { word }).collect();
        let inline = clean(&world, &[&arguments[..], &["--dry-run"]].concat()).stdout.len();
        let before = stored(&world);
        let refused = clean(&world, &[&arguments[..], &["--max-inline-bytes", "1"]].concat());
        let required = refused.error("inline_budget_too_small", 1)["details"]["required_bytes"].clone();
        assert_eq!(stored(&world), before, "a report that fits nowhere removes nothing");
        let budget = (required.as_u64().unwrap()).to_string();
        assert!(required.as_u64().unwrap() < inline as u64 + 400, "{required} {inline}");
        let run = clean(&world, &[&arguments[..], &["--max-inline-bytes", &budget]].concat());
        let data = run.success()["data"].clone();
        if data["spilled"] == true {
            let path = PathBuf::from(data["artifact"]["path"]["value"].as_str().unwrap());
            assert!(path.starts_with(world.store().join("artifacts/global")));
            let report: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(report["data"]["mode"], "executed");
            let rest = stored(&world).len();
            assert!(arguments[0] != "--all" || rest == 1, "nothing but the report");
        }
        assert_eq!(of_sample(&stored(&world), &digest), []);
    }
}

#[test]
fn a_person_is_asked_once_and_only_yes_removes_everything() {
    let human = ["--format", "human", "clean", "--all"];
    let answers: [fn() -> Option<String>; 4] =
        [|| Some("n".into()), || Some(String::new()), || None, || Some("yes please".into())];
    let mut world = filled();
    let before = stored(&world);
    for answer in answers {
        world.person = Some(answer);
        let run = world.run_unframed(human);
        let text = String::from_utf8(run.stderr).unwrap();
        assert!(
            run.status == Some(1) && run.stdout.is_empty() && text == "error: nothing was removed\n",
            "{text}"
        );
        assert_eq!(stored(&world), before);
    }
    let question = world.questions.borrow()[0].clone();
    let expected = "2 analyses, 2 quarantined analyses, 2 kept results, 2 artifacts, 2 diagnostic logs; ";
    assert!(question.contains(expected) && question.ends_with("? [y/N] "), "{question}");
    assert_eq!(world.questions.borrow().len(), 4);
    for silent in [&["--dry-run"][..], &["--dry-run", "--yes"]] {
        assert_eq!(world.run_unframed([&human, silent].concat()).status, Some(0));
    }
    clean(&world, &["--all"]).error("confirmation_required", 1);
    assert_eq!((world.questions.borrow().len(), stored(&world)), (4, before), "nobody is asked needlessly");
    world.person = Some(|| Some("y".into()));
    let run = world.run_unframed(human);
    assert!(run.stdout.starts_with(b"Removed: 2 analyses"), "{run}");
    assert_eq!(stored(&world), []);
    world.run_unframed([&human[..], &["--yes"]].concat());
    assert_eq!(world.questions.borrow().len(), 5);
}

#[test]
fn what_can_no_longer_be_read_can_still_be_cleaned() {
    let world = filled();
    let outside = world.path("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("kept"), "kept").unwrap();
    let analysis = world.store().join("analyses").join(digest(&world, "sample"));
    std::fs::remove_dir_all(&analysis).unwrap();
    std::os::unix::fs::symlink(&outside, &analysis).unwrap();
    world.ask("inspect", &[]).error("corrupt_analysis", 1);
    assert_eq!(numbers(&clean(&world, &[&sample(&world)]).success()["data"]["removed"]), [0, 1, 1, 1]);
    assert!(std::fs::symlink_metadata(&analysis).is_err() && outside.join("kept").exists());
    world.ask("inspect", &[]).success();
}
