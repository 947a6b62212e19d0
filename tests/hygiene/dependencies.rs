//! The dependency graph: small, locked, and with the JVM bridge at one edge only.

use std::process::Command;

use crate::support::committed;

/// Most packages in `Cargo.lock`. Raising it needs a reason in the commit.
const PACKAGE_CEILING: usize = 190;

#[test]
fn the_lock_file_stays_below_its_ceiling() {
    let lock = std::fs::read_to_string(committed::project().join("Cargo.lock")).unwrap();
    let packages = lock.matches("[[package]]").count();
    assert!(packages <= PACKAGE_CEILING, "{packages} packages");
}

/// Who depends on the JNI crate, through which only the worker reaches a JVM.
#[test]
fn jni_is_reached_through_the_bridge_alone() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--workspace", "--edges", "normal", "--invert", "jni"])
        .args(["--depth", "2", "--prefix", "depth", "--format", " {lib}"])
        .current_dir(committed::project())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = tree.lines().collect();
    assert_eq!(lines, ["0 jni", "1 jvm_bridge", "2 ghidr"]);
}

#[test]
fn every_crate_forbids_unsafe_code_through_the_workspace() {
    for manifest in ["Cargo.toml", "jvm-bridge/Cargo.toml", "xtask/Cargo.toml"] {
        let text = std::fs::read_to_string(committed::project().join(manifest)).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{manifest}");
    }
    let root = std::fs::read_to_string(committed::project().join("Cargo.toml")).unwrap();
    assert!(root.contains("unsafe_code = \"forbid\""));
}

/// The trusted parent never maps a JVM, not even by linking.
#[test]
fn the_executable_needs_no_libjvm() {
    // The dynamic loader lists what it would load, and runs nothing.
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghidr"));
    let output = command.env_clear().env("LD_TRACE_LOADED_OBJECTS", "1").output().unwrap();
    let libraries = String::from_utf8(output.stdout).unwrap();
    assert!(libraries.contains("libc.so") && !libraries.contains("libjvm"), "{libraries}");
}
