//! An archive of what set-up laid out, unpacked, installed and asked on what counts as a machine without Rust.
//!
//! Boots Ghidra, which is why this module has the name that `cargo xtask test --fast` leaves out.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::{Command, Output};

use ghidr::engine::application_properties::{ApplicationProperties, JavaRange};
use ghidr::engine::descriptor::EngineDescriptor;
use ghidr::engine::sandbox_parts::{self, SANDBOX_PARTS_VERSION, SandboxParts};

use super::*;
use crate::pins::ENGINE;
use crate::setup::adapter::Adapter;
use crate::setup::prepare::Prepared;

/// The archive of the development build, with or without its engine.
fn archive(project: &Project, with_engine: bool, out: &Path) -> PathBuf {
    let bundle = project.bundled_tree();
    let descriptor = EngineDescriptor::read(&bundle).unwrap().expect("run: cargo xtask setup");
    let adapter =
        Adapter { jar: bundle.join("adapter/ghidr-adapter.jar"), scripts: bundle.join("adapter/scripts") };
    let prepared = Prepared {
        directory: bundle.join("engine/cache"),
        manifest_sha256: descriptor.cache_sha256.unwrap(),
    };
    let facts = ApplicationProperties {
        version: ENGINE.ghidra_version.to_owned(),
        build: ENGINE.ghidra_build.to_owned(),
        release_name: ENGINE.ghidra_release_name.to_owned(),
        java: JavaRange { minimum: ENGINE.java_minimum, maximum: None },
    };
    let jar = bundle.join("engine/ghidra.jar");
    let parts = Parts {
        engine: if with_engine { Engine::Jar { jar: &jar, prepared: &prepared } } else { Engine::None },
        facts: &facts,
        java_home: None,
        adapter: &adapter,
    };
    let content = Distribution {
        executable: &project.executable("debug"),
        parts: &parts,
        shared: &SharedFiles::generate(project).unwrap(),
    };
    content.write(project, out).unwrap()
}

/// Unpacks an archive into an empty directory and returns its top.
fn unpack(archive: &Path, empty: &Path) -> PathBuf {
    fs::create_dir(empty).unwrap();
    run(Path::new("/usr/bin/tar"), &["--extract", "--file", archive.to_str().unwrap()], empty);
    fs::read_dir(empty).unwrap().next().unwrap().unwrap().path()
}

/// Runs a program with nothing but a search path on which there is no Cargo.
fn run(program: &Path, arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).env_clear().env("PATH", "/usr/bin:/bin");
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
    output
}

