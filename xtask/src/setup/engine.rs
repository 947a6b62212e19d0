//! The engine jar: present with the pinned content, or fetched until it is.
//!
//! Invariant: the final name only ever holds a file that had the pinned size and SHA-256 when it got that name,
//! and every set-up checks it again. A file that differs is deleted, never used. The fetcher is a trait so that
//! damage and interruption can be tested without a network.

use std::path::{Path, PathBuf};

use crate::digest::Content;
use crate::error::TaskError;
use crate::pins::EnginePin;
use crate::{files, report};

/// Downloads before giving up: a second one cures a transfer that was damaged on the way.
const ATTEMPTS: u32 = 2;

/// Brings the engine jar onto this machine.
pub trait Fetch {
    /// Downloads the jar to `destination`, replacing what is there.
    fn fetch(&self, pin: &EnginePin, destination: &Path) -> Result<(), TaskError>;
    /// Forgets whatever the download left behind, so that the next one starts afresh.
    fn forget(&self, pin: &EnginePin) -> Result<(), TaskError>;
}

/// The directory of one engine in the cache; its name carries the digest, so versions never mix.
pub fn directory(cache_root: &Path, pin: &EnginePin) -> PathBuf {
    let digest = pin.sha256.get(..16).unwrap_or(pin.sha256);
    cache_root.join("engines").join(format!("{}-{digest}", pin.version))
}

/// Returns the verified jar in `directory`, fetching it if it is missing or damaged.
pub fn ensure(directory: &Path, pin: &EnginePin, fetcher: &dyn Fetch) -> Result<PathBuf, TaskError> {
    files::create_public_directory(directory)?;
    let jar = directory.join("ghidra.jar");
    if jar.exists() {
        match verify(pin, &jar) {
            Ok(()) => {
                report::say(format!(
                    "engine: Ghidra {} is in the cache, SHA-256 verified",
                    pin.ghidra_version
                ));
                return Ok(jar);
            }
            Err(damage) => {
                report::say(format!("engine: {damage}; deleting it"));
                files::remove(&jar)?;
                // The fetcher may keep the very same damaged file, and would deliver it again.
                fetcher.forget(pin)?;
            }
        }
    }
    let download = directory.join(".ghidra.jar.download");
    let mut attempt = 1;
    loop {
        files::remove(&download)?;
        report::say(format!(
            "engine: fetching {}:{}:{} with mvn ({}, {} bytes)",
            pin.group,
            pin.artifact,
            pin.version,
            report::human_bytes(pin.bytes),
            pin.bytes
        ));
        fetcher.fetch(pin, &download)?;
        match verify(pin, &download) {
            Ok(()) => break,
            Err(damage) => {
                files::remove(&download)?;
                fetcher.forget(pin)?;
                if attempt == ATTEMPTS {
                    return Err(damage);
                }
                report::say(format!("engine: {damage}; fetching it again"));
                attempt += 1;
            }
        }
    }
    files::set_mode(&download, files::MODE_PUBLIC_DATA)?;
    files::sync_file(&download)?;
    files::publish_path(&download, &jar)?;
    report::say("engine: downloaded, SHA-256 verified");
    Ok(jar)
}

fn verify(pin: &EnginePin, jar: &Path) -> Result<(), TaskError> {
    let expected = Content { bytes: pin.bytes, sha256: pin.sha256.to_owned() };
    expected.compare(&Content::of_file(jar)?, jar)
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
