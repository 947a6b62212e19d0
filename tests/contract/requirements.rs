//! `docs/requirements.md` names, for every requirement, the test that shows it.
//!
//! A row is `| id | clause | test |`. The last cell holds names of tests in backquotes, or says
//! `second issue`.

use std::collections::BTreeSet;

use crate::support::committed;

const PAGE: &str = "docs/requirements.md";
const LATER: &str = "second issue";

#[derive(Debug, PartialEq)]
struct Row {
    id: String,
    clause: String,
    test: String,
}

/// The rows of every table of the page, without headings.
fn rows(page: &str) -> Vec<Row> {
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{1}");
        line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    };
    page.lines()
        .filter(|line| line.trim_start().starts_with('|'))
        .map(cells)
        .filter(|cells| !cells.iter().all(|cell| cell.chars().all(|mark| ":- ".contains(mark))))
        .filter(|cells| !(cells[0].eq_ignore_ascii_case("id")))
        .map(|cells| {
            let [id, clause, test] = <[String; 3]>::try_from(cells).unwrap_or_else(|cells| panic!("{cells:?}"));
            Row { id, clause, test }
        })
        .collect()
}

/// The tests a cell names, by the last component of their path.
fn named_tests(cell: &str) -> Vec<String> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.map(|name| name.rsplit([':', '.', '#']).next().unwrap().trim_end_matches("()").to_owned()).collect()
}

/// Names of all test functions, in Rust and in Java.
fn existing_tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for root in ["src", "tests", "xtask/src", "jvm-bridge"] {
        for path in committed::files_below(root, ".rs") {
            let text = std::fs::read_to_string(committed::project().join(path)).unwrap();
            names.extend(functions_after(&text, "#[test]", "fn "));
        }
    }
    for path in committed::files_below("java/src/test", ".java") {
        let text = std::fs::read_to_string(committed::project().join(path)).unwrap();
        names.extend(functions_after(&text, "@Test", "void "));
        names.extend(functions_after(&text, "@ParameterizedTest", "void "));
    }
    names
}

fn functions_after(text: &str, marker: &str, keyword: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let marked = lines.iter().enumerate().filter(|(_, line)| line.starts_with(marker)).map(|(index, _)| index);
    marked
        .filter_map(|index| {
            let declaration = lines[index..].iter().take(6).find_map(|line| line.split_once(keyword))?.1;
            Some(declaration.split('(').next()?.trim().to_owned())
        })
        .collect()
}

#[test]
fn every_requirement_names_a_test_that_exists() {
    let page = std::fs::read_to_string(committed::project().join(PAGE)).expect(PAGE);
    let rows = rows(&page);
    assert!(rows.len() >= 40, "only {} requirements", rows.len());
    let existing = existing_tests();
    let mut wrong = Vec::new();
    let mut ids = BTreeSet::new();
    for row in &rows {
        assert!(!row.id.is_empty() && !row.clause.is_empty(), "{row:?}");
        assert!(ids.insert(&row.id), "{} stands twice", row.id);
        let tests = named_tests(&row.test);
        let unknown: Vec<&String> = tests.iter().filter(|test| !existing.contains(*test)).collect();
        if !unknown.is_empty() || (tests.is_empty() && !row.test.contains(LATER)) {
            wrong.push(format!("{}: {} {unknown:?}", row.id, row.test));
        }
    }
    assert!(wrong.is_empty(), "requirements without an existing test: {wrong:#?}");
}

#[test]
fn the_table_is_parsed() {
    let page = "# T\n\n| id | clause | test |\n|:--|---|---|\n| A1 | a \\| b | `cli::framing::works`, `other()` |\n| A2 | c | second issue |\n";
    let rows = rows(page);
    assert_eq!((rows.len(), rows[0].clause.as_str()), (2, "a | b"));
    assert_eq!(named_tests(&rows[0].test), ["works", "other"]);
    assert!(named_tests(&rows[1].test).is_empty() && rows[1].test == LATER);
}

#[test]
fn test_functions_are_found_in_both_languages() {
    let rust = "#[test]\n#[should_panic]\nfn a() {}\nfn b() {}";
    assert_eq!(functions_after(rust, "#[test]", "fn "), ["a"]);
    assert_eq!(functions_after("@Test\nvoid readsIt() throws E {", "@Test", "void "), ["readsIt"]);
    assert!(existing_tests().len() > 100);
}
