//! What a Sample may be: refused before any engine starts, and never with a hang.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::ghidr::Ghidr;

fn refused(ghidr: &Ghidr, sample: &Path, code: &str) -> Value {
    let started = Instant::now();
    let error = ghidr.run(["inspect".as_ref(), sample.as_os_str()]).error(code, 1);
    assert!(started.elapsed() < Duration::from_secs(20), "{} took long", sample.display());
    error["details"].clone()
}

#[test]
fn what_is_not_a_regular_file_is_named_and_never_waited_for() {
    let ghidr = Ghidr::new();
    let at = |name: &str| ghidr.root().join(name);
    std::fs::create_dir(at("directory")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink(at("fifo"), at("link")).unwrap();
    let cases = [
        (at("directory"), "directory"),
        (at("fifo"), "FIFO"),
        (at("link"), "FIFO"),
        (at("socket"), "socket"),
        (PathBuf::from("/dev/zero"), "device"),
    ];
    for (path, word) in cases {
        let details = refused(&ghidr, &path, "sample_not_regular");
        let file_type = details["file_type"].as_str().unwrap().to_lowercase();
        assert!(file_type.contains(&word.to_lowercase()), "{details}");
    }
}

#[test]
fn a_missing_sample_keeps_the_path_as_given() {
    let ghidr = Ghidr::new();
    std::os::unix::fs::symlink("nowhere", ghidr.root().join("dangling")).unwrap();
    refused(&ghidr, &ghidr.root().join("dangling"), "sample_not_found");
    let relative = refused(&ghidr, Path::new("./no such,sample"), "sample_not_found");
    assert_eq!(relative["path"], serde_json::json!({"encoding": "utf8", "value": "./no such,sample"}));
    let odd = ghidr.run([OsStr::new("inspect"), OsStr::from_bytes(b"a\xff")]).error("sample_not_found", 1);
    assert_eq!(odd["details"]["path"], serde_json::json!({"encoding": "unix_bytes_base64", "value": "Yf8="}));
    refused(&ghidr, Path::new("/bin/true/below"), "sample_not_found");
}

#[test]
fn the_size_limit_is_exact() {
    let ghidr = Ghidr::new();
    let sample = ghidr.root().join("sample");
    std::fs::write(&sample, [0; 100]).unwrap();
    let limited = |limit: &str| {
        ghidr.run([
            "inspect".as_ref(),
            sample.as_os_str(),
            "--ghidra=/none".as_ref(),
            "--max-sample-bytes".as_ref(),
            limit.as_ref(),
        ])
    };
    limited("99").error("ghidra_missing", 1);
    let with_engine = |limit: &str| {
        ghidr.run(["inspect".as_ref(), sample.as_os_str(), "--max-sample-bytes".as_ref(), limit.as_ref()])
    };
    let error = with_engine("99").error("sample_too_large", 1);
    assert_eq!(error["details"]["limit_bytes"], 99);
    assert!(error["details"]["observed_at_least_bytes"].as_u64().unwrap() >= 100);
    assert!(!ghidr.store().exists(), "a refused Sample creates no store");
}

/// Root reads everything, so this runs the command as another user.
#[test]
fn an_unreadable_sample_gives_the_systems_reason() {
    let ghidr = Ghidr::new();
    let sample = ghidr.root().join("secret");
    std::fs::write(&sample, "x").unwrap();
    std::fs::set_permissions(&sample, std::fs::Permissions::from_mode(0)).unwrap();
    if !rustix::process::geteuid().is_root() {
        let details = refused(&ghidr, &sample, "sample_unreadable");
        assert!(details["reason"].as_str().unwrap().contains("ermission denied"));
        return;
    }
    // A file of /proc that opens and then refuses to be read, to root as to anyone.
    let details = refused(&ghidr, Path::new("/proc/self/mem"), "sample_unreadable");
    assert!(!details["reason"].as_str().unwrap().is_empty());
}
