//! For every code the test that provokes it through a built executable, and what its reader can do about it.
//!
//! A code without a row, a row without a code, and a test that is not there or does not speak of its code all fail. A
//! code that nothing can provoke does not belong in the contract.

use crate::support::committed;

/// One code.
pub struct Row {
    /// The code.
    pub code: &'static str,
    /// The test that provokes it, as a path below `tests/`.
    provoked_by: &'static str,
    /// What its reader can do.
    pub advice: &'static str,
}

const fn row(code: &'static str, provoked_by: &'static str, advice: &'static str) -> Row {
    Row { code, provoked_by, advice }
}

/// The parts of `tests/` that run a built executable as a process.
const WITH_PROCESSES: [&str; 3] = ["attacks", "cli", "ghidra"];

/// What the reader of this code can do.
pub fn advice(rows: &[Row], code: &str) -> &'static str {
    rows.iter().find(|row| row.code == code).unwrap_or_else(|| panic!("no row for {code}")).advice
}

/// The rows are exactly the codes, in order.
pub fn check(rows: &[Row], codes: &[String]) {
    let listed: Vec<&str> = rows.iter().map(|row| row.code).collect();
    assert_eq!(listed, codes);
    for Row { code, provoked_by, advice } in rows {
        let [part, file, test] = provoked_by.split("::").collect::<Vec<_>>()[..] else {
            panic!("{provoked_by} is no path of a test")
        };
        assert!(WITH_PROCESSES.contains(&part), "{provoked_by} runs no executable");
        let path = committed::project().join("tests").join(part).join(file).with_extension("rs");
        let source = std::fs::read_to_string(&path).unwrap();
        let start =
            source.find(&format!("\nfn {test}()")).unwrap_or_else(|| panic!("there is no {provoked_by}"));
        let body = &source[start..];
        let body = &body[..body.find("\n}\n").unwrap()];
        // A loop over fixtures, or a helper of the same file, may be where the code is written.
        let is_named =
            body.contains(&format!("\"{code}\"")) || source[..start].contains(&format!("\"{code}\""));
        assert!(is_named, "{provoked_by} never names {code}");
        assert!(advice.ends_with('.'), "{code}: {advice}");
    }
}

