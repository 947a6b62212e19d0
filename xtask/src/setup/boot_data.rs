//! Boot data of a tree: made by real work in the production sandbox, kept in the cache under everything it depends on.
//!
//! It only makes the engine start faster, so a failure to make it is reported and not an error. A cached copy counts when
//! its record was written, which happens last, and archive, names and every compiled script have the recorded digests.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ghidr::commands::boot_data::{self, BootDataPlan};
use ghidr::commands::host::{Environment, Host};
use ghidr::engine::boot_data::{
    BootRecord, CLASS_DATA, CLASS_DATA_ARCHIVE, EXTENSION_POINTS, RECORD, SCRIPT_BUNDLES,
};
use ghidr::engine::bundle::Bundle;
use ghidr::engine::compiled_scripts;
use ghidr::process::{ChildLauncher, Interrupts};

use crate::digest::Content;
use crate::error::{AtPath, TaskError};
use crate::{files, report};

/// Raised when samples or the way of making change, so that older data is made again.
const RECIPE_VERSION: u32 = 3;
/// Other versions of this project keep their data beside this one's, up to this many.
const KEPT: usize = 4;
/// One of each kind of sample that is worth being fast for.
const SAMPLES: [&str; 2] = ["fixtures/bin/elf-x86_64-pie", "fixtures/bin/pe32plus-x86_64.exe"];
/// A function that each of them has.
const FUNCTION: &str = "main";

/// What boot data is made with.
#[derive(Clone, Copy, Debug)]
pub struct Maker<'a> {
    /// The working copy, for its fixtures.
    pub project_root: &'a Path,
    /// The built `ghidr`.
    pub executable: &'a Path,
    /// Directory for temporary files of this user.
    pub scratch: &'a Path,
}

/// Names the boot data of a pinned engine jar, an adapter and a JDK.
pub fn key(engine_sha256: &str, adapter_jar: &Path, java_home: &Path) -> Result<String, TaskError> {
    let adapter = Content::of_file(adapter_jar)?;
    let libjvm = fs::canonicalize(java_home.join("lib/server/libjvm.so")).at("resolve", java_home)?;
    let machine = fs::metadata(&libjvm).at("examine", &libjvm)?;
    let text = format!(
        "{RECIPE_VERSION}\n{engine_sha256}\n{}\n{}\n{} {}\n",
        adapter.sha256,
        libjvm.display(),
        machine.len(),
        machine.mtime()
    );
    Ok(Content::of_bytes(text.as_bytes()).sha256.chars().take(16).collect())
}

/// The cached boot data called `key`, made with the assembled `tree` if there is none; `None` when that failed.
pub fn ensure(cache: &Path, key: &str, tree: &Path, maker: Maker<'_>) -> Result<Option<PathBuf>, TaskError> {
    let shelf = cache.join("boot");
    let directory = shelf.join(key);
    files::create_public_directory(&shelf)?;
    if is_whole(&directory) {
        report::say("boot data: made earlier, verified");
    } else {
        let staging = files::sibling(&directory, "new");
        files::remove(&directory)?;
        if !make(tree, &staging, maker)? {
            return Ok(None);
        }
        files::publish_path(&staging, &directory)?;
    }
    // The directory's own time is that of its last use.
    let now = std::time::SystemTime::now();
    fs::File::open(&directory).and_then(|opened| opened.set_modified(now)).at("touch", &directory)?;
    forget_oldest(&shelf)?;
    Ok(Some(directory))
}

/// Makes boot data for `tree` in the new directory `output`; false when the engine could not.
pub fn make(tree: &Path, output: &Path, maker: Maker<'_>) -> Result<bool, TaskError> {
    report::say("boot data: two analyses and an archive of what they load (about a minute, once)");
    files::remove(output)?;
    files::create_public_directory(output)?;
    let interrupts = Interrupts::none();
    let mut host = Host::of_process(maker.executable.to_owned(), &ChildLauncher, &interrupts, false);
    host.bundle = Bundle::at(tree.to_owned());
    host.environment = Environment::default();
    let store = maker.scratch.join(format!("boot-data-store-{}", std::process::id()));
    let plan = BootDataPlan {
        store: store.clone(),
        output: output.to_owned(),
        samples: SAMPLES.iter().map(|sample| maker.project_root.join(sample)).collect(),
        function: FUNCTION.to_owned(),
    };
    let made = boot_data::make(&host, &plan);
    files::remove(&store)?;
    match made {
        Ok(()) => {
            make_public(output)?;
            Ok(true)
        }
        Err(error) => {
            files::remove(output)?;
            report::say(format!("boot data: not made ({error}); everything works without it, only slower"));
            Ok(false)
        }
    }
}

