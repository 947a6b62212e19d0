//! Finds a JDK and compiles the tiny class the tests call. A missing JDK fails the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use jvm_bridge::BridgeConfig;

/// `$JAVA_HOME`, else the home that the `java` on the path reports.
pub fn java_home() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        return PathBuf::from(home);
    }
    let output =
        Command::new("java").args(["-XshowSettings:properties", "-version"]).output().expect("a JDK");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let home = text.lines().find_map(|line| line.trim().strip_prefix("java.home = ")).expect("java.home");
    PathBuf::from(home)
}

pub fn libjvm() -> PathBuf {
    java_home().join("lib/server/libjvm.so")
}

/// The compiled class, in a directory that lives as long as the returned guard.
pub fn classes() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/Probe.java");
    let compiler = java_home().join("bin/javac");
    let status = Command::new(compiler).arg("-d").arg(directory.path()).arg(source).status().expect("javac");
    assert!(status.success());
    directory
}

pub fn config(classes: &Path, what: &str, value: &str) -> BridgeConfig {
    BridgeConfig {
        libjvm: libjvm(),
        jvm_options: vec!["-Xmx64m".to_owned(), "-Xshare:auto".to_owned()],
        class_path: vec![classes.to_owned()],
        main_stack_bytes: 64 << 20,
        main_class: "Probe".to_owned(),
        method: "run".to_owned(),
        arguments: vec![what.to_owned(), value.to_owned()],
    }
}
