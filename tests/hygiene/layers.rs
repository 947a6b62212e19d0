//! The layers of the harness: main → cli → commands → {engine, store, sandbox, protocol, output,
//! process} → domain. A module names only what stands below it.

use std::collections::BTreeMap;

use super::{production, texts};

/// What each module may name besides itself.
const ALLOWED: [(&str, &[&str]); 9] = [
    ("cli", &["domain"]),
    ("commands", &["cli", "domain", "engine", "output", "process", "protocol", "sandbox", "store"]),
    ("domain", &[]),
    ("engine", &["domain"]),
    ("output", &["domain"]),
    ("process", &[]),
    ("protocol", &["domain"]),
    // A backend writes the plan that the process layer carries out.
    ("sandbox", &["domain", "process"]),
    ("store", &["domain"]),
];

/// Crates that only one place may name, and that place.
const CONFINED: [(&str, &str); 8] = [
    ("jvm_bridge", "src/worker/"),
    ("clap", "src/cli.rs src/cli/ src/domain/sandbox_mode.rs"),
    ("clap_complete", "src/cli/completions.rs"),
    ("signal_hook", "src/process/ src/commands/worker/ src/commands/failure.rs"),
    ("close_fds", "src/process/"),
    ("zip", "src/engine/"),
    ("seccompiler", "src/sandbox/"),
    ("libc", "src/sandbox/"),
];

#[test]
fn modules_name_only_what_stands_below_them() {
    let allowed: BTreeMap<_, _> = ALLOWED.into_iter().collect();
    for (path, text) in texts("src", ".rs") {
        let module = path.components().nth(1).unwrap().as_os_str().to_string_lossy().into_owned();
        let module = module.trim_end_matches(".rs");
        if ["main", "lib", "worker"].contains(&module) {
            continue;
        }
        let allowed = allowed.get(module).unwrap_or_else(|| panic!("{module} has no place in the layers"));
        for line in code_lines(&text) {
            for named in line.split("crate::").skip(1) {
                let named: String =
                    named.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
                let fits = named == module || allowed.contains(&named.as_str());
                assert!(fits, "{} names {named}: {line}", path.display());
            }
        }
    }
}

#[test]
fn some_crates_are_named_in_one_place_only() {
    for (path, text) in texts("src", ".rs") {
        for (name, place) in CONFINED {
            let belongs = place.split(' ').any(|place| path.to_string_lossy().starts_with(place));
            let mut lines = code_lines(production(&text));
            let line = lines
                .find(|line| line.contains(&format!("{name}::")) && !line.contains(&format!("::{name}::")));
            assert!(
                belongs || line.is_none(),
                "{} names {name}: {}",
                path.display(),
                line.unwrap_or_default()
            );
        }
    }
}

/// The worker runs inside the sandbox and knows nothing of the store, the commands or the engine's discovery.
#[test]
fn the_worker_names_only_what_it_needs() {
    for (path, text) in texts("src/worker", ".rs") {
        for line in code_lines(production(&text)) {
            for named in line.split("ghidr::").skip(1) {
                let fits = ["process", "protocol", "domain", "sandbox::probe"]
                    .iter()
                    .any(|layer| named.starts_with(layer));
                assert!(fits, "{}: {line}", path.display());
            }
        }
    }
}

fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}
