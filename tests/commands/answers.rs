//! From an analysis to answers: what is asked of the worker, what is kept, what is reused.

use serde_json::json;

use crate::support::fake_answer::{decompilation, function, program};
use crate::support::fake_engine::{World, grandchildren};

#[test]
fn one_analysis_answers_every_facts_query() {
    let world = World::new();
    let first = world.ask("inspect", &[]).success();
    assert_eq!(first["data"]["analysis"]["disposition"], "created");
    assert_eq!(first["provenance"]["limits"]["child_watchdog_seconds"], 720);
    let second = world.ask("inspect", &[]).success();
    assert_eq!(second["data"]["analysis"]["disposition"], "reused");
    assert_eq!(second["provenance"]["limits"]["child_watchdog_seconds"], json!(null));
    assert_eq!(second["data"]["program"], first["data"]["program"]);
    let list = world.ask("functions", &["--all"]).success();
    assert_eq!(list["data"]["page"]["total"], first["data"]["program"]["function_count"]);
    assert_eq!(world.operations(), ["analyze"]);
}

#[test]
fn functions_are_the_facts_in_their_order_on_every_page() {
    let world = World::new();
    let all = world.ask("functions", &["--all"]).success()["data"].clone();
    assert_eq!(all["page"]["limit"], json!(null));
    let names: Vec<&str> =
        all["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["_init", "getenv", "parse", "parse", "main", "getenv"]);
    let mut paged = Vec::new();
    for offset in ["0", "4", "8"] {
        let page = world.ask("functions", &["--limit", "4", "--offset", offset]).success()["data"].clone();
        assert_eq!((&page["page"]["limit"], &page["page"]["total"]), (&json!(4), &json!(6)));
        paged.extend(page["items"].as_array().unwrap().clone());
    }
    assert_eq!(json!(paged), all["items"]);
    let default = world.ask("functions", &[]).success()["data"]["page"].clone();
    assert_eq!(
        (&default["limit"], &default["offset"], &default["has_more"]),
        (&json!(100), &json!(0), &json!(false))
    );
    let past = world.ask("functions", &["--offset", "18446744073709551615"]).success()["data"].clone();
    assert_eq!((&past["items"], &past["page"]["has_more"]), (&json!([]), &json!(false)));
}

#[test]
fn a_program_without_functions_or_memory_is_an_answer() {
    let world = World::new();
    world.next(|answer| {
        answer.functions.clear();
        for name in ["image_base", "minimum_address", "maximum_address"] {
            answer.program[name] = json!(null);
        }
    });
    let inspection = world.ask("inspect", &[]).success();
    assert_eq!(inspection["data"]["program"]["image_base"], json!(null));
    assert_eq!(inspection["data"]["program"]["function_count"], 0);
    assert_eq!(world.ask("functions", &[]).success()["data"]["items"], json!([]));
}

#[test]
fn the_same_bytes_anywhere_are_the_same_sample_and_other_bytes_are_not() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    let copy = world.write_sample("other name, with comma", b"not even a program");
    let copied = world.run(["inspect".as_ref(), copy.as_os_str()]).success();
    assert_eq!(copied["data"]["analysis"]["disposition"], "reused");
    assert_eq!(copied["provenance"]["source_path"]["value"], copy.to_str().unwrap());
    let other = world.write_sample("changed", b"other bytes");
    assert_eq!(
        world.run(["inspect".as_ref(), other.as_os_str()]).success()["data"]["analysis"]["disposition"],
        "created"
    );
    assert_eq!(world.analyses().len(), 2);
}

