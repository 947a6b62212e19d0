//! Preparation from small jars: selection, damage, interruption.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn jar(path: &Path, entries: &[(&str, &str)]) {
    let mut writer = zip::ZipWriter::new(File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in entries {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
}

fn small_engine(root: &Path) -> PathBuf {
    let native = native_directory();
    let path = root.join("ghidra.jar");
    jar(
        &path,
        &[
            (&format!("_Root/Ghidra/Features/Decompiler{native}/decompile"), "native"),
            ("_Root/Ghidra/Features/Decompiler/os/win_x86_64/decompile.exe", "other platform"),
            ("_Root/Ghidra/Features/FunctionID/data/vs2019_x64.fidbf", "database"),
            ("_Root/Ghidra/Features/Base/data/symbols/win32/mfc42.exports", "streamed"),
            ("_Root/Ghidra/Features/Base/data/symbols/win64/mfc42.exports", "streamed"),
        ],
    );
    path
}

#[test]
fn only_what_the_engine_needs_as_a_file_is_unpacked() {
    let root = tempfile::tempdir().unwrap();
    let jar = small_engine(root.path());
    let prepared = ensure(root.path(), &jar, "digest").unwrap();
    let decompile = prepared.directory.join(UNPACKED).join("decompile");
    assert_eq!(fs::read(&decompile).unwrap(), b"native");
    assert_eq!(fs::metadata(&decompile).unwrap().permissions().mode() & 0o777, 0o755);
    let manifest = fs::read(prepared.directory.join(MANIFEST)).unwrap();
    assert_eq!(Content::of_bytes(&manifest).sha256, prepared.manifest_sha256.to_string());
    let found = files::regular_files(&prepared.directory).unwrap();
    let expected = ["decompile", "vs2019_x64.fidbf"].map(|name| Path::new(UNPACKED).join(name));
    assert_eq!(found, [expected[0].clone(), expected[1].clone(), MANIFEST.into()]);
}

#[test]
fn a_damaged_tree_is_prepared_again() {
    let root = tempfile::tempdir().unwrap();
    let jar = small_engine(root.path());
    let prepared = ensure(root.path(), &jar, "digest").unwrap();
    let database = prepared.directory.join(UNPACKED).join("vs2019_x64.fidbf");
    fs::write(&database, "databasE").unwrap();
    let again = ensure(root.path(), &jar, "digest").unwrap();
    assert_eq!(fs::read(&database).unwrap(), b"database");
    assert_eq!(again.manifest_sha256, prepared.manifest_sha256);
}

#[test]
fn a_manifest_changed_together_with_its_tree_is_still_damage() {
    let root = tempfile::tempdir().unwrap();
    let jar = small_engine(root.path());
    let prepared = ensure(root.path(), &jar, "digest").unwrap();
    let database = prepared.directory.join(UNPACKED).join("vs2019_x64.fidbf");
    fs::write(&database, "forged").unwrap();
    let forged = TreeManifest::of_tree(&prepared.directory, MANIFEST).unwrap();
    fs::write(prepared.directory.join(MANIFEST), forged.to_bytes().unwrap()).unwrap();
    ensure(root.path(), &jar, "digest").unwrap();
    assert_eq!(fs::read(&database).unwrap(), b"database");
}

#[test]
fn an_interruption_at_any_step_is_not_taken_for_complete() {
    let root = tempfile::tempdir().unwrap();
    let jar = small_engine(root.path());
    let complete = root.path().join("complete.json");
    let staging = root.path().join(".cache.new");

    fs::create_dir_all(staging.join(UNPACKED)).unwrap();
    fs::write(staging.join(UNPACKED).join("decompile"), "nat").unwrap();
    let prepared = ensure(root.path(), &jar, "digest").unwrap();
    assert!(!staging.exists());

    fs::remove_file(&complete).unwrap();
    fs::write(prepared.directory.join(UNPACKED).join("decompile"), "nat").unwrap();
    ensure(root.path(), &jar, "digest").unwrap();
    assert_eq!(fs::read(prepared.directory.join(UNPACKED).join("decompile")).unwrap(), b"native");
}

#[test]
fn another_engine_is_prepared_afresh() {
    let root = tempfile::tempdir().unwrap();
    let jar = small_engine(root.path());
    ensure(root.path(), &jar, "digest").unwrap();
    let complete = root.path().join("complete.json");
    let before = fs::read(&complete).unwrap();
    ensure(root.path(), &jar, "another").unwrap();
    assert_ne!(fs::read(&complete).unwrap(), before);
}

#[test]
fn a_base_name_that_occurs_twice_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("ghidra.jar");
    jar(&path, &[("_Root/a/x.fidbf", "one"), ("_Root/b/x.fidbf", "two")]);
    let error = ensure(root.path(), &path, "digest").unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
    assert!(!root.path().join("cache").exists() && !root.path().join("complete.json").exists());
}

#[test]
fn a_jar_without_this_platforms_decompiler_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("ghidra.jar");
    jar(&path, &[("_Root/a/x.fidbf", "one")]);
    assert!(ensure(root.path(), &path, "digest").is_err());
    assert!(!root.path().join("complete.json").exists());
}
