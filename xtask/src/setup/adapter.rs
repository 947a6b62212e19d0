//! The Java adapter: built with Maven when its sources, its engine or its JDK changed.
//!
//! A stamp holding the digest of everything the build reads is written after a successful build and removed
//! before the next one, so an interrupted build never counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::jdk::Jdk;
use super::manifest::TreeManifest;
use super::maven::Maven;
use crate::digest::Content;
use crate::error::{AtPath, TaskError};
use crate::pins::EnginePin;
use crate::{command, files, report};

/// What the build produces.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// `ghidr-adapter.jar`.
    pub jar: PathBuf,
    /// Directory of the script classes that Ghidra loads by file name.
    pub scripts: PathBuf,
}

impl Adapter {
    fn of(java: &Path) -> Self {
        let target = java.join("target");
        Self { jar: target.join("ghidr-adapter.jar"), scripts: target.join("scripts") }
    }

    fn is_present(&self) -> bool {
        self.jar.is_file() && files::regular_files(&self.scripts).is_ok_and(|scripts| !scripts.is_empty())
    }
}

/// Returns the adapter of the sources in `java`, building it if needed.
///
/// Its format and tests are not checked here: a demonstration must not fail over a long line.
pub fn ensure(java: &Path, maven: &Maven, jdk: &Jdk, pin: &EnginePin) -> Result<Adapter, TaskError> {
    let adapter = Adapter::of(java);
    let built = ensure_built(java, &adapter, maven, jdk, pin);
    // Maven writes equal jars for equal sources; boot data made from one fits the next only if it has the same time.
    built.and_then(|()| files::set_fixed_time(&adapter.jar))?;
    Ok(adapter)
}

fn ensure_built(
    java: &Path,
    adapter: &Adapter,
    maven: &Maven,
    jdk: &Jdk,
    pin: &EnginePin,
) -> Result<(), TaskError> {
    let stamp = stamp(java);
    let inputs = inputs(java, jdk, pin)?;
    if adapter.is_present() && fs::read_to_string(&stamp).is_ok_and(|built_from| built_from == inputs) {
        report::say("adapter: up to date");
        return Ok(());
    }
    report::say("adapter: building with mvn");
    // Maven ends even silence with a terminal's reset sequence, so what it prints is for an error only.
    let quietly = |maven: &mut Command| command::output(maven).map(|_printed| ());
    build(java, maven, &["--quiet", "-DskipTests", "-Dspotless.check.skip=true", "package"], quietly)?;
    files::publish(&stamp, inputs.as_bytes())?;
    report::say("adapter: built");
    Ok(())
}

/// Builds the adapter with every check and test of its own.
pub fn verify(java: &Path, maven: &Maven) -> Result<(), TaskError> {
    let stamp = stamp(java);
    let built_from = fs::read(&stamp).at("read", &stamp)?;
    build(java, maven, &["verify"], command::run)?;
    files::publish(&stamp, &built_from)
}

fn build(
    java: &Path,
    maven: &Maven,
    arguments: &[&str],
    run: fn(&mut Command) -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    files::remove(&stamp(java))?;
    run(maven.command().current_dir(java).args(arguments))?;
    let adapter = Adapter::of(java);
    if adapter.is_present() {
        return Ok(());
    }
    Err(TaskError::Refused(format!("the build made no {} with scripts beside it", adapter.jar.display())))
}

fn stamp(java: &Path) -> PathBuf {
    java.join("target/ghidr-build-inputs.sha256")
}

/// A digest of everything the build reads.
fn inputs(java: &Path, jdk: &Jdk, pin: &EnginePin) -> Result<String, TaskError> {
    let mut listed = BTreeMap::from([
        ("<engine>".to_owned(), Content::of_bytes(pin.sha256.as_bytes())),
        ("<jdk>".to_owned(), Content::of_bytes(jdk.home.as_os_str().as_encoded_bytes())),
    ]);
    for entry in fs::read_dir(java).at("list", java)? {
        let entry = entry.at("list", java)?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "target" {
            continue;
        }
        if entry.file_type().at("examine", &path)?.is_dir() {
            for (inner, content) in TreeManifest::of_tree(&path, "")?.files() {
                listed.insert(format!("{name}/{inner}"), content.clone());
            }
        } else {
            listed.insert(name, Content::of_file(&path)?);
        }
    }
    Ok(Content::of_bytes(&TreeManifest::new(listed).to_bytes()?).sha256)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::pins::ENGINE;

    #[test]
    fn a_change_of_any_input_is_noticed_and_of_the_output_is_not() {
        let root = tempfile::tempdir().unwrap();
        let java = root.path();
        let jdk = Jdk { home: "/jdk".into(), feature: 17 };
        fs::create_dir_all(java.join("src/a")).unwrap();
        fs::create_dir_all(java.join("target")).unwrap();
        fs::write(java.join("pom.xml"), "<project/>").unwrap();
        fs::write(java.join("src/a/A.java"), "class A {}").unwrap();
        let before = inputs(java, &jdk, &ENGINE).unwrap();

        fs::write(java.join("target/A.class"), "").unwrap();
        assert_eq!(inputs(java, &jdk, &ENGINE).unwrap(), before);
        fs::write(java.join("src/a/A.java"), "class A { }").unwrap();
        let after = inputs(java, &jdk, &ENGINE).unwrap();
        assert_ne!(after, before);
        let other = Jdk { home: "/jdk2".into(), feature: 17 };
        assert_ne!(inputs(java, &other, &ENGINE).unwrap(), after);
    }
}
