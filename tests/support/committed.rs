//! Committed files that are generated: compared by default, written on request, never by CI.

use std::path::{Path, PathBuf};

/// The variable that turns a comparison into writing.
pub const BLESS: &str = "GHIDR_BLESS";

/// The root of the project.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a committed file with what it is generated from, or writes it when blessing.
pub fn check(relative: &str, generated: &[u8], test: &str) {
    let path = project().join(relative);
    if is_blessing(|name| std::env::var(name).ok()) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, generated).unwrap();
        return;
    }
    let committed = std::fs::read(&path).unwrap_or_default();
    let command = format!("{BLESS}=1 cargo test --test main {test}");
    assert!(committed == generated, "{relative} is not what the code generates; write it with: {command}");
}

/// Whether the environment asks for writing.
fn is_blessing(variable: impl Fn(&str) -> Option<String>) -> bool {
    let blessing = variable(BLESS).is_some_and(|value| value == "1");
    let under_ci = variable("CI").is_some_and(|value| !value.is_empty());
    assert!(!(blessing && under_ci), "{BLESS} is refused under CI");
    blessing
}

/// Every file below a directory of the project whose name ends so, sorted, relative to the project.
pub fn files_below(directory: &str, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&project().join(directory), suffix, &mut found);
    found.sort();
    found.iter().map(|path| path.strip_prefix(project()).unwrap().to_owned()).collect()
}

fn collect(directory: &Path, suffix: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, suffix, found);
        } else if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
}

#[test]
fn blessing_is_explicit() {
    assert!(is_blessing(|name| (name == BLESS).then(|| "1".to_owned())));
    assert!(!is_blessing(|_| None));
    assert!(!is_blessing(|name| (name == BLESS).then(|| "0".to_owned())));
}

#[test]
#[should_panic(expected = "refused under CI")]
fn blessing_is_refused_under_ci() {
    is_blessing(|_| Some("1".to_owned()));
}