#[test]
fn max_cpu_names_another_analysis_and_other_limits_do_not() {
    let world = World::new();
    let profile = |arguments: &[&str]| {
        let document = world.ask("inspect", arguments).success();
        (
            document["provenance"]["analysis_profile_sha256"].clone(),
            document["data"]["analysis"]["disposition"].clone(),
        )
    };
    let (digest, _) = profile(&[]);
    for same in
        [["--max-heap-mib", "512"], ["--analysis-timeout-seconds", "9"], ["--max-inline-bytes", "9999"]]
    {
        assert_eq!(profile(&same), (digest.clone(), json!("reused")), "{same:?}");
    }
    let (other, disposition) = profile(&["--max-cpu", "1"]);
    assert!(other != digest && disposition == "created");
    assert_eq!(profile(&[]), (digest, json!("reused")), "the first Analysis survives");
}

#[test]
fn a_cold_decompile_is_one_worker_and_a_warm_one_another() {
    let world = World::new();
    let cold = world.ask("decompile", &["--name", "main"]).success();
    assert_eq!(cold["data"]["requested_selector"], json!({"kind": "name", "value": "main"}));
    assert_eq!(cold["provenance"]["limits"]["child_watchdog_seconds"], 780);
    let warm = world.ask("decompile", &["--name", "A::parse"]).success();
    assert_eq!(warm["provenance"]["limits"]["child_watchdog_seconds"], 180);
    assert_eq!(world.operations(), ["analyze", "query"]);
    let seen = world.seen.borrow();
    let selector = &seen[1].request["arguments"]["queries"]["items"][0]["selector"];
    assert_eq!(selector["kind"], "address", "a stored table resolves the selector before Ghidra is asked");
}

#[test]
fn a_function_decompiled_before_is_answered_without_a_worker() {
    let world = World::new();
    let cold = world.ask("decompile", &["--name", "main"]).success();
    let again = world.ask("decompile", &["--address", "ram:0x0000000000001080"]).success();
    assert_eq!(
        again["data"]["requested_selector"],
        json!({"kind": "address", "value": "ram:0x0000000000001080"})
    );
    assert_eq!(again["data"]["decompilation"], cold["data"]["decompilation"]);
    assert_eq!(again["provenance"]["limits"]["child_watchdog_seconds"], json!(null));
    let queried = world.ask("decompile", &["--name", "A::parse"]);
    let repeated = world.ask("decompile", &["--name", "A::parse", "--decompile-timeout-seconds", "1"]);
    assert_eq!(repeated.success()["data"], queried.success()["data"]);
    assert_eq!(world.operations(), ["analyze", "query"]);
    world.ask("decompile", &["--name", "main", "--max-cpu", "1"]).success();
    assert_eq!(world.operations(), ["analyze", "query", "analyze"], "another Analysis has its own results");
}

#[test]
fn a_failed_decompilation_is_asked_again_and_a_damaged_result_too() {
    let world = World::new();
    world.ask("inspect", &[]).success();
    world.next(|answer| {
        answer.fail_query(
            "decompile_failed",
            json!({"reason": "r", "entry": {"space": "ram", "offset": "0x0000000000001080"}}),
        )
    });
    world.ask("decompile", &["--name", "main"]).error("decompile_failed", 1);
    let answered = world.ask("decompile", &["--name", "main"]).success();
    assert_eq!(world.operations(), ["analyze", "query", "query"]);
    let results = grandchildren(&world.store().join("results"));
    let kept = std::fs::read_dir(&results[0]).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, text.replace("return;", "retour;")).unwrap();
    let asked = world.ask("decompile", &["--name", "main"]).success();
    assert_eq!(asked["data"], answered["data"]);
    assert_eq!(world.operations(), ["analyze", "query", "query", "query"]);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), text, "the damaged file was replaced");
}

#[test]
fn an_answer_about_another_function_than_the_one_asked_for_breaks_the_protocol() {
    for warm in [false, true] {
        let world = World::new();
        if warm {
            world.ask("inspect", &[]).success();
        }
        world.next(move |answer| {
            *answer.outcome_at("/query/decompilation") = decompilation("_init", 0x1000);
        });
        let error = world.ask("decompile", &["--name", "main"]).error("protocol_violation", 1);
        assert_eq!(error["details"]["received"], "ram:0x0000000000001000");
        assert!(!world.store().join("results").exists());
    }
}

