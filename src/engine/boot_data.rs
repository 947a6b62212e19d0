//! Boot data: what set-up made so that an engine boots faster, and never differently.
//!
//! A class data archive of the Java virtual machine, and the script bundles that Ghidra would compile again for every
//! Windows executable. Both only repeat what their inputs say, so they count only while every input is the file they were
//! made from; otherwise the engine boots without them. They are made inside the sandbox and hold its paths, which is why
//! only a sandboxed worker is given them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use crate::domain::digest::ContentDigest;

/// The directory inside the bundle.
pub const DIRECTORY: &str = "boot";
/// The record inside that directory.
pub const RECORD: &str = "record.json";
/// Directory of the class data archive.
pub const CLASS_DATA: &str = "class-data";
/// The archive inside it.
pub const CLASS_DATA_ARCHIVE: &str = "common.jsa";
/// Directory of the compiled script bundles; absent when there are none.
pub const SCRIPT_BUNDLES: &str = "compiled-bundles";
/// Version of the record.
pub const RECORD_VERSION: u32 = 1;

/// A file that boot data was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputFile {
    /// Relative paths start at the bundle.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was modified, in seconds since the epoch; the Java virtual machine compares this too.
    pub modified_seconds: i64,
}

/// What boot data was made from, and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootRecord {
    /// Always [`RECORD_VERSION`].
    pub record_version: u32,
    /// Every jar of the class path in order, then the Java virtual machine.
    pub inputs: Vec<InputFile>,
    /// Size of the archive.
    pub archive_bytes: u64,
    /// SHA-256 of the archive.
    pub archive_sha256: ContentDigest,
}

/// Boot data that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootData {
    /// Directory of the class data archive.
    pub class_data: PathBuf,
    /// Directory of the compiled script bundles.
    pub script_bundles: Option<PathBuf>,
}

/// What became of looking for boot data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It is there and its inputs are unchanged.
    Ready(BootData),
    /// There is none.
    Missing,
    /// It belongs to something else.
    Stale(String),
}

impl Found {
    /// Looks for boot data made from `inputs` (jars in order, then the Java virtual machine).
    pub fn look(bundle: &Bundle, inputs: &[PathBuf]) -> Self {
        let directory = bundle.root().join(DIRECTORY);
        let record = match std::fs::read(directory.join(RECORD)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Self::Missing,
            Err(error) => return Self::Stale(format!("{RECORD}: {error}")),
        };
        match serde_json::from_slice::<BootRecord>(&record) {
            Err(error) => Self::Stale(format!("{RECORD}: {error}")),
            Ok(record) => match record.difference(bundle, &directory, inputs) {
                Some(reason) => Self::Stale(reason),
                None => Self::Ready(BootData::at(&directory)),
            },
        }
    }
}

impl BootData {
    fn at(directory: &Path) -> Self {
        let bundles = directory.join(SCRIPT_BUNDLES);
        Self { class_data: directory.join(CLASS_DATA), script_bundles: bundles.is_dir().then_some(bundles) }
    }
}

impl BootRecord {
    /// Describes an archive made from `inputs`.
    ///
    /// # Errors
    ///
    /// When an input cannot be examined.
    pub fn of(
        bundle: &Bundle,
        inputs: &[PathBuf],
        archive_bytes: u64,
        archive_sha256: ContentDigest,
    ) -> std::io::Result<Self> {
        let root = bundle.root().canonicalize()?;
        let inputs = inputs.iter().map(|input| InputFile::of(&root, input)).collect::<Result<_, _>>()?;
        Ok(Self { record_version: RECORD_VERSION, inputs, archive_bytes, archive_sha256 })
    }

