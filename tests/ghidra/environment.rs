//! The real engine in unusual surroundings: other users, languages, masks, and paths that need care.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::ghidr::{Ghidr, Run};
use crate::support::installed::Installed;
use crate::support::{boots, fixtures, shared, tree};

const FIXTURE: &str = "elf-aarch64";
/// The JDK that set-up chose.
fn jdk() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_ghidr")).canonicalize().unwrap();
    let descriptor = built.parent().unwrap().parent().unwrap().join("lib/ghidr/engine.json");
    let descriptor: Value = serde_json::from_slice(&std::fs::read(descriptor).unwrap()).unwrap();
    descriptor["java_home"].as_str().unwrap().into()
}

/// A real runtime of some modules.
fn runtime(modules: &str, home: &Path) {
    let output = Command::new(jdk().join("bin/jlink"))
        .args(["--add-modules", modules, "--output"])
        .arg(home)
        .output()
        .expect("jlink, a part of the JDK");
    assert!(output.status.success(), "{output:?}");
}

/// What an Analysis is, wherever and by whomever it was made.
fn essence(document: &Value) -> [Value; 3] {
    let provenance = &document["provenance"];
    let data = &document["data"];
    [provenance["analysis_profile_sha256"].clone(), data["program"].clone(), data["sample"].clone()]
}

fn expected() -> [Value; 3] {
    essence(&shared::bubblewrap().fixture(FIXTURE))
}

/// Every character that shells, class paths, `jar:` addresses, mount tables or Ghidra's own rules give a
/// meaning, in all places at once: inside the sandbox none of them is seen.
#[test]
fn engine_store_and_sample_may_lie_at_odd_paths_inside_the_sandbox() {
    let expected = expected();
    let installed = Installed::at(OsStr::from_bytes(b".engine \xff a,b!c&d#e%f:g'h\"i\nj\\k"));
    let ghidr = Ghidr::new().executable(installed.executable());
    let odd = ghidr.root().join(".a b,c!d&e#f%g:h'i\"j\nk\\l \u{202e}");
    std::fs::create_dir(&odd).unwrap();
    let sample = odd.join(OsStr::from_bytes(b"-\xff \n,!&#.exe"));
    std::fs::copy(fixtures::path(FIXTURE), &sample).unwrap();
    let store = odd.join("store");
    let ask = |command: &str, more: &[&str]| {
        let line = [command.as_ref(), sample.as_os_str(), "--store".as_ref(), store.as_os_str()];
        ghidr.run(line.into_iter().chain(more.iter().map(OsStr::new)))
    };
    let _boot = boots::take();
    let created = ask("inspect", &[]).success();
    assert_eq!(essence(&created), expected);
    assert_eq!(created["provenance"]["source_path"]["encoding"], "unix_bytes_base64");
    let decompiled = ask("decompile", &["--name", "main"]).success();
    assert!(decompiled["data"]["decompilation"]["text"].as_str().unwrap().contains("main("), "{decompiled}");
    assert_eq!(tree::names(&store.join("staging")), Vec::<String>::new());
}

/// Outside the sandbox the engine sees the real paths, and some of them it cannot have: that is a
/// typed error, or the same Analysis, never another one.
#[test]
fn odd_engine_paths_outside_the_sandbox_are_the_same_analysis_or_an_error() {
    let expected = expected();
    for name in ["a b&c#d%e'f", "x!", "y:z"] {
        let installed = Installed::at(name);
        let ghidr = Ghidr::new().executable(installed.executable());
        let _boot = boots::take();
        let run =
            ghidr.run(["inspect".as_ref(), fixtures::path(FIXTURE).as_os_str(), "--sandbox=off".as_ref()]);
        let document = run.document();
        match document["error"]["code"].as_str() {
            None => assert_eq!(essence(&document), expected, "{name}"),
            Some(code) => {
                assert!(["engine_unusable", "ghidra_incompatible"].contains(&code), "{name}: {run}")
            }
        }
        assert!(run.status == Some(0) || name != "a b&c#d%e'f", "{run}");
    }
}

#[test]
fn a_bare_runtime_and_a_damaged_jdk_are_refused_before_any_worker_starts() {
    let ghidr = Ghidr::new();
    let home = ghidr.root().join("bare");
    runtime("java.base,java.desktop", &home);
    let with = |home: &Path| {
        let arguments =
            ["inspect".as_ref(), OsStr::new("/bin/true"), "--java-home".as_ref(), home.as_os_str()];
        ghidr.run(arguments).error("java_incompatible", 1)["details"]["reason"].as_str().unwrap().to_owned()
    };
    assert!(with(&home).contains("jdk.compiler"));
    let full = ghidr.root().join("full");
    runtime("java.base,jdk.compiler", &full);
    std::fs::remove_file(full.join("lib/server/libjvm.so")).unwrap();
    assert!(with(&full).contains("libjvm.so"));
    assert!(!ghidr.store().join("analyses").exists());
}