fn is_whole(directory: &Path) -> bool {
    let digest_of = |file: &str| Content::of_file(&directory.join(CLASS_DATA).join(file)).ok();
    let record = fs::read(directory.join(RECORD)).ok();
    let record = record.and_then(|bytes| serde_json::from_slice::<BootRecord>(&bytes).ok());
    record.is_some_and(|record| {
        let names = record.extension_points_sha256.map(|recorded| recorded.to_string());
        digest_of(CLASS_DATA_ARCHIVE)
            .is_some_and(|archive| archive.sha256 == record.archive_sha256.to_string())
            && digest_of(EXTENSION_POINTS).map(|found| found.sha256) == names
            && compiled_scripts::difference(&directory.join(SCRIPT_BUNDLES), &record.script_bundles).is_none()
    })
}

fn make_public(directory: &Path) -> Result<(), TaskError> {
    files::set_mode(directory, files::MODE_PUBLIC_EXECUTABLE)?;
    for relative in files::regular_files(directory)? {
        for parent in relative.ancestors().skip(1) {
            files::set_mode(&directory.join(parent), files::MODE_PUBLIC_EXECUTABLE)?;
        }
        files::set_mode(&directory.join(&relative), files::MODE_PUBLIC_DATA)?;
        files::sync_file(&directory.join(&relative))?;
    }
    Ok(())
}

fn forget_oldest(shelf: &Path) -> Result<(), TaskError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(shelf).at("list", shelf)? {
        let entry = entry.at("list", shelf)?;
        let modified =
            entry.metadata().and_then(|metadata| metadata.modified()).at("examine", &entry.path())?;
        found.push((modified, entry.path()));
    }
    found.sort();
    found.iter().rev().skip(KEPT).try_for_each(|(_, path)| files::remove(path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shelf_entry(directory: &Path, archive: &[u8]) {
        let class_data = directory.join(CLASS_DATA);
        fs::create_dir_all(&class_data).unwrap();
        fs::write(class_data.join(CLASS_DATA_ARCHIVE), archive).unwrap();
        let bundle = Bundle::at(directory.to_owned());
        let digest = ghidr::domain::digest::ContentDigest::of(b"archive");
        let bundles = directory.join(SCRIPT_BUNDLES);
        fs::create_dir_all(bundles.join("e3fdaf9d")).unwrap();
        fs::write(bundles.join("e3fdaf9d/Script.class"), "class").unwrap();
        let bundles = compiled_scripts::describe(&bundles).unwrap();
        let record = BootRecord::of(&bundle, &[], 7, digest, None, bundles).unwrap();
        fs::write(directory.join(RECORD), serde_json::to_vec(&record).unwrap()).unwrap();
    }

    #[test]
    fn only_what_was_recorded_counts() {
        let root = tempfile::tempdir().unwrap();
        shelf_entry(root.path(), b"archive");
        assert!(is_whole(root.path()));
        shelf_entry(root.path(), b"archivE");
        assert!(!is_whole(root.path()));
        shelf_entry(root.path(), b"archive");
        let script = root.path().join(SCRIPT_BUNDLES).join("e3fdaf9d/Script.class");
        fs::write(&script, "clasS").unwrap();
        assert!(!is_whole(root.path()));
        fs::remove_file(script).unwrap();
        assert!(!is_whole(root.path()));
        shelf_entry(root.path(), b"archive");
        assert!(is_whole(root.path()));
        fs::remove_file(root.path().join(RECORD)).unwrap();
        assert!(!is_whole(root.path()));
    }

    #[test]
    fn the_most_recently_used_are_kept() {
        let shelf = tempfile::tempdir().unwrap();
        for age in 0..6_u64 {
            let directory = shelf.path().join(format!("{age}"));
            fs::create_dir(&directory).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000 - age);
            fs::File::open(&directory).unwrap().set_modified(time).unwrap();
        }
        forget_oldest(shelf.path()).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(shelf.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["0", "1", "2", "3"]);
    }
}
