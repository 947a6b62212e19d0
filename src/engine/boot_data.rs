//! Boot data: what set-up made so that an engine boots faster, and never differently.
//!
//! A class data archive of the Java virtual machine, the script bundles that Ghidra would compile again for every Windows
//! executable, and for an installation directory the names that its search for extension points found in all of its jars.
//! They only repeat what their inputs say, so they count only while every input is the file they were made from and they are
//! as they were made; otherwise the engine boots without them. Of the archive, which is large, only the size is compared here:
//! the Java virtual machine verifies its content while it boots. They are made inside the sandbox and the first two hold its paths, which is why only a
//! sandboxed worker is given them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::compiled_scripts::{self, CompiledFile};
use crate::domain::digest::ContentDigest;

/// The directory inside the bundle.
pub const DIRECTORY: &str = "boot";
/// The record inside that directory.
pub const RECORD: &str = "record.json";
/// Directory of the class data archive.
pub const CLASS_DATA: &str = "class-data";
/// The archive inside it.
pub const CLASS_DATA_ARCHIVE: &str = "common.jsa";
/// A jar of nothing but names, below the directory of the class data; absent for a single jar, which has such a list.
///
/// Ghidra searches a jar only if it lies in the `lib` directory of something that its own name starts with.
pub const EXTENSION_POINTS: &str = "extension-points/lib/extension-points.jar";
/// Directory of the compiled script bundles; absent when there are none.
pub const SCRIPT_BUNDLES: &str = "compiled-bundles";
/// Version of the record.
pub const RECORD_VERSION: u32 = 3;

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
    /// Every jar of the class path in order, the scripts of an installation directory, then the Java virtual machine.
    pub inputs: Vec<InputFile>,
    /// Size of the archive.
    pub archive_bytes: u64,
    /// SHA-256 of the archive.
    pub archive_sha256: ContentDigest,
    /// SHA-256 of the extension points' names, if there are any. They decide what an analysis does, and they are few, so
    /// they are verified before each use.
    pub extension_points_sha256: Option<ContentDigest>,
    /// Every file of the compiled script bundles by path; verified before each use as well.
    pub script_bundles: Vec<CompiledFile>,
}

/// Boot data that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootData {
    /// Directory of the class data archive.
    pub class_data: PathBuf,
    /// Directory of the compiled script bundles.
    pub script_bundles: Option<PathBuf>,
    /// Whether the names of the extension points lie below the directory of the class data.
    pub has_extension_points: bool,
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
    /// Looks for boot data made from `inputs` (in the order of [`BootRecord::inputs`]).
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
                None => Self::Ready(record.boot_data(&directory)),
            },
        }
    }
}

impl BootRecord {
    /// Describes an archive, extension points and script bundles made from `inputs`.
    ///
    /// # Errors
    ///
    /// When an input cannot be examined.
    pub fn of(
        bundle: &Bundle,
        inputs: &[PathBuf],
        archive_bytes: u64,
        archive_sha256: ContentDigest,
        extension_points_sha256: Option<ContentDigest>,
        script_bundles: Vec<CompiledFile>,
    ) -> std::io::Result<Self> {
        let inputs = describe(bundle, inputs)?;
        Ok(Self {
            record_version: RECORD_VERSION,
            inputs,
            archive_bytes,
            archive_sha256,
            extension_points_sha256,
            script_bundles,
        })
    }

    /// What it describes, in `directory`.
    pub fn boot_data(&self, directory: &Path) -> BootData {
        BootData {
            class_data: directory.join(CLASS_DATA),
            script_bundles: (!self.script_bundles.is_empty()).then(|| directory.join(SCRIPT_BUNDLES)),
            has_extension_points: self.extension_points_sha256.is_some(),
        }
    }