#[test]
fn recorded_faults_and_suspicions_are_repeated_by_every_query_sorted_and_once() {
    let world = World::new();
    world.next(|answer| {
        let fault = |name: &str| {
            json!({"kind": "analyzer_failed", "analyzer": name, "exception_class": "java.lang.Error", "message": "m"})
        };
        let items = [fault("Z"), fault("A"), fault("Z")];
        *answer.outcome_at("/analysis/faults") = json!({"total": 30, "items": items});
        *answer.outcome_at("/analysis/suspicions") = json!(["headers_past_end_of_file", "no_function_in_executable_program"]);
        *answer.outcome_at("/analysis/analyzers/3/status") = json!("failed");
    });
    let created = world.ask("inspect", &[]);
    let expected = [
        "analyzer_failed",
        "analyzer_failed",
        "engine_faults_omitted",
        "sandbox_disabled",
        "suspicious_analysis",
        "unverified_target",
    ];
    assert_eq!(created.warning_codes(), expected);
    let warnings = created.document()["warnings"].clone();
    assert_eq!(
        (&warnings[0]["details"]["analyzer"], &warnings[1]["details"]["analyzer"]),
        (&json!("A"), &json!("Z"))
    );
    assert_eq!(warnings[2]["details"], json!({"shown": 3, "omitted": 27}));
    let completeness = created.document()["data"]["analysis"]["completeness"].clone();
    assert_eq!(
        (&completeness["complete"], &completeness["failed"]),
        (&json!(false), &json!(["Analyzer 03"]))
    );
    for again in [world.ask("functions", &[]), world.ask("decompile", &["--name", "main"])] {
        assert_eq!(again.document()["warnings"], warnings);
    }
}

#[test]
fn decompiler_warnings_join_the_envelope_and_the_text_stays_verbatim() {
    let world = World::new();
    let text = "\n/* WARNING: a */\nvoid f(void)\t \u{202e}{}";
    world.next(move |answer| {
        let decompilation = answer.outcome_at("/query/decompilation");
        decompilation["text"] = json!(text);
        decompilation["warnings"] = json!(["WARNING: b", "WARNING: a", "WARNING: b"]);
    });
    let run = world.ask("decompile", &["--name", "main"]);
    assert_eq!(run.success()["data"]["decompilation"]["text"], text);
    let warnings = run.document()["warnings"].clone();
    assert_eq!(warnings[0]["details"]["text"], "WARNING: a");
    assert_eq!(warnings[1]["details"]["text"], "WARNING: b");
    assert_eq!(run.warning_codes().iter().filter(|code| *code == "decompiler_warning").count(), 2);
}

#[test]
fn each_mode_says_what_stands_behind_it_even_when_no_worker_ran() {
    let mut world = World::new();
    world.ask("inspect", &[]).success();
    for (mode, verification, code) in
        [("off", "disabled", "sandbox_disabled"), ("external", "unverified", "external_sandbox_unverified")]
    {
        world.mode = mode;
        let run = world.ask("functions", &[]);
        let sandbox = run.success()["provenance"]["sandbox"].clone();
        assert_eq!(sandbox, json!({"backend": mode, "verification": verification}));
        assert!(run.warning_codes().contains(&code.to_owned()), "{run}");
    }
    assert_eq!(world.runs(), 1);
}

#[test]
fn every_name_reaches_json_exactly() {
    let world = World::new();
    let names = ["a\"b\\c", "\u{7f}\u{1}\u{202e}", "größe", "std::vector<int>::~vector", &"n".repeat(70_000)];
    let table: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(index, name)| function(name, name, "ram", 0x1000 + index as u64))
        .collect();
    world.next(move |answer| answer.functions = table);
    let list = world.ask("functions", &["--max-inline-bytes", "1000000"]).success();
    for (item, name) in list["data"]["items"].as_array().unwrap().iter().zip(names) {
        assert_eq!(item["name"], name);
    }
    assert_eq!(program().len(), 6);
}