#[test]
fn an_archive_installs_and_answers_on_a_machine_without_rust() {
    let project = Project::locate().unwrap();
    let root = tempfile::tempdir().unwrap();
    let archive = archive(&project, true, &root.path().join("out"));
    let unpacked = unpack(&archive, &root.path().join("empty"));
    files::remove(&archive).unwrap();
    let prefix = root.path().join("a prefix");
    let installed = run(&unpacked.join("install.sh"), &["--prefix", prefix.to_str().unwrap()], root.path());
    let said = String::from_utf8(installed.stdout).unwrap();
    assert!(said.contains("Ghidra 10.3: ready") && said.contains("JDK 17: ready"), "{said}");
    files::remove(&unpacked).unwrap();

    // A packager for a system without the common places names bubblewrap, libraries and fonts.
    let provided = SandboxParts {
        sandbox_version: SANDBOX_PARTS_VERSION,
        bubblewrap: "/usr/bin/bwrap".into(),
        closure: vec!["/usr/share/fonts".into(), "/usr/share/fontconfig".into()],
        fonts: "/etc/fonts".into(),
    };
    let file = prefix.join("lib/ghidr").join(sandbox_parts::FILE_NAME);
    fs::write(file, serde_json::to_vec(&provided).unwrap()).unwrap();

    let ghidr = prefix.join("bin/ghidr");
    let store = root.path().join("store");
    let sample = project.root.join("fixtures/bin/elf-x86_64-pie");
    let ask = |arguments: &[&str]| {
        let mut command = Command::new(&ghidr);
        command.env_clear().current_dir("/").args(arguments).arg("--store").arg(&store);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(ask(&["doctor"])["data"]["ready"], true);
    let inspection = ask(&["inspect", sample.to_str().unwrap()]);
    assert_eq!(inspection["data"]["program"]["function_count"], 59, "as in the goldens");
    for installed in ["share/man/man1/ghidr.1", "share/doc/ghidr/NOTICE", "share/ghidr/schemas/v1/error.json"]
    {
        assert!(prefix.join(installed).is_file(), "{installed}");
    }
}

#[test]
fn building_an_archive_twice_gives_the_same_bytes_and_installing_it_twice_the_same_files() {
    let project = Project::locate().unwrap();
    let root = tempfile::tempdir().unwrap();
    let [first, again] = ["one", "two"].map(|name| archive(&project, false, &root.path().join(name)));
    let digest = Content::of_file(&first).unwrap();
    assert_eq!(digest, Content::of_file(&again).unwrap());
    let checksum = fs::read_to_string(first.with_extension("gz.sha256")).unwrap();
    assert_eq!(checksum, format!("{}  {}\n", digest.sha256, first.file_name().unwrap().to_str().unwrap()));

    let unpacked = unpack(&first, &root.path().join("empty"));
    let prefix = root.path().join("prefix");
    let mut found = Vec::new();
    for _first_and_again in 0..2 {
        let installed =
            run(&unpacked.join("install.sh"), &["--prefix", prefix.to_str().unwrap()], root.path());
        assert!(String::from_utf8(installed.stdout).unwrap().contains("this archive has no Ghidra"));
        found.push(files::regular_files(&prefix).unwrap());
    }
    let mut expected = files::regular_files(&unpacked).unwrap();
    expected.retain(|path| path != Path::new("install.sh"));
    assert_eq!(found, [expected.clone(), expected]);
}

#[test]
fn the_installer_refuses_what_is_not_ours_and_a_jdk_that_is_none() {
    let project = Project::locate().unwrap();
    let root = tempfile::tempdir().unwrap();
    let unpacked = root.path().join("unpacked");
    for (path, content) in
        [("lib/ghidr/install.json", "{}"), ("bin/ghidr", ""), ("share/doc/ghidr/NOTICE", "")]
    {
        files::create_public_directory(unpacked.join(path).parent().unwrap()).unwrap();
        fs::write(unpacked.join(path), content).unwrap();
    }
    let descriptor = unpacked.join("lib/ghidr/engine.json");
    fs::write(descriptor, "{\n  \"java_minimum\": 17\n}\n").unwrap();
    let installer = unpacked.join("install.sh");
    files::copy(&project.root.join("packaging/install.sh"), &installer).unwrap();
    let refusal = |arguments: &[&str]| {
        let output =
            Command::new("sh").arg(&installer).args(arguments).env_remove("JAVA_HOME").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let prefix = root.path().join("prefix");
    let prefix_argument = prefix.to_str().unwrap();
    let foreign = prefix.join("lib/ghidr/another program");
    files::create_public_directory(foreign.parent().unwrap()).unwrap();
    fs::write(&foreign, "").unwrap();
    assert!(refusal(&["--prefix", prefix_argument]).contains("lib/ghidr exists and is not ours"));
    files::remove(&foreign).unwrap();
    files::create_public_directory(&prefix.join("bin")).unwrap();
    fs::write(prefix.join("bin/ghidr"), "another").unwrap();
    assert!(refusal(&["--prefix", prefix_argument]).contains("bin/ghidr exists and is not ours"));
    assert_eq!(fs::read_to_string(prefix.join("bin/ghidr")).unwrap(), "another");
    assert!(refusal(&["--prefix", prefix_argument, "--java-home", "/usr"]).contains("not a full JDK"));
    assert!(refusal(&["--nonsense"]).contains("unknown argument"));
    assert!(refusal(&["--prefix"]).contains("needs a value"));
}
