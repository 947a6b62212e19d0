//! `clean` as it is typed: its targets, and its question on a real terminal.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::ghidr::{Ghidr, Run};
use crate::support::on_terminal::OnTerminal;

const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A store with one Diagnostic Log.
fn stored() -> (Ghidr, PathBuf) {
    let ghidr = Ghidr::new();
    let log = ghidr.store().join(format!("diagnostics/{DIGEST}/{}", &DIGEST[..32]));
    std::fs::create_dir_all(&log).unwrap();
    let closed = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(ghidr.store(), closed).unwrap();
    std::fs::write(ghidr.store().join("store.json"), "{\"kind\":\"analysis_store\",\"layout_version\":1}\n")
        .unwrap();
    std::fs::write(log.join("manifest.json"), "{}\n").unwrap();
    (ghidr, log)
}

#[test]
fn exactly_one_target_is_required() {
    let ghidr = Ghidr::new();
    let refused: [&[&str]; 14] = [
        &[],
        &["--dry-run"],
        &["--yes"],
        &["a", "--all"],
        &["a", "--digest", DIGEST],
        &["--all", "--digest", DIGEST],
        &["a", "b"],
        &["a", "--yes"],
        &["--digest", DIGEST, "--yes"],
        &["--digest"],
        &["--digest", ""],
        &["--digest", &DIGEST[1..]],
        &["--digest", "g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
        &["--digest", "-1"],
    ];
    for arguments in refused {
        let run = ghidr.run([&["clean"], arguments].concat());
        run.error("invalid_arguments", 2);
        if arguments.len() == 2 && arguments[0] == "--digest" {
            assert_eq!(run.document()["error"]["details"]["argument"], "--digest", "{run}");
        }
    }
    ghidr.run(["store"]).error("invalid_arguments", 2);
    assert!(!ghidr.store().exists());
}

#[test]
fn an_absent_store_holds_nothing_and_is_not_made() {
    let ghidr = Ghidr::new();
    for arguments in [&["--digest", DIGEST][..], &["/bin/true"], &["--all"], &["--all", "--yes"]] {
        for more in [&[][..], &["--dry-run"]] {
            let document = ghidr.run([&["clean"], arguments, more].concat()).success();
            assert_eq!(document["data"]["matched"]["usage"]["allocated_bytes"], 0);
            assert_eq!(document["data"]["matched"]["analysis_profile_sha256"], json!([]));
        }
    }
    let error = ghidr.run(["clean", "--all", "--max-inline-bytes", "9"]).error("inline_budget_too_small", 1);
    let needed = error["details"]["required_bytes"].to_string();
    ghidr.run(["clean", "--all", "--max-inline-bytes", &needed]).success();
    assert!(!ghidr.store().exists());
}

#[test]
fn a_sample_that_cannot_be_identified_removes_nothing() {
    let (ghidr, log) = stored();
    ghidr.run(["clean", "/nonexistent"]).error("sample_not_found", 1);
    ghidr.run(["clean", "/tmp"]).error("sample_not_regular", 1);
    ghidr.run(["clean", "/dev/zero"]).error("sample_not_regular", 1);
    ghidr.run(["clean", "/bin/true", "--max-sample-bytes", "10"]).error("sample_too_large", 1);
    assert!(log.exists());
}

#[test]
fn without_a_terminal_everything_goes_only_with_yes() {
    let (ghidr, log) = stored();
    let error = ghidr.run(["clean", "--all"]).error("confirmation_required", 1);
    assert_eq!(error["details"]["matched"]["diagnostic_logs"], 1);
    let run = ghidr.run_unframed(["--format", "human", "clean", "--all"]);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status == Some(1) && text.contains("  would remove: 1 diagnostic log; 3 bytes"), "{text}");
    assert!(log.exists());
    let run = ghidr.run_unframed(["--format", "human", "clean", "--all", "--yes"]);
    assert!(run.status == Some(0) && run.stdout.starts_with(b"Removed: 1 diagnostic log"), "{run}");
    assert!(!log.exists());
}

