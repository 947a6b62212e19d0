//! `THIRD-PARTY`: the libraries linked into the executable, with the licence texts their authors ask to pass on.
//!
//! Cargo says which packages those are, and each package's own source has its texts. Equal texts appear once. A package
//! without any is listed with its licence's name and its authors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::command;
use crate::error::{AtPath, TaskError};
use crate::project::Project;

/// Beginnings of the names of licence files, in lower case.
const LICENCE_FILES: [&str; 6] = ["licen", "copying", "copyright", "notice", "unlicense", "authors"];
const PACKAGE: &str = "ghidr";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    authors: Vec<String>,
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// Absent for a dependency of the program itself, rather than of its build or its tests.
    kind: Option<String>,
}

/// The document for the executable of `project`.
pub fn document(project: &Project) -> Result<Vec<u8>, TaskError> {
    let mut command = project.cargo();
    command.args(["metadata", "--locked", "--format-version", "1"]);
    command.args(["--filter-platform", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)]);
    let metadata: Metadata = serde_json::from_str(&command::output(&mut command)?)
        .map_err(|error| TaskError::Refused(format!("cannot understand `cargo metadata`: {error}")))?;
    let mut linked: Vec<&Package> =
        linked(&metadata).into_iter().filter(|package| package.source.is_some()).collect();
    linked.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut document = String::from("Libraries linked into the ghidr executable\n\n");
    for package in &linked {
        let found = licence_texts(package.manifest_path.parent().unwrap_or(Path::new("/")))?;
        let licence = package.license.as_deref().unwrap_or("see its text below");
        let _ = writeln!(document, "{} {}: {licence}", package.name, package.version);
        if found.is_empty() && !package.authors.is_empty() {
            let _ = writeln!(document, "    by {}", package.authors.join(", "));
        }
        for text in found {
            texts.entry(text).or_default().insert(format!("{} {}", package.name, package.version));
        }
    }
    for (text, packages) in texts {
        let packages: Vec<String> = packages.into_iter().collect();
        let _ = writeln!(document, "\n{}\n{}\n\n{}", "=".repeat(80), packages.join(", "), text.trim_end());
    }
    Ok(document.into_bytes())
}

/// What the program reaches through dependencies that are linked.
fn linked(metadata: &Metadata) -> Vec<&Package> {
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let own = metadata.packages.iter().filter(|package| package.name == PACKAGE && package.source.is_none());
    let mut pending: Vec<&str> = own.map(|package| package.id.as_str()).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = pending.pop() {
        if !reached.insert(id) {
            continue;
        }
        for dependency in nodes.get(id).into_iter().flat_map(|node| &node.deps) {
            if dependency.dep_kinds.iter().any(|kind| kind.kind.is_none()) {
                pending.push(&dependency.pkg);
            }
        }
    }
    metadata.packages.iter().filter(|package| reached.contains(package.id.as_str())).collect()
}

/// The licence texts at the top of a package's source, by file name.
fn licence_texts(directory: &Path) -> Result<Vec<String>, TaskError> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).at("list", directory)? {
        let entry = entry.at("list", directory)?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let path = entry.path();
        if path.is_file() && LICENCE_FILES.iter().any(|beginning| name.starts_with(beginning)) {
            let text = fs::read(&path).at("read", &path)?;
            found.insert(name, String::from_utf8_lossy(&text).replace('\r', "").trim().to_owned());
        }
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_the_executable_are_listed_with_their_texts_and_those_of_tests_are_not() {
        let text = String::from_utf8(document(&Project::locate().unwrap()).unwrap()).unwrap();
        for library in ["clap ", "clap_complete ", "jni ", "rustix ", "serde_json ", "zip "] {
            assert!(text.lines().any(|line| line.starts_with(library) && line.contains(": ")), "{library}");
        }
        for other in ["jsonschema ", "tempfile ", "clap_mangen ", "ghidr 0"] {
            assert!(!text.lines().any(|line| line.starts_with(other)), "{other}");
        }
        assert!(text.contains("Permission is hereby granted") && text.contains("Apache License"));
        let listed = text.lines().take_while(|line| !line.starts_with('=')).count();
        let texts = text.lines().filter(|line| line.starts_with("====")).count();
        assert!(texts > 10 && texts < listed, "{texts} texts for {listed} libraries: equal ones appear once");
    }
}