    /// The first thing that is not as recorded.
    fn difference(&self, bundle: &Bundle, directory: &Path, inputs: &[PathBuf]) -> Option<String> {
        let class_data = directory.join(CLASS_DATA);
        let archive = class_data.join(CLASS_DATA_ARCHIVE);
        if !std::fs::metadata(&archive).is_ok_and(|found| found.len() == self.archive_bytes) {
            return Some(format!("{CLASS_DATA_ARCHIVE} is not the recorded one"));
        }
        if let Some(recorded) = self.extension_points_sha256 {
            let names = std::fs::read(class_data.join(EXTENSION_POINTS));
            if !names.is_ok_and(|bytes| ContentDigest::of(&bytes) == recorded) {
                return Some(format!("{EXTENSION_POINTS} is not the recorded one"));
            }
        }
        if let Some(reason) =
            compiled_scripts::difference(&directory.join(SCRIPT_BUNDLES), &self.script_bundles)
        {
            return Some(format!("{SCRIPT_BUNDLES}: {reason}"));
        }
        let now = match describe(bundle, inputs) {
            Ok(now) => now,
            Err(error) => return Some(error.to_string()),
        };
        if self.record_version != RECORD_VERSION || now.len() != self.inputs.len() {
            return Some("it was made for another engine".to_owned());
        }
        let changed = now.iter().zip(&self.inputs).find(|(now, then)| now != then)?;
        Some(format!("{} is not the file it was made from", changed.0.path.display()))
    }
}

fn describe(bundle: &Bundle, inputs: &[PathBuf]) -> std::io::Result<Vec<InputFile>> {
    let root = bundle.root().canonicalize()?;
    inputs.iter().map(|input| InputFile::of(&root, input)).collect()
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

    impl Prepared {
        fn script(&self) -> PathBuf {
            self.bundle.root().join(DIRECTORY).join(SCRIPT_BUNDLES).join("e3fdaf9d/Script.class")
        }
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
        let names = class_data.join(EXTENSION_POINTS);
        std::fs::create_dir_all(names.parent().unwrap()).unwrap();
        std::fs::write(names, "names").unwrap();
        let inputs = vec![jar, libjvm];
        let archive_digest = ContentDigest::from_bytes([0; 32]);
        let names_digest = Some(ContentDigest::of(b"names"));
        let compiled = bundle.root().join(DIRECTORY).join(SCRIPT_BUNDLES);
        std::fs::create_dir_all(compiled.join("e3fdaf9d")).unwrap();
        std::fs::write(compiled.join("e3fdaf9d/Script.class"), "class").unwrap();
        let bundles = compiled_scripts::describe(&compiled).unwrap();
        let record = BootRecord::of(&bundle, &inputs, 7, archive_digest, names_digest, bundles).unwrap();
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
        assert!(
            matches!(&found, Found::Ready(data) if data.script_bundles.is_some() && data.has_extension_points),
            "{found:?}"
        );
    }

    #[test]
    fn any_change_of_an_input_or_of_what_was_made_makes_it_stale() {
        let change: [fn(&Prepared); 8] = [
            |prepared| std::fs::write(&prepared.inputs[0], "another jar").unwrap(),
            |prepared| {
                let file = std::fs::File::options().write(true).open(&prepared.inputs[1]).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            },
            |prepared| std::fs::remove_file(&prepared.inputs[1]).unwrap(),
            |prepared| {
                std::fs::write(prepared.bundle.root().join("boot/class-data/common.jsa"), "cut").unwrap();
            },
            |prepared| std::fs::remove_file(prepared.script()).unwrap(),
            |prepared| std::fs::remove_dir_all(prepared.script().ancestors().nth(2).unwrap()).unwrap(),
            |prepared| std::fs::write(prepared.script().with_file_name("More.class"), "").unwrap(),
            // Of the same size: what an analysis does must not depend on luck.
            |prepared| {
                let names = prepared.bundle.root().join("boot/class-data").join(EXTENSION_POINTS);
                std::fs::write(names, "nameS").unwrap();
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
