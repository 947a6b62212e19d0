//! Which directories are full JDKs, and which one is chosen.
#![allow(clippy::unwrap_used)]

use super::*;

const RELEASE: &str = "JAVA_VERSION=\"17.0.15\"\nMODULES=\"java.base jdk.compiler jdk.zipfs\"\n";

fn jdk(root: &Path, release: &str) -> PathBuf {
    let home = root.join("jdk");
    for directory in ["bin", "lib/server"] {
        fs::create_dir_all(home.join(directory)).unwrap();
    }
    fs::write(home.join("release"), release).unwrap();
    fs::write(home.join("bin/javac"), "").unwrap();
    fs::write(home.join("lib/server/libjvm.so"), "").unwrap();
    crate::files::set_mode(&home.join("bin/javac"), 0o755).unwrap();
    home
}

#[test]
fn a_full_jdk_is_recognised() {
    let root = tempfile::tempdir().unwrap();
    let home = jdk(root.path(), RELEASE);
    assert_eq!(Jdk::inspect(&home).unwrap().feature, 17);
}

#[test]
fn each_missing_part_is_named() {
    for (part, reason) in
        [("release", "release file"), ("bin/javac", "runtime only"), ("lib/server/libjvm.so", "libjvm.so")]
    {
        let root = tempfile::tempdir().unwrap();
        let home = jdk(root.path(), RELEASE);
        fs::remove_file(home.join(part)).unwrap();
        let error = Jdk::inspect(&home).unwrap_err().to_string();
        assert!(error.contains(reason), "{part}: {error}");
    }
}

#[test]
fn a_runtime_without_the_compiler_module_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let home = jdk(root.path(), &RELEASE.replace("jdk.compiler", "java.compiler"));
    assert!(Jdk::inspect(&home).unwrap_err().to_string().contains("jdk.compiler"));
}

#[test]
fn the_verified_version_wins_over_an_earlier_candidate() {
    let make = |feature: u32| Jdk { home: PathBuf::from(format!("/jdk-{feature}")), feature };
    let range = JavaRange { minimum: 17, maximum: Some(21) };
    let found = [make(11), make(21), make(17), make(24)];
    assert_eq!(choose(&found, range, 17), Some(&found[2]));
    assert_eq!(choose(&found[..2], range, 17), Some(&found[1]));
    assert_eq!(choose(&[make(11), make(24)], range, 17), None);
}

#[test]
fn feature_versions_are_read_in_every_spelling() {
    for (text, feature) in [("17.0.15", 17), ("21", 21), ("24-ea", 24), ("17+35", 17)] {
        assert_eq!(feature_version(text), Some(feature), "{text}");
    }
    assert_eq!(feature_version("unknown"), None);
}