    /// The first thing that is not as recorded.
    fn difference(&self, bundle: &Bundle, directory: &Path, inputs: &[PathBuf]) -> Option<String> {
        let archive = directory.join(CLASS_DATA).join(CLASS_DATA_ARCHIVE);
        if !std::fs::metadata(&archive).is_ok_and(|found| found.len() == self.archive_bytes) {
            return Some(format!("{CLASS_DATA_ARCHIVE} is not the recorded one"));
        }
        let now = match Self::of(bundle, inputs, self.archive_bytes, self.archive_sha256) {
            Ok(now) => now,
            Err(error) => return Some(error.to_string()),
        };
        if now.record_version != self.record_version || now.inputs.len() != self.inputs.len() {
            return Some("it was made for another engine".to_owned());
        }
        let changed = now.inputs.iter().zip(&self.inputs).find(|(now, then)| now != then)?;
        Some(format!("{} is not the file it was made from", changed.0.path.display()))
    }
}

impl InputFile {
    fn of(root: &Path, path: &Path) -> std::io::Result<Self> {
        let resolved = path.canonicalize()?;
        let metadata = resolved.metadata()?;
        Ok(Self {
            path: resolved.strip_prefix(root).unwrap_or(&resolved).to_owned(),
            bytes: metadata.len(),
            modified_seconds: metadata.mtime(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    struct Prepared {
        _root: tempfile::TempDir,
        bundle: Bundle,
        inputs: Vec<PathBuf>,
    }

    fn prepared() -> Prepared {
        let root = tempfile::tempdir().unwrap();
        let bundle = Bundle::at(root.path().join("ghidr"));
        let jar = bundle.root().join("engine/ghidra.jar");
        let libjvm = root.path().join("libjvm.so");
        let class_data = bundle.root().join(DIRECTORY).join(CLASS_DATA);
        std::fs::create_dir_all(jar.parent().unwrap()).unwrap();
        std::fs::create_dir_all(&class_data).unwrap();
        std::fs::write(&jar, "jar").unwrap();
        std::fs::write(&libjvm, "machine").unwrap();
        std::fs::write(class_data.join(CLASS_DATA_ARCHIVE), "archive").unwrap();
        let inputs = vec![jar, libjvm];
        let record = BootRecord::of(&bundle, &inputs, 7, ContentDigest::from_bytes([0; 32])).unwrap();
        let path = bundle.root().join(DIRECTORY).join(RECORD);
        std::fs::write(path, serde_json::to_vec(&record).unwrap()).unwrap();
        Prepared { _root: root, bundle, inputs }
    }

    #[test]
    fn unchanged_inputs_are_ready_even_when_the_bundle_moved() {
        let mut prepared = prepared();
        assert!(matches!(Found::look(&prepared.bundle, &prepared.inputs), Found::Ready(_)));
        let moved = prepared.bundle.root().with_file_name("moved");
        std::fs::rename(prepared.bundle.root(), &moved).unwrap();
        prepared.inputs[0] = moved.join("engine/ghidra.jar");
        let found = Found::look(&Bundle::at(moved), &prepared.inputs);
        assert!(matches!(&found, Found::Ready(data) if data.script_bundles.is_none()), "{found:?}");
    }

    #[test]
    fn any_change_of_an_input_or_of_the_archive_makes_it_stale() {
        let change: [fn(&Prepared); 4] = [
            |prepared| std::fs::write(&prepared.inputs[0], "another jar").unwrap(),
            |prepared| {
                let file = std::fs::File::options().write(true).open(&prepared.inputs[1]).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            },
            |prepared| std::fs::remove_file(&prepared.inputs[1]).unwrap(),
            |prepared| {
                std::fs::write(prepared.bundle.root().join("boot/class-data/common.jsa"), "cut").unwrap();
            },
        ];
        for change in change {
            let prepared = prepared();
            change(&prepared);
            let found = Found::look(&prepared.bundle, &prepared.inputs);
            assert!(matches!(found, Found::Stale(_)), "{found:?}");
        }
        let prepared = prepared();
        assert!(matches!(Found::look(&prepared.bundle, &prepared.inputs[..1]), Found::Stale(_)));
    }

    #[test]
    fn without_a_record_there_is_none() {
        let prepared = prepared();
        std::fs::remove_file(prepared.bundle.root().join("boot/record.json")).unwrap();
        assert_eq!(Found::look(&prepared.bundle, &prepared.inputs), Found::Missing);
    }
}