/// Every error.
pub const ERRORS: &[Row] = &[
    row(
        "address_space_not_found",
        "ghidra::selectors::an_unknown_space_lists_the_spaces_there_are",
        "Use one of the listed spaces.",
    ),
    row(
        "ambiguous_target",
        "ghidra::more::an_ambiguous_target_lists_its_candidates_and_leaves_no_analysis",
        "Extract the part that is meant into a file of its own: no candidate can be chosen.",
    ),
    row(
        "analysis_busy",
        "ghidra::concurrency::of_two_cold_commands_one_builds_and_the_other_is_told_to_come_back",
        "Repeat the command after the delay.",
    ),
    row(
        "analysis_failed",
        "attacks::codes::what_the_worker_reports_is_what_the_caller_reads",
        "Read the Diagnostic Log; the Sample may be damaged, or this Ghidra unable to analyze it.",
    ),
    row(
        "analysis_timeout",
        "ghidra::limits::an_analysis_timeout_names_the_analyzer_and_the_next_value_and_promotes_nothing",
        "Raise the flag to the suggested value.",
    ),
    row(
        "cleanup_incomplete",
        "attacks::codes::a_cleanup_that_cannot_delete_is_incomplete",
        "Repeat the cleanup: it goes on where it stopped.",
    ),
    row(
        "confirmation_required",
        "cli::cleaning::without_a_terminal_everything_goes_only_with_yes",
        "Add `--yes` if everything is meant.",
    ),
    row(
        "container_sample",
        "ghidra::refusals::containers_list_their_members",
        "Extract one member and ask about that.",
    ),
    row(
        "corrupt_analysis",
        "attacks::corruption::a_store_whose_analyses_lead_elsewhere_is_corrupt_and_not_rebuilt",
        "Find out what changed the store at this path, then remove it with `ghidr clean` (what is wrong with a folder of the store itself, only `ghidr clean --all` removes) or use another store.",
    ),
    row(
        "decompile_failed",
        "attacks::codes::a_query_that_fails_is_an_error_and_its_analysis_stays",
        "Read the Diagnostic Log; other Functions are not affected.",
    ),
    row(
        "decompile_timeout",
        "ghidra::more::a_decompiler_timeout_is_124_returns_no_text_and_keeps_the_analysis",
        "Raise the flag to the suggested value.",
    ),
    row(
        "disk_quota_exceeded",
        "attacks::codes::memory_and_disk_are_bounded_while_the_worker_runs",
        "The Sample makes Ghidra write without end; treat it as hostile.",
    ),
    row(
        "doctor_failed",
        "cli::engines::doctor_finishes_every_check_and_keeps_its_shape",
        "Mend the components whose status is not `ready`; each says what its problem is.",
    ),
    row(
        "engine_unusable",
        "attacks::codes::what_the_worker_reports_is_what_the_caller_reads",
        "Run `ghidr doctor`, then read the Diagnostic Log.",
    ),
    row(
        "function_entry_required",
        "ghidra::selectors::an_interior_address_names_the_entry_of_the_containing_function",
        "Ask for the containing entry, when there is one. Otherwise mind that addresses are Ghidra's: it places a position-independent program at an image base, which `inspect` names, while other tools count from zero.",
    ),
    row(
        "function_not_decompilable",
        "ghidra::selectors::an_external_function_is_not_decompilable",
        "Ask for a Function of the list whose `decompilable` is true.",
    ),
    row(
        "function_not_found",
        "ghidra::selectors::names_are_exact_and_case_sensitive",
        "Look the exact name up with `ghidr functions`.",
    ),
    row(
        "function_selector_ambiguous",
        "ghidra::selectors::a_name_shared_by_thunks_and_their_external_function_is_ambiguous_and_says_what_can_be_decompiled",
        "Select one of the candidates by its entry with `--address`.",
    ),
    row(
        "ghidra_incompatible",
        "cli::engines::an_explicit_engine_that_is_wrong_never_falls_through",
        "Point the named rule at a usable Ghidra, or remove it.",
    ),
    row(
        "ghidra_missing",
        "cli::engines::an_explicit_engine_that_is_wrong_never_falls_through",
        "Install a Ghidra, and name it with `--ghidra` or `$GHIDR_GHIDRA`.",
    ),
    row(
        "import_failed",
        "attacks::codes::what_the_worker_reports_is_what_the_caller_reads",
        "The Sample is damaged, or made for another loader; the reason is Ghidra's.",
    ),
    row(
        "inline_budget_too_small",
        "ghidra::result_size::a_budget_too_small_for_the_descriptor_names_the_smallest_that_works_and_leaves_no_artifact",
        "Raise `--max-inline-bytes` to the required value.",
    ),
    row(
        "internal_error",
        "attacks::codes::a_process_that_may_open_nothing_is_an_internal_error_with_a_document",
        "Repeat it; if it stays, report it with its reason.",
    ),
    row(
        "interrupted",
        "attacks::endings::every_interruption_ends_the_command_with_130_and_says_how_the_worker_ended",
        "Repeat the command when it is wanted again.",
    ),
    row(
        "invalid_arguments",
        "cli::arguments::every_refused_command_line_names_what_is_wrong",
        "Correct the argument; the suggestion, when there is one, is exact.",
    ),
    row(
        "invalid_batch",
        "cli::batches::a_batch_that_is_wrong_anywhere_runs_nothing_and_names_the_line",
        "Correct the line; nothing of the batch was run.",
    ),
    row(
        "invalid_store_path",
        "cli::stores::a_wrong_explicit_store_is_an_error_and_never_a_fall_through",
        "Give an absolute path with `--store`.",
    ),
    row(
        "java_heap_exhausted",
        "ghidra::limits::an_exhausted_java_heap_is_typed_and_names_the_next_value",
        "Raise the flag to the suggested value.",
    ),
    row(
        "java_incompatible",
        "cli::engines::an_explicit_jdk_that_is_wrong_never_falls_through",
        "Point the named rule at a full JDK that this Ghidra accepts.",
    ),
    row(
        "java_missing",
        "cli::engines::an_explicit_jdk_that_is_wrong_never_falls_through",
        "Install a JDK, and name it with `--java-home` or `$GHIDR_JAVA_HOME`.",
    ),
    row(
        "memory_limit_exceeded",
        "ghidra::limits::an_exceeded_memory_limit_is_distinct_from_the_java_heap",
        "Raise the flag to the suggested value.",
    ),
    row(
        "output_failed",
        "attacks::endings::without_a_reader_a_success_is_a_failure_and_never_a_panic",
        "Discard what was read, and repeat the command with a reader that takes all of it.",
    ),
    row(
        "protocol_violation",
        "attacks::fields::every_member_of_an_analysis_is_checked",
        "Treat the Sample as hostile; if it is not, this is a defect of ghidr to report.",
    ),
    row(
        "result_too_large",
        "attacks::codes::what_the_worker_reports_is_what_the_caller_reads",
        "There is no flag for it. When a Query's answer was too large the Analysis stays: ask for less.",
    ),
    row(
        "sample_changed",
        "attacks::codes::a_sample_that_changes_while_it_is_read_is_refused",
        "Repeat the command when nothing writes to the Sample.",
    ),
    row("sample_not_found", "cli::samples::a_missing_sample_keeps_the_path_as_given", "Check the path."),
    row(
        "sample_not_regular",
        "ghidra::refusals::what_is_no_regular_file_is_refused_before_any_worker_starts",
        "Copy its content into a file.",
    ),
    row("sample_too_large", "cli::samples::the_size_limit_is_exact", "Raise `--max-sample-bytes`."),
    row(
        "sample_unreadable",
        "cli::samples::an_unreadable_sample_gives_the_systems_reason",
        "Remove what the reason names.",
    ),
    row(
        "sandbox_unavailable",
        "attacks::codes::a_sandbox_that_cannot_be_had_is_never_done_without",
        "Follow the remedy, or isolate ghidr otherwise and say so with `--sandbox external`.",
    ),
    row(
        "store_failed",
        "attacks::codes::a_store_without_room_or_of_an_impossible_name_is_refused_before_any_worker",
        "Remove what the reason names, or use another store.",
    ),
    row(
        "store_incompatible",
        "cli::stores::what_is_not_a_store_of_this_version_is_refused_and_left_alone",
        "Use another directory; this one is left as it is.",
    ),
    row(
        "store_space_insufficient",
        "attacks::codes::a_store_without_room_or_of_an_impossible_name_is_refused_before_any_worker",
        "Make room, with `ghidr clean` for example.",
    ),
    row(
        "store_unwritable",
        "cli::stores::a_store_that_cannot_be_created_is_unwritable",
        "Make the store writable, or use another.",
    ),
    row(
        "task_limit_exceeded",
        "attacks::codes::processes_and_threads_are_bounded_while_the_worker_runs",
        "The Sample makes Ghidra start processes without end; treat it as hostile.",
    ),
    row(
        "unsupported_target",
        "ghidra::refusals::a_file_that_carries_ghidras_own_state_is_refused_by_name",
        "Nothing can be asked about this Sample with this Ghidra.",
    ),
    row(
        "watchdog_timeout",
        "attacks::endings::the_watchdog_ends_a_worker_in_every_mode_and_says_how",
        "Raise the time-out of the phase that was running.",
    ),
    row(
        "worker_failed",
        "attacks::endings::a_worker_that_dies_is_named_by_its_signal_or_status",
        "Read the Diagnostic Log; where there is none, the system did not let the worker start.",
    ),
];

