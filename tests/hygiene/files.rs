//! Every file says what it is for, stays small, and is part of what is compiled.

use std::path::Path;

use super::{rust_files, texts};

/// Most lines of a file that ships, and of a test.
const LIMIT: usize = 500;
const TEST_LIMIT: usize = 600;

#[test]
fn every_rust_file_begins_with_its_module_documentation() {
    for (path, text) in rust_files() {
        assert!(text.starts_with("//! "), "{} has no module documentation", path.display());
    }
}

#[test]
fn no_file_outgrows_its_limit() {
    for (path, text) in rust_files().into_iter().chain(texts("java/src", ".java")) {
        let limit = if path.starts_with("tests") { TEST_LIMIT } else { LIMIT };
        let lines = text.lines().count();
        assert!(lines <= limit, "{} has {lines} lines, more than {limit}", path.display());
    }
}

#[test]
fn every_test_file_is_a_module_of_the_test_binary() {
    let files = texts("tests", ".rs");
    let text_of = |path: &Path| files.iter().find(|(found, _)| found == path).map(|(_, text)| text.as_str());
    for (path, _) in &files {
        if path.starts_with("tests/fakes") || path == Path::new("tests/main.rs") {
            continue;
        }
        let is_directory_module = path.file_name().is_some_and(|name| name == "mod.rs");
        let module = if is_directory_module { path.parent().unwrap() } else { path.as_path() };
        let parent = module.parent().unwrap();
        let lister =
            if parent == Path::new("tests") { parent.join("main.rs") } else { parent.join("mod.rs") };
        let name = module.file_stem().unwrap().to_string_lossy();
        let listed = text_of(&lister).is_some_and(|text| {
            text.lines().any(|line| line.trim_start_matches("pub ").trim_end() == format!("mod {name};"))
        });
        assert!(listed, "{} is not listed in {}", path.display(), lister.display());
    }
}

/// A launcher ends whatever its process started: in the process of all tests, also what other tests run.
#[test]
fn workers_of_tests_are_launched_by_processes_of_their_own() {
    let launcher = ["Child", "Launcher"].concat();
    let files = texts("tests", ".rs");
    assert!(files.iter().any(|(_, text)| text.contains(&launcher)), "{launcher} has another name");
    for (path, text) in files.iter().filter(|(path, _)| !path.starts_with("tests/fakes")) {
        assert!(!text.contains(&launcher), "{} launches workers itself", path.display());
    }
}
