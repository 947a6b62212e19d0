//! `share/` of an installation and of an archive: manual pages, completion scripts, schemas, licences.
//!
//! All of it is generated or committed, none depends on the engine. Names are the customary ones, so that `man` and the
//! shells find them below a prefix they know.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ghidr::cli::completions::{Shell, script};
use ghidr::commands::schemas;

use crate::error::{AtPath, TaskError};
use crate::project::Project;
use crate::{files, man, third_party};

/// The scripts for shells that look in a fixed place below a prefix, and that place.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/ghidr"),
    (Shell::Fish, "share/fish/vendor_completions.d/ghidr.fish"),
    (Shell::Zsh, "share/zsh/site-functions/_ghidr"),
];
/// Committed files that go along, and their names in `share/doc/ghidr`.
const DOCUMENTS: [(&str, &str); 4] = [
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE", "LICENSE"),
    ("packaging/GPL-3", "GPL-3"),
    ("packaging/NOTICE", "NOTICE"),
];
const DOCUMENT_DIRECTORY: &str = "share/doc/ghidr";

/// The files of `share/` by their path relative to the prefix.
#[derive(Clone, Debug, Default)]
pub struct SharedFiles(BTreeMap<PathBuf, Vec<u8>>);

impl SharedFiles {
    /// Generates everything.
    pub fn generate(project: &Project) -> Result<Self, TaskError> {
        let mut share = Self::default();
        for page in man::pages()? {
            share.add(format!("share/man/man1/{}", page.file_name), page.text);
        }
        for (shell, place) in COMPLETIONS {
            share.add(place, script(shell));
        }
        for published in schemas::published() {
            let text = published.to_bytes().map_err(|error| {
                TaskError::Refused(format!("cannot encode the schema {}: {error}", published.kind))
            })?;
            share.add(format!("share/ghidr/schemas/v1/{}", published.file_name()), text);
        }
        for (source, name) in DOCUMENTS {
            let source = project.root.join(source);
            share.add(format!("{DOCUMENT_DIRECTORY}/{name}"), fs::read(&source).at("read", &source)?);
        }
        share.add(format!("{DOCUMENT_DIRECTORY}/THIRD-PARTY"), third_party::document(project)?);
        Ok(share)
    }

    /// Adds one file.
    pub fn add(&mut self, path: impl Into<PathBuf>, content: Vec<u8>) {
        self.0.insert(path.into(), content);
    }

    /// The files' paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// Writes every file below `prefix`, each in one step.
    pub fn write(&self, prefix: &Path) -> Result<(), TaskError> {
        for (path, content) in &self.0 {
            let path = prefix.join(path);
            files::create_public_directory(path.parent().unwrap_or(prefix))?;
            files::publish(&path, content)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn manual_pages_completions_schemas_and_licences_are_where_programs_look() {
        let project = Project::locate().unwrap();
        let root = &project.root;
        let prefix = tempfile::tempdir().unwrap();
        SharedFiles::generate(&project).unwrap().write(prefix.path()).unwrap();
        for name in [
            "man/man1/ghidr.1",
            "man/man1/ghidr-decompile.1",
            "bash-completion/completions/ghidr",
            "fish/vendor_completions.d/ghidr.fish",
            "zsh/site-functions/_ghidr",
            "doc/ghidr/LICENSE",
            "doc/ghidr/NOTICE",
            "doc/ghidr/THIRD-PARTY",
        ] {
            assert!(fs::metadata(prefix.path().join("share").join(name)).unwrap().len() > 0, "{name}");
        }
        let schemas = files::regular_files(&prefix.path().join("share/ghidr/schemas/v1")).unwrap();
        assert_eq!(schemas, files::regular_files(&root.join("schemas/v1")).unwrap());
        for schema in schemas {
            let installed = fs::read(prefix.path().join("share/ghidr/schemas/v1").join(&schema)).unwrap();
            assert!(
                installed == fs::read(root.join("schemas/v1").join(&schema)).unwrap(),
                "{}",
                schema.display()
            );
        }
    }
}