#[test]
fn a_sample_or_a_digest_goes_without_a_question() {
    let (ghidr, log) = stored();
    let document = ghidr.run(["clean", "--digest", &DIGEST.to_uppercase()]).success();
    assert_eq!(document["data"]["removed"]["diagnostic_logs"], 1);
    assert!(!log.exists());
}

#[test]
fn on_a_terminal_the_answer_decides() {
    for (typed, agreed) in [("y\n", true), ("YES\n", true), ("n\n", false), ("\n", false), ("\x04", false)] {
        let (ghidr, log) = stored();
        let mut running = OnTerminal::start(ghidr.command(["--format", "human", "clean", "--all"]));
        let shown = running.wait_for("[y/N] ");
        assert!(shown.contains("1 diagnostic log; 3 bytes"), "{shown}");
        assert!(log.exists(), "nothing goes before the answer");
        running.terminal.write_all(typed.as_bytes()).unwrap();
        let run = running.finish();
        assert_eq!((run.status, log.exists()), (Some(i32::from(!agreed)), !agreed), "{typed:?}: {run}");
        assert_eq!(run.stdout.starts_with(b"Removed: 1 diagnostic log"), agreed, "{typed:?}: {run}");
    }
}

#[test]
fn a_signal_ends_the_question() {
    let (ghidr, log) = stored();
    let mut running = OnTerminal::start(ghidr.command(["--format", "human", "clean", "--all"]));
    running.wait_for("[y/N] ");
    let started = Instant::now();
    let process = rustix::process::Pid::from_child(&running.command);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let run = running.finish();
    assert!(run.status == Some(130) && log.exists(), "{run}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn even_on_a_terminal_some_cleanups_ask_nothing() {
    let silent: [(&[&str], i32); 5] = [
        (&["clean", "--all"], 1),
        (&["--format", "human", "clean", "--all", "--dry-run"], 0),
        (&["clean", "--all", "--dry-run"], 0),
        (&["--format", "human", "clean", "--digest", DIGEST], 0),
        (&["--format", "human", "clean", "--all", "--yes"], 0),
    ];
    for (arguments, status) in silent {
        let (ghidr, _) = stored();
        let run = OnTerminal::start(ghidr.command(arguments)).finish();
        assert_eq!(run.status, Some(status), "{arguments:?}: {run}");
        assert!(!String::from_utf8_lossy(&run.stderr).contains("[y/N]"), "{arguments:?}: {run}");
    }
}

/// Runs `clean --all` with SIGINT at the first call of this system call.
fn interrupted_at(ghidr: &Ghidr, system_call: &str) -> Run {
    let plain = ghidr.command(["clean", "--all", "--yes"]);
    let mut traced = Command::new("strace");
    traced.args(["-qq", "-o", "/dev/null", "-e"]).arg(format!("trace={system_call}"));
    traced.arg("-e").arg(format!("inject={system_call}:signal=INT:when=1"));
    traced.arg(plain.get_program()).args(plain.get_args()).stdin(Stdio::null());
    traced.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    traced.env("PATH", "/usr/bin:/bin");
    let run = Run::from(traced.output().expect("strace is installed by: cargo xtask setup"));
    run.check_framing();
    run.error("interrupted", 130);
    run
}

#[test]
fn an_interruption_undoes_a_move_and_leaves_a_deletion_to_the_next_cleanup() {
    let (ghidr, log) = stored();
    let other = log.with_file_name("f".repeat(32));
    std::fs::create_dir(&other).unwrap();
    interrupted_at(&ghidr, "renameat2");
    assert!(log.exists() && other.exists(), "everything is back in its place");
    interrupted_at(&ghidr, "unlinkat");
    assert!(!log.exists() && !other.exists(), "out of sight");
    let document = ghidr.run(["clean", "--all", "--yes"]).success();
    assert_eq!(document["data"]["removed"]["diagnostic_logs"], 1, "what the first command had not deleted");
    assert_eq!(std::fs::read_dir(ghidr.store().join("cleanup")).unwrap().count(), 0);
}