#[test]
fn without_the_native_decompiler_only_what_needs_it_fails() {
    let installed = Installed::at("prefix");
    installed.remove("engine/cache/jar.resource.copied.files/decompile");
    let whole = Ghidr::new();
    let sample = fixtures::path(FIXTURE);
    let sample = sample.to_str().unwrap();
    let _boot = boots::take();
    whole.run(["inspect", sample]).success();
    let broken = Ghidr::in_directory(whole.root().to_owned()).executable(installed.executable());
    let inspection = broken.run(["inspect", sample]).success();
    assert_eq!(inspection["data"]["analysis"]["disposition"], "reused");
    broken.run(["functions", sample]).success();
    let error = broken.run(["decompile", sample, "--name", "main"]).error("engine_unusable", 1);
    assert_eq!(error["details"]["component"], "native_decompiler", "{error}");
    let report = broken.run(["doctor"]).error("doctor_failed", 1)["details"]["report"].clone();
    assert_eq!(report["ready"], false);
    assert_ne!(report["components"]["ghidra"]["status"], "ready", "{report}");
    // Analyzers use it too: a new Analysis would silently be a poorer one.
    let other = fixtures::path("elf-x86_64-core");
    broken.run(["inspect".as_ref(), other.as_os_str()]).error("engine_unusable", 1);
}

#[test]
fn language_display_mask_and_closed_input_do_not_reach_the_engine() {
    let expected = expected();
    for (mask, language) in [("0", "tr_TR.UTF-8"), ("077", "C")] {
        let ghidr = Ghidr::new();
        let plain = ghidr.command(["inspect".as_ref(), fixtures::path(FIXTURE).as_os_str()]);
        let mut command = Command::new("/bin/sh");
        let script = format!(r#"umask {mask}; exec "$0" "$@" 0<&-"#);
        command.arg("-c").arg(script).arg(plain.get_program()).args(plain.get_args()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.envs(["LANG", "LC_ALL", "LANGUAGE"].map(|name| (name, language))).env("DISPLAY", ":4711");
        let _boot = boots::take();
        let run = Run::from(command.output().unwrap());
        run.check_framing();
        assert_eq!(essence(&run.success()), expected, "umask {mask}, {language}");
        assert_private(&ghidr.store());
    }
}

fn assert_private(path: &Path) {
    let metadata = std::fs::symlink_metadata(path).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o077, 0, "{}", path.display());
    if metadata.is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|entry| assert_private(&entry.unwrap().path()));
    }
}

/// Root becomes `nobody`; anybody else already is another user.
#[test]
fn another_user_gets_the_same_analysis() {
    let expected = expected();
    let directory = tempfile::Builder::new().prefix("ghidr-nobody-").tempdir().unwrap();
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    open(directory.path());
    let ghidr = Ghidr::in_directory(directory.path().to_owned());
    open(&directory.path().join("home"));
    let installed = Installed::at("prefix");
    let reachable =
        installed.executable().ancestors().skip(1).all(|path| {
            std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
        });
    let sample = directory.path().join("sample");
    std::fs::copy(fixtures::path(FIXTURE), &sample).unwrap();
    // Where the project lies below a private home, its installation is copied out of it.
    let executable =
        if reachable { installed.executable() } else { copied_out(&installed, directory.path()) };
    let arguments: [OsString; 2] = ["inspect".into(), sample.into()];
    let plain = ghidr.command(&arguments);
    let root = rustix::process::geteuid().is_root();
    let prefix: &[&str] =
        if root { &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] } else { &["env"] };
    let mut command = Command::new(prefix[0]);
    command.args(&prefix[1..]).arg(executable).args(&arguments).env_clear().env("PATH", "/usr/bin:/bin");
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    let _boot = boots::take();
    let run = Run::from(command.current_dir("/").output().unwrap());
    run.check_framing();
    assert_eq!(essence(&run.success()), expected);
}

fn copied_out(installed: &Installed, to: &Path) -> PathBuf {
    let prefix = installed.executable().ancestors().nth(2).unwrap().to_owned();
    let copied = Command::new("cp").arg("-rL").arg(prefix).arg(to.join("prefix")).status().unwrap();
    assert!(copied.success());
    to.join("prefix/bin/ghidr")
}

#[test]
fn the_largest_limits_reach_the_engine_unharmed() {
    let ghidr = Ghidr::new();
    let sample = fixtures::path(FIXTURE);
    let limits = [
        ("--analysis-timeout-seconds", "2147483"),
        ("--decompile-timeout-seconds", "2147483"),
        ("--max-heap-mib", "33554432"),
        ("--max-memory-mib", "18446744073709551615"),
        ("--max-cpu", "65536"),
        ("--max-sample-bytes", "18446744073709551615"),
        ("--max-inline-bytes", "18446744073709551615"),
    ];
    let arguments = ["decompile", sample.to_str().unwrap(), "--name", "main"];
    let limits = limits.iter().flat_map(|(flag, value)| [*flag, *value]);
    let _boot = boots::take();
    let document = ghidr.run(arguments.into_iter().chain(limits)).success();
    assert_eq!(document["provenance"]["limits"]["analysis_timeout_seconds"], 2_147_483);
}
