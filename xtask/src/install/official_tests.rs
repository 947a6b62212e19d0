//! Which directories are Ghidra installations, and which JDK one gets.
#![allow(clippy::unwrap_used)]

use super::*;

const PROPERTIES: &str = "application.name=Ghidra\napplication.version=12.1.2\n\
    application.release.name=PUBLIC\napplication.java.min=21\napplication.java.max=\n\
    application.build.date=2026-Jun-01 1200 EDT\napplication.revision.ghidra=abc\n";

fn installation(root: &Path) -> PathBuf {
    let native = format!("Ghidra/Features/Decompiler/os/{}", platform());
    for directory in ["support", "Ghidra/Framework/Utility/lib", &native] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("Ghidra/application.properties"), PROPERTIES).unwrap();
    fs::write(root.join("Ghidra/Framework/Utility/lib/Utility.jar"), "").unwrap();
    let decompiler = root.join(native).join("decompile");
    fs::write(&decompiler, "").unwrap();
    crate::files::set_mode(&decompiler, 0o755).unwrap();
    decompiler
}

#[test]
fn an_installation_is_recognised_with_its_facts() {
    let root = tempfile::tempdir().unwrap();
    installation(root.path());
    let facts = Installation::inspect(root.path()).unwrap().facts;
    assert_eq!(facts.version, "12.1.2");
    assert_eq!(facts.build, "abc");
    assert_eq!(facts.java.minimum, 21);
}

#[test]
fn a_missing_part_is_named() {
    for (part, reason) in [
        ("Ghidra/application.properties", "application.properties"),
        ("support", "support"),
        ("Ghidra/Framework/Utility/lib/Utility.jar", "jars"),
        ("Ghidra/Features/Decompiler/os", "native decompiler"),
    ] {
        let root = tempfile::tempdir().unwrap();
        installation(root.path());
        crate::files::remove(&root.path().join(part)).unwrap();
        let error = Installation::inspect(root.path()).unwrap_err().to_string();
        assert!(error.contains(reason), "{part}: {error}");
    }
}

#[test]
fn a_decompiler_that_may_not_run_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let decompiler = installation(root.path());
    crate::files::set_mode(&decompiler, 0o644).unwrap();
    let error = Installation::inspect(root.path()).unwrap_err().to_string();
    assert!(error.contains("may not be executed"), "{error}");
}

#[test]
fn a_jar_is_not_a_directory() {
    let root = tempfile::tempdir().unwrap();
    let jar = root.path().join("ghidra.jar");
    fs::write(&jar, "").unwrap();
    let error = Installation::inspect(&jar).unwrap_err().to_string();
    assert!(error.contains("directory of an unpacked release"), "{error}");
}

#[test]
fn the_verified_jdk_is_preferred_and_none_is_an_error() {
    let jdk = |feature: u32| Jdk { home: PathBuf::from(format!("/jdk-{feature}")), feature };
    let facts = ApplicationProperties::parse(PROPERTIES).unwrap();
    assert_eq!(java_for(&facts, None, &[jdk(17), jdk(25), jdk(21)]).unwrap().feature, 21);
    assert_eq!(java_for(&facts, None, &[jdk(17), jdk(25)]).unwrap().feature, 25);
    let error = java_for(&facts, None, &[jdk(17)]).unwrap_err().to_string();
    assert!(error.contains("--java-home"), "{error}");
}
