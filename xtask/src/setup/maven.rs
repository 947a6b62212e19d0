//! Maven with a local repository of its own: fetches the engine and builds the adapter against that same copy.
//!
//! A private repository means that a damaged copy can be deleted without touching the caller's. Its engine jar
//! and the cache's are one file under two names. Maven's settings (mirrors, proxies) apply as usual.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::engine::Fetch;
use crate::error::{AtPath, TaskError};
use crate::pins::{DEPENDENCY_PLUGIN, EnginePin};
use crate::progress::Progress;
use crate::{command, files};

const POLL: Duration = Duration::from_millis(250);

/// What to do where `mvn` is not installed.
pub const MISSING: &str = "Maven is not installed, and it fetches the engine and builds the adapter; run: apt-get install --yes maven";

/// Maven with a local repository below the cache.
#[derive(Debug)]
pub struct Maven {
    repository: PathBuf,
    java_home: PathBuf,
    log: PathBuf,
}

impl Maven {
    /// Keeps its files below `cache_root`.
    pub fn new(cache_root: &Path, java_home: &Path) -> Self {
        Self {
            repository: cache_root.join("maven"),
            java_home: java_home.to_path_buf(),
            log: cache_root.join("maven.log"),
        }
    }

    fn artifact_directory(&self, pin: &EnginePin) -> PathBuf {
        let mut directory = self.repository.clone();
        directory.extend(pin.group.split('.'));
        directory.join(pin.artifact).join(pin.version)
    }

    /// A Maven command that uses this repository and the chosen JDK.
    pub fn command(&self) -> Command {
        let mut command = Command::new("mvn");
        command
            .env("JAVA_HOME", &self.java_home)
            .args(["--batch-mode", "-Dstyle.color=never", "--strict-checksums", "--no-transfer-progress"])
            .arg(format!("-Dmaven.repo.local={}", self.repository.display()));
        command
    }

    /// Makes the verified jar the one that Maven builds against.
    pub fn adopt(&self, pin: &EnginePin, jar: &Path) -> Result<(), TaskError> {
        let own = self.jar(pin);
        if fs::metadata(&own).is_ok_and(|metadata| metadata.len() == pin.bytes) {
            return Ok(());
        }
        self.forget(pin)?;
        files::create_public_directory(&self.artifact_directory(pin))?;
        files::link_or_copy(jar, &own)
    }

    fn jar(&self, pin: &EnginePin) -> PathBuf {
        self.artifact_directory(pin).join(format!("{}-{}.jar", pin.artifact, pin.version))
    }

    fn fetch_command(&self, pin: &EnginePin) -> Command {
        let mut command = self.command();
        command
            .arg(format!("{DEPENDENCY_PLUGIN}:get"))
            .arg(format!("-Dartifact={}:{}:{}:jar", pin.group, pin.artifact, pin.version))
            .arg("-Dtransitive=false");
        command
    }
}

impl Fetch for Maven {
    fn fetch(&self, pin: &EnginePin, destination: &Path) -> Result<(), TaskError> {
        files::create_public_directory(&self.repository)?;
        let log = File::create(&self.log).at("create", &self.log)?;
        let log_of_errors = log.try_clone().at("open", &self.log)?;
        let mut maven = self.fetch_command(pin);
        let mut child = command::spawned(&mut maven, |maven| {
            maven.stdin(Stdio::null()).stdout(log).stderr(log_of_errors).spawn()
        })?;
        let artifact_directory = self.artifact_directory(pin);
        let mut progress = Progress::new("engine", pin.bytes);
        let status = loop {
            if let Some(status) = child.try_wait().at("wait for", Path::new("mvn"))? {
                break status;
            }
            progress.show(largest_file(&artifact_directory));
            thread::sleep(POLL);
        };
        progress.finish();
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        command::check(&maven, status, command::tail(&text))?;
        files::link_or_copy(&self.jar(pin), destination)
    }

    fn forget(&self, pin: &EnginePin) -> Result<(), TaskError> {
        files::remove(&self.artifact_directory(pin))
    }
}

/// The size of the file being downloaded, whatever its temporary name is.
fn largest_file(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else {
        return 0;
    };
    entries
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .filter(fs::Metadata::is_file)
        .map(|metadata| metadata.len())
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::pins::ENGINE;

    #[test]
    fn the_command_pins_plugin_artifact_and_repository() {
        let line =
            command::command_line(&Maven::new(Path::new("/c"), Path::new("/j")).fetch_command(&ENGINE));
        assert_eq!(
            line,
            format!(
                "mvn --batch-mode -Dstyle.color=never --strict-checksums --no-transfer-progress -Dmaven.repo.local=/c/maven \
                 {DEPENDENCY_PLUGIN}:get -Dartifact=io.joern:ghidra:10.3_PUBLIC_20230510:jar -Dtransitive=false"
            )
        );
    }

    #[test]
    fn the_build_uses_the_verified_jar() {
        let root = tempfile::tempdir().unwrap();
        let maven = Maven::new(root.path(), Path::new("/j"));
        let jar = root.path().join("ghidra.jar");
        fs::write(&jar, b"abc").unwrap();
        let pin = EnginePin { bytes: 3, ..ENGINE };
        maven.adopt(&pin, &jar).unwrap();
        assert_eq!(fs::read(maven.jar(&pin)).unwrap(), b"abc");
        fs::remove_file(maven.jar(&pin)).unwrap();
        fs::write(maven.jar(&pin), b"partial").unwrap();
        maven.adopt(&pin, &jar).unwrap();
        assert_eq!(fs::read(maven.jar(&pin)).unwrap(), b"abc");
    }

    #[test]
    fn forgetting_removes_this_version_only() {
        let root = tempfile::tempdir().unwrap();
        let maven = Maven::new(root.path(), Path::new("/j"));
        let kept = root.path().join("maven/io/joern/ghidra/other");
        fs::create_dir_all(maven.artifact_directory(&ENGINE)).unwrap();
        fs::create_dir_all(&kept).unwrap();
        maven.forget(&ENGINE).unwrap();
        assert!(!maven.artifact_directory(&ENGINE).exists() && kept.exists());
    }
}
