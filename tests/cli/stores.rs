//! Where the store may be and what is refused there, through the executable.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::ghidr::{Ghidr, Run};

fn with_store(ghidr: &Ghidr, store: impl AsRef<OsStr>, more: &[&str]) -> Run {
    let arguments = [OsStr::new("inspect"), OsStr::new("/bin/true"), OsStr::new("--store"), store.as_ref()];
    ghidr.run(arguments.into_iter().chain(more.iter().map(OsStr::new)))
}

#[test]
fn a_wrong_explicit_store_is_an_error_and_never_a_fall_through() {
    let ghidr = Ghidr::new();
    for store in ["", "relative", "./x", "../x", "~/x"] {
        with_store(&ghidr, store, &[]).error("invalid_store_path", 1);
        let from_variable = Ghidr::new().environment("GHIDR_STORE", store);
        from_variable.run(["inspect", "/bin/true"]).error("invalid_store_path", 1);
        assert!(!from_variable.store().exists());
    }
    assert!(!ghidr.store().exists());
}

#[test]
fn a_store_that_is_not_utf8_keeps_its_exact_bytes() {
    let ghidr = Ghidr::new();
    let error =
        with_store(&ghidr, OsString::from_vec(b"/tmp/\xff".to_vec()), &[]).error("invalid_store_path", 1);
    assert_eq!(
        error["details"]["path"],
        serde_json::json!({"encoding": "unix_bytes_base64", "value": "L3RtcC//"})
    );
}

#[test]
fn ghidras_path_rules_bind_only_where_ghidra_sees_the_path() {
    let ghidr = Ghidr::new();
    for name in [".hidden/store", "a,b"] {
        let store = ghidr.root().join(name);
        for mode in ["external", "off"] {
            with_store(&ghidr, &store, &["--sandbox", mode]).error("invalid_store_path", 1);
        }
        with_store(&ghidr, &store, &["--ghidra", "/nonexistent"]).error("ghidra_missing", 1);
        assert!(!store.exists());
    }
}

#[test]
fn without_any_location_the_error_says_so() {
    for ghidr in [Ghidr::new().without("HOME"), Ghidr::new().environment("HOME", "relative")] {
        let error = ghidr.run(["functions", "/bin/true"]).error("invalid_store_path", 1);
        assert_eq!(error["details"]["path"], serde_json::json!(null));
        assert!(error["message"].as_str().unwrap().contains("HOME"), "{error}");
    }
}

#[test]
fn xdg_is_used_when_ghidra_could_use_it_and_skipped_otherwise() {
    let located = |ghidr: Ghidr| {
        let run = ghidr.run(["inspect", "/nonexistent"]);
        run.error("sample_not_found", 1);
        run.document()["provenance"]["analysis_store"].clone()
    };
    let usable = located(Ghidr::new().environment("XDG_CACHE_HOME", "/var/tmp/cache"));
    assert_eq!(
        (&usable["source"], &usable["path"]["value"]),
        (&"xdg".into(), &"/var/tmp/cache/ghidr".into())
    );
    let skipped = located(Ghidr::new().environment("XDG_CACHE_HOME", "/home/user/.cache"));
    assert_eq!(skipped["source"], "home_fallback");
}

#[test]
fn what_is_not_a_store_of_this_version_is_refused_and_left_alone() {
    let ghidr = Ghidr::new();
    let at = |name: &str, file: &str, text: &str| {
        let path = ghidr.root().join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(path.join(file), text).unwrap();
        path
    };
    let record = |version: u32| format!("{{\"kind\":\"analysis_store\",\"layout_version\":{version}}}\n");
    let open = at("open", "store.json", &record(1));
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cases = [
        (at("foreign", "thesis.tex", "x"), "store.json"),
        (at("future", "store.json", &record(2)), "version 2"),
        (open, "0755"),
    ];
    for (path, reason) in cases {
        let before = std::fs::read_dir(&path).unwrap().count();
        let error = with_store(&ghidr, &path, &[]).error("store_incompatible", 1);
        assert!(error["details"]["reason"].as_str().unwrap().contains(reason), "{error}");
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), before);
    }
}

#[test]
fn a_store_that_cannot_be_created_is_unwritable() {
    let error = with_store(&Ghidr::new(), "/proc/ghidr-store", &[]).error("store_unwritable", 1);
    assert!(error["details"]["path"]["value"].as_str().unwrap().starts_with("/proc"));
}
