//! What makes an Analysis the same one: the bytes and the Profile, never path, limits or time.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::support::ghidr::Ghidr;
use crate::support::{boots, fixtures, shared, tree};

#[test]
fn the_same_bytes_at_any_path_reuse_the_analysis() {
    let shared = shared::bubblewrap();
    let cold = shared.fixture("elf-x86_64-pie");
    let folder = shared.ghidr.root().join("elsewhere");
    std::fs::create_dir_all(&folder).unwrap();
    let names: [&[u8]; 4] = [b"\xff\xfe", b"a b, c.elf", b"--help", "größe \u{202e}".as_bytes()];
    for name in names {
        let path = folder.join(OsStr::from_bytes(name));
        std::fs::copy(fixtures::path("elf-x86_64-pie"), &path).unwrap();
        let run = shared.run(["inspect".as_ref(), path.as_os_str()]);
        let document = run.success();
        assert_eq!(document["data"]["analysis"]["disposition"], "reused", "{run}");
        assert_eq!(document["data"]["program"], cold["data"]["program"]);
        assert_eq!(
            document["provenance"]["analysis_profile_sha256"],
            cold["provenance"]["analysis_profile_sha256"]
        );
        let encoding = if std::str::from_utf8(name).is_ok() { "utf8" } else { "base64" };
        assert_eq!(document["provenance"]["source_path"]["encoding"], encoding, "{run}");
    }
}

#[test]
fn a_sample_whose_path_is_not_utf8_is_analyzed_and_decompiled() {
    let ghidr = Ghidr::new();
    let path = ghidr.root().join(OsStr::from_bytes(b"\xff ,'\n"));
    std::fs::copy(fixtures::path("elf-aarch64"), &path).unwrap();
    let _boot = boots::take();
    let arguments = ["decompile".as_ref(), path.as_os_str(), "--name".as_ref(), "main".as_ref()];
    let document = ghidr.run(arguments).success();
    assert_eq!(document["provenance"]["source_path"]["encoding"], "base64");
    assert!(document["data"]["decompilation"]["text"].as_str().unwrap().contains("main"));
}

#[test]
fn changed_bytes_at_the_same_path_are_another_sample() {
    let ghidr = Ghidr::new();
    let path = ghidr.root().join("sample");
    std::fs::copy(fixtures::path("elf-aarch64"), &path).unwrap();
    let inspect = || ghidr.run(["inspect".as_ref(), path.as_os_str()]).success();
    let _boot = boots::take();
    let before = inspect();
    // A byte after the end of everything that is loaded.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.push(0);
    std::fs::write(&path, bytes).unwrap();
    let after = inspect();
    assert_eq!(after["data"]["analysis"]["disposition"], "created");
    assert_ne!(before["provenance"]["sample_sha256"], after["provenance"]["sample_sha256"]);
    assert_eq!(tree::names(&ghidr.store().join("analyses")).len(), 2);
}

#[test]
fn another_cpu_count_is_another_analysis_and_the_first_survives() {
    let ghidr = Ghidr::new();
    let path = fixtures::path("elf-aarch64");
    let path = path.to_str().unwrap();
    let _boot = boots::take();
    let profile = |arguments: &[&str], disposition: &str| {
        let document = ghidr.run(arguments).success();
        assert_eq!(document["data"]["analysis"]["disposition"], disposition, "{arguments:?}");
        document["provenance"]["analysis_profile_sha256"].as_str().unwrap().to_owned()
    };
    let first = profile(&["inspect", path], "created");
    let analyses = ghidr.store().join("analyses");
    let before = tree::state(&analyses.join(&tree::names(&analyses)[0]).join(&first));
    let second = profile(&["--max-cpu", "1", "inspect", path], "created");
    assert_ne!(first, second);
    assert_eq!(profile(&["inspect", path], "reused"), first);
    assert_eq!(profile(&["inspect", path, "--max-cpu", "1"], "reused"), second);
    assert_eq!(tree::state(&analyses.join(&tree::names(&analyses)[0]).join(&first)), before);
    // And no limit that cannot change a result makes another Profile, not even on a cold run.
    let other = Ghidr::new();
    let copy = other.root().join("other name");
    std::fs::copy(path, &copy).unwrap();
    let limits =
        ["--max-heap-mib", "1024", "--analysis-timeout-seconds", "599", "--max-inline-bytes", "70000"];
    let decompile =
        ["--decompile-timeout-seconds", "7", "--max-memory-mib", "5000", "--max-sample-bytes", "9999999"];
    let arguments =
        limits.iter().chain(&decompile).map(OsStr::new).chain([OsStr::new("inspect"), copy.as_os_str()]);
    let document = other.run(arguments).success();
    assert_eq!(document["data"]["analysis"]["disposition"], "created");
    assert_eq!(document["provenance"]["analysis_profile_sha256"], first.as_str());
}

#[test]
fn the_callers_java_variables_have_no_effect() {
    let mut ghidr = Ghidr::new();
    for name in ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"] {
        ghidr = ghidr.environment(name, "-Xmx1m -XX:+NoSuchOption -Duser.language=de");
    }
    let path = fixtures::path("elf-aarch64");
    let _boot = boots::take();
    for mode in ["bubblewrap", "off"] {
        let run = ghidr.run(["--sandbox", mode, "decompile", path.to_str().unwrap(), "--name", "main"]);
        run.success();
    }
}