/// Every warning.
pub const WARNINGS: &[Row] = &[
    row(
        "analyzer_failed",
        "ghidra::faults::the_failed_analyzer_of_dwarf5_is_a_warning_on_every_query",
        "Do without what this analyzer would have found.",
    ),
    row(
        "corrupt_analysis_rebuilt",
        "ghidra::corruption::inspect_itself_reports_a_rebuild",
        "The answer is sound; if it happens again, look at the disk.",
    ),
    row(
        "decompiler_warning",
        "ghidra::faults::decompiler_warnings_are_in_the_envelope_and_the_text_stays_verbatim",
        "Read the text with this reservation.",
    ),
    row(
        "diagnostics_truncated",
        "attacks::endings::sixty_four_mebibytes_on_stderr_are_drained_counted_and_bounded",
        "The manifest says which parts were kept.",
    ),
    row(
        "engine_fault",
        "attacks::codes::a_fault_during_a_query_is_a_warning_of_its_answer_alone",
        "Something may be missing; compare with another Ghidra version.",
    ),
    row(
        "engine_faults_omitted",
        "attacks::codes::faults_of_the_analysis_are_repeated_up_to_a_disclosed_bound",
        "The first 64 are in the Analysis's manifest.",
    ),
    row(
        "external_sandbox_unverified",
        "attacks::codes::what_the_answer_stands_on_is_warned_of",
        "Make sure that the surrounding sandbox isolates ghidr.",
    ),
    row(
        "sandbox_disabled",
        "attacks::codes::what_the_answer_stands_on_is_warned_of",
        "Never ask about an untrusted Sample this way.",
    ),
    row(
        "suspicious_analysis",
        "ghidra::faults::a_truncated_sample_is_suspicious",
        "Check the Sample against each reason.",
    ),
    row(
        "unverified_engine",
        "attacks::codes::what_the_answer_stands_on_is_warned_of",
        "Use one of the listed pairs where it matters.",
    ),
    row(
        "unverified_target",
        "attacks::codes::what_the_answer_stands_on_is_warned_of",
        "Treat the answer as best effort.",
    ),
];
