//! The README shows what the program prints: every marked block is the answer of today.
//!
//! A marker `<!-- output: ghidr ARGUMENTS -->`, or `output (exit 1):` for a refusal, is followed by a fenced block
//! that starts with the command. `| jq -S FILTER` shows one member of a JSON answer, indented and with sorted keys.
//! `GHIDR_BLESS=1` rewrites the blocks, never under `CI`.

use std::path::Path;

use serde_json::Value;

use crate::support::boots;
use crate::support::ghidr::Ghidr;

const FENCE: &str = "```";
const MARKER: &str = "<!-- output";
const MARKER_END: &str = " -->";
/// What readers see in place of the test's private store.
const SHOWN_STORE: &str = "/home/user/ghidr-store";

/// One marked block.
struct Block<'text> {
    /// The command as shown.
    command: &'text str,
    /// The exit status it must have.
    status: i32,
    /// What stands between the fences.
    shown: &'text str,
    /// Where that is in the document, in bytes.
    range: std::ops::Range<usize>,
}

/// Every marked block of `document`, in order.
fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    for (start, _) in document.match_indices(MARKER) {
        let rest = &document[start + MARKER.len()..];
        let marker = &rest[..rest.find(MARKER_END).expect("a marker ends on its line")];
        let (status, command) = marker.split_once(": ").expect("a marker has a command");
        let status = match status.trim().strip_prefix("(exit ") {
            Some(number) => number.trim_end_matches(')').parse().expect("an exit status is a number"),
            None => 0,
        };
        let opening = start + document[start..].find(FENCE).expect("a marker has a block");
        let first = opening + document[opening..].find('\n').expect("a fence has a line") + 1;
        let last = first + document[first..].find(FENCE).expect("a block is closed");
        let gap = &document[start + MARKER.len() + marker.len() + MARKER_END.len()..opening];
        assert_eq!(gap, "\n", "the block of '{command}' follows its marker at once");
        found.push(Block { command, status, shown: &document[first..last], range: first..last });
    }
    found
}

/// The block's content as it should be: the command and what it prints.
fn answer(ghidr: &Ghidr, block: &Block<'_>) -> String {
    let (line, filter) = match block.command.split_once(" | jq -S ") {
        Some((line, filter)) => (line, Some(filter)),
        None => (block.command, None),
    };
    let words = line.strip_prefix("ghidr ").expect("only ghidr is run").split_whitespace();
    let output = ghidr.command(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(block.status), "{}: {stdout}{stderr}", block.command);
    let printed = match filter {
        Some(filter) => format!("{stderr}{}\n", member(&stdout, filter)),
        None => format!("{stderr}{stdout}"),
    };
    format!("$ {}\n{}", block.command, normalize(&printed, &ghidr.store()))
}

/// What `jq -S FILTER` prints, for a filter that is a plain path.
fn member(document: &str, filter: &str) -> String {
    let value: Value = serde_json::from_str(document).unwrap();
    let pointer = if filter == "." { String::new() } else { filter.replace('.', "/") };
    let value = value.pointer(&pointer).unwrap_or_else(|| panic!("{filter} selects nothing"));
    serde_json::to_string_pretty(value).unwrap()
}

/// Replaces what differs between two machines or two runs.
fn normalize(printed: &str, store: &Path) -> String {
    let printed = printed.replace(store.to_str().unwrap(), SHOWN_STORE);
    let lines = printed.lines().map(|line| match line.strip_suffix(" bytes in use") {
        Some(rest) => format!("{} 4096 bytes in use\n", rest.rsplit_once(' ').unwrap().0),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn every_marked_block_of_the_readme_is_what_the_command_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let blocks = blocks(&document);
    assert!(blocks.len() >= 5, "the README lost its examples");
    let _boot = boots::take();
    // The examples are those of the pinned engine, whichever one the other tests use.
    let ghidr = Ghidr::new().without("GHIDR_GHIDRA").without("GHIDR_JAVA_HOME");
    let answers: Vec<String> = blocks.iter().map(|block| answer(&ghidr, block)).collect();
    if std::env::var_os("GHIDR_BLESS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "nothing is blessed under CI");
        let mut blessed = document.clone();
        for (block, answer) in blocks.iter().zip(&answers).rev() {
            blessed.replace_range(block.range.clone(), answer);
        }
        std::fs::write(&path, blessed).unwrap();
        return;
    }
    for (block, answer) in blocks.iter().zip(&answers) {
        assert_eq!(block.shown, answer, "README.md; GHIDR_BLESS=1 rewrites it");
    }
}
