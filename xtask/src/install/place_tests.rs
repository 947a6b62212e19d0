//! What an installation refuses to replace, and what it leaves behind.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::setup::adapter::Adapter;
use crate::setup::bundle::Engine;
use ghidr::engine::application_properties::ApplicationProperties;
use ghidr::engine::application_properties::JavaRange;

fn facts() -> ApplicationProperties {
    ApplicationProperties {
        version: "12.1.2".to_owned(),
        build: "abc".to_owned(),
        release_name: "PUBLIC".to_owned(),
        java: JavaRange { minimum: 21, maximum: None },
    }
}

fn adapter(root: &Path) -> Adapter {
    let adapter = Adapter { jar: root.join("built/ghidr-adapter.jar"), scripts: root.join("built/scripts") };
    fs::create_dir_all(&adapter.scripts).unwrap();
    fs::write(&adapter.jar, "jar").unwrap();
    fs::write(adapter.scripts.join("Script.class"), "class").unwrap();
    adapter
}

fn shared() -> SharedFiles {
    let mut shared = SharedFiles::default();
    shared.add("share/man/man1/ghidr.1", b"page".to_vec());
    shared
}

fn place(root: &Path, content: &str) -> Destination {
    let built = root.join("ghidr-built");
    fs::write(&built, content).unwrap();
    let destination = Destination::new(&root.join("prefix"));
    destination.check(&shared()).unwrap();
    let parts = Parts {
        engine: Engine::Directory(Path::new("/opt/ghidra")),
        facts: &facts(),
        java_home: Some(Path::new("/opt/jdk")),
        adapter: &adapter(root),
    };
    destination.place(&built, &parts, &shared(), |_tree| Ok(())).unwrap();
    destination
}

#[test]
fn an_installation_is_readable_for_everybody_and_replaces_an_older_one() {
    let root = tempfile::tempdir().unwrap();
    for content in ["old", "new"] {
        let destination = place(root.path(), content);
        assert_eq!(fs::read_to_string(&destination.executable).unwrap(), content);
        let found = files::regular_files(&root.path().join("prefix")).unwrap();
        let expected = [
            "bin/ghidr",
            "lib/ghidr/adapter/ghidr-adapter.jar",
            "lib/ghidr/adapter/scripts/Script.class",
            "lib/ghidr/engine.json",
            "lib/ghidr/install.json",
            "share/man/man1/ghidr.1",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        for path in found {
            let mode = fs::metadata(root.path().join("prefix").join(&path)).unwrap().permissions().mode();
            let expected = if path == Path::new("bin/ghidr") { 0o755 } else { 0o644 };
            assert_eq!(mode & 0o777, expected, "{}", path.display());
        }
    }
}

#[test]
fn a_foreign_tree_and_a_foreign_executable_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let destination = Destination::new(root.path());
    fs::create_dir_all(&destination.tree).unwrap();
    destination.check(&shared()).unwrap();
    fs::write(destination.tree.join("x"), "").unwrap();
    assert!(destination.check(&shared()).unwrap_err().to_string().contains("lib/ghidr"));
    fs::remove_file(destination.tree.join("x")).unwrap();
    fs::create_dir_all(destination.executable.parent().unwrap()).unwrap();
    fs::write(&destination.executable, "").unwrap();
    assert!(destination.check(&shared()).unwrap_err().to_string().contains("bin/ghidr"));
    fs::remove_file(&destination.executable).unwrap();
    shared().write(root.path()).unwrap();
    assert!(destination.check(&shared()).unwrap_err().to_string().contains("man1/ghidr.1"));
}
