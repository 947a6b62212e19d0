//! The prepared engine cache: what the single jar would otherwise unpack at every boot, unpacked once.
//!
//! Ghidra copies a jar entry that it needs as a real file to `<settings>/jar.resource.copied.files/<base name>`,
//! unless that name exists; it checks nothing else. So the tree must be exact: it is taken from the verified jar
//! (whose own CRCs are checked on the way), listed in `manifest.json` with digests, and published by one rename.
//! `complete.json` beside it ties it to the jar and to the manifest; without it the tree does not count.
//!
//! Refuses two entries with one base name: the second would silently be served the first one's content.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::manifest::TreeManifest;
use ghidr::domain::digest::ContentDigest;

use crate::digest::Content;
use crate::error::{AtPath, TaskError};
use crate::{files, report};

/// The directory name Ghidra looks into, below its settings directory.
pub const UNPACKED: &str = "jar.resource.copied.files";
/// The manifest's name inside the cache.
pub const MANIFEST: &str = "manifest.json";

/// Raised when the selection or the layout changes, so that older trees are made again.
const RECIPE_VERSION: u32 = 1;

/// A verified prepared cache.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The cache directory: `manifest.json` and what it lists.
    pub directory: PathBuf,
    /// SHA-256 of `manifest.json`.
    pub manifest_sha256: ContentDigest,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Completion {
    recipe_version: u32,
    engine_sha256: String,
    manifest_sha256: String,
}

/// Returns the prepared cache for `jar`, unpacking it if it is missing, unfinished or damaged.
pub fn ensure(engine_directory: &Path, jar: &Path, jar_sha256: &str) -> Result<Prepared, TaskError> {
    let directory = engine_directory.join("cache");
    let completion_path = engine_directory.join("complete.json");
    if directory.exists() {
        match verified(&directory, &completion_path, jar_sha256) {
            Ok(prepared) => {
                report::say("engine cache: prepared earlier, every file verified");
                return Ok(prepared);
            }
            Err(damage) => report::say(format!("engine cache: {damage}; preparing it again")),
        }
    }
    files::remove(&completion_path)?;
    files::remove(&directory)?;
    let staging = files::sibling(&directory, "new");
    files::remove(&staging)?;
    let manifest = unpack(jar, &staging)?;
    let bytes = manifest.to_bytes()?;
    files::publish(&staging.join(MANIFEST), &bytes)?;
    let completion = Completion {
        recipe_version: RECIPE_VERSION,
        engine_sha256: jar_sha256.to_owned(),
        manifest_sha256: Content::of_bytes(&bytes).sha256,
    };
    files::publish_path(&staging, &directory)?;
    files::publish(&completion_path, &encode(&completion)?)?;
    report::say(format!(
        "engine cache: unpacked {} files, {}",
        manifest.files().len(),
        report::human_bytes(manifest.total_bytes())
    ));
    verified(&directory, &completion_path, jar_sha256)
}

fn verified(directory: &Path, completion: &Path, jar_sha256: &str) -> Result<Prepared, TaskError> {
    let manifest_path = directory.join(MANIFEST);
    let manifest_bytes = fs::read(&manifest_path).at("read", &manifest_path)?;
    let expected = Completion {
        recipe_version: RECIPE_VERSION,
        engine_sha256: jar_sha256.to_owned(),
        manifest_sha256: Content::of_bytes(&manifest_bytes).sha256,
    };
    let completion_bytes = fs::read(completion).at("read", completion)?;
    if serde_json::from_slice::<Completion>(&completion_bytes).ok().as_ref() != Some(&expected) {
        return Err(TaskError::Damaged {
            what: completion.display().to_string(),
            reason: "it belongs to another engine, recipe or manifest".to_owned(),
        });
    }
    TreeManifest::from_bytes(&manifest_bytes, &manifest_path)?.verify(directory, MANIFEST)?;
    Ok(Prepared { directory: directory.to_path_buf(), manifest_sha256: ContentDigest::of(&manifest_bytes) })
}

/// Unpacks the selected entries of `jar` below `staging` and lists them.
fn unpack(jar: &Path, staging: &Path) -> Result<TreeManifest, TaskError> {
    let unpacked = staging.join(UNPACKED);
    files::create_public_directory(&unpacked)?;
    let zip_error = |error: zip::result::ZipError| TaskError::Damaged {
        what: jar.display().to_string(),
        reason: error.to_string(),
    };
    let mut archive = zip::ZipArchive::new(File::open(jar).at("open", jar)?).map_err(zip_error)?;
    let mut entries = Vec::new();
    for name in archive.file_names() {
        let name = name.map_err(zip_error)?;
        if selection(&name).is_some() {
            entries.push(name.into_owned());
        }
    }
    entries.sort();
    let mut listed = BTreeMap::new();
    for entry in entries {
        let (Some(mode), Some((_, base_name))) = (selection(&entry), entry.rsplit_once('/')) else {
            continue;
        };
        let path = unpacked.join(base_name);
        let mut output = File::create_new(&path).at("create (is the name in the jar twice?)", &path)?;
        let mut input = archive.by_name(&entry).map_err(zip_error)?;
        io::copy(&mut input, &mut output).at("unpack", &path)?;
        files::set_mode(&path, mode)?;
        output.sync_all().at("write", &path)?;
        listed.insert(format!("{UNPACKED}/{base_name}"), Content::of_file(&path)?);
    }
    if !listed.contains_key(&format!("{UNPACKED}/decompile")) {
        return Err(TaskError::Refused(format!(
            "{} has no native decompiler for {}",
            jar.display(),
            native_directory()
        )));
    }
    files::sync_directory(&unpacked)?;
    Ok(TreeManifest::new(listed))
}

/// The mode a jar entry is unpacked with, or `None` when the engine never asks for it as a file.
///
/// Natives are run, FunctionID databases are opened at random offsets. Data-type archives and export lists are
/// streamed from the jar, and some of their base names are not unique.
fn selection(entry: &str) -> Option<u32> {
    let (directory, name) = entry.strip_prefix("_Root/")?.rsplit_once('/')?;
    let native = directory.ends_with(&native_directory())
        && (name == "decompile" || name.starts_with("demangler_gnu_"));
    if native {
        Some(files::MODE_PUBLIC_EXECUTABLE)
    } else if name.ends_with(".fidbf") {
        Some(files::MODE_PUBLIC_DATA)
    } else {
        None
    }
}

/// Ghidra's name for this platform's directory of natives.
fn native_directory() -> String {
    let architecture = match std::env::consts::ARCH {
        "aarch64" => "arm_64",
        other => other,
    };
    format!("/os/linux_{architecture}")
}

fn encode(completion: &Completion) -> Result<Vec<u8>, TaskError> {
    serde_json::to_vec(completion)
        .map_err(|error| TaskError::Refused(format!("cannot encode the completion mark: {error}")))
}

#[cfg(test)]
#[path = "prepare_tests.rs"]
mod tests;
