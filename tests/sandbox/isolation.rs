//! The walls of the bubblewrap sandbox, from inside; the same worker outside shows that the questions are real.

use std::io::Write;
use std::net::TcpListener;
use std::path::Path;

use crate::support::worker_run::WorkerRun;

fn said(report: &str, question: &str) -> String {
    let prefix = format!("{question}: ");
    let answer = report.lines().find_map(|line| line.strip_prefix(&prefix));
    answer.unwrap_or_else(|| panic!("no answer to {question:?} in\n{report}")).to_owned()
}

/// The answers of a worker in `mode`; `{root}` in a question stands for the caller's directory.
fn ask(mode: &str, questions: &[&str]) -> (Vec<String>, String) {
    let run = WorkerRun::new(mode, "");
    let root = run.root().display().to_string();
    let questions: Vec<String> = questions.iter().map(|question| question.replace("{root}", &root)).collect();
    std::fs::write(run.root().join("script"), questions.join("\n")).unwrap();
    let report = run.finish();
    assert_eq!(report.outcome["worker_status"], 0, "{mode}: {}", report.outcome);
    (questions, report.stdout)
}

fn inside(questions: &[&str]) -> String {
    ask("bubblewrap", questions).1
}

#[test]
fn the_callers_files_are_out_of_reach() {
    let (questions, answers) = ask(
        "bubblewrap",
        &["read {root}/secret", "list {root}/invocation", "list /root", "list /home", "read /etc/passwd"],
    );
    for question in &questions {
        assert_eq!(said(&answers, question), "error NotFound");
    }
    // The JDK of this test lies below the caller's directory, which therefore exists with nothing else in it.
    let (questions, answers) = ask("bubblewrap", &["list {root}"]);
    assert_eq!(said(&answers, &questions[0]), "jdk");
    let (questions, answers) = ask("off", &["read {root}/secret"]);
    assert_eq!(said(&answers, &questions[0]), "12 bytes");
}

#[test]
fn what_is_granted_is_there_and_read_only_where_it_must_be() {
    let inside = inside(&[
        "read /ghidr/sample/sample",
        "create /ghidr/sample/sample",
        "create /ghidr/engine/x",
        "create /ghidr/adapter/x",
        "create /ghidr/analysis/project/x",
        "create /ghidr/analysis/facts/x",
        "create /ghidr/invocation/x",
        "create /ghidr/home/x",
        "create /tmp/x",
        "create /dev/shm/x",
        "create /x",
        "create /dev/x",
        "create /ghidr/x",
        "create /usr/lib/x",
        "list /",
        "list /ghidr",
    ]);
    assert_eq!(said(&inside, "read /ghidr/sample/sample"), "8 bytes");
    for writable in
        ["/ghidr/analysis/project/x", "/ghidr/analysis/facts/x", "/ghidr/invocation/x", "/ghidr/home/x"]
    {
        assert_eq!(said(&inside, &format!("create {writable}")), "created");
    }
    for writable in ["/tmp/x", "/dev/shm/x"] {
        assert_eq!(said(&inside, &format!("create {writable}")), "created");
    }
    for sealed in [
        "/ghidr/sample/sample",
        "/ghidr/engine/x",
        "/ghidr/adapter/x",
        "/x",
        "/dev/x",
        "/ghidr/x",
        "/usr/lib/x",
    ] {
        assert_eq!(said(&inside, &format!("create {sealed}")), "error ReadOnlyFilesystem", "{sealed}");
    }
    let ghidr = said(&inside, "list /ghidr");
    assert_eq!(ghidr, "adapter analysis bin engine home invocation sample");
}

#[test]
fn a_listener_of_the_caller_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.and_then(|mut stream| stream.write_all(b"reached"));
        }
    });
    let question = format!("connect {address}");
    let answers = inside(&[&question]);
    assert!(said(&answers, &question).starts_with("error "), "{answers}");
    assert_eq!(said(&ask("off", &[&question]).1, &question), "reached");
}

#[test]
fn other_processes_are_invisible_and_the_worker_is_powerless() {
    let inside = inside(&["identity", "list /proc"]);
    for fact in [
        "Pid: 1",
        "Uid: 1000 1000 1000 1000",
        "Gid: 1000 1000 1000 1000",
        "CapEff: 0000000000000000",
        "CapBnd: 0000000000000000",
        "NoNewPrivs: 1",
        "hostname localhost",
        "directory /ghidr/invocation",
        "Max core file size 0 0 bytes",
        "Max file size 1073741824 1073741824 bytes",
        "new file 600",
    ] {
        assert!(inside.lines().any(|line| line == fact), "{fact:?} is not in\n{inside}");
    }
    let processes: Vec<String> = said(&inside, "list /proc")
        .split(' ')
        .filter(|name| name.parse::<u32>().is_ok())
        .map(str::to_owned)
        .collect();
    assert_eq!(processes, ["1"]);
}

#[test]
fn every_writable_file_system_is_sized_and_the_rest_is_read_only() {
    let inside = inside(&[
        "file-system /",
        "file-system /dev",
        "file-system /dev/shm",
        "file-system /tmp",
        "file-system /ghidr/home",
        "fill-mib 17 /tmp/full",
        "fill-mib 9 /ghidr/home/full",
        "fill-mib 5 /dev/shm/full",
    ]);
    for (path, mib) in [("/dev/shm", 4), ("/tmp", 16), ("/ghidr/home", 8)] {
        assert_eq!(
            said(&inside, &format!("file-system {path}")),
            format!("{} bytes, writable true", mib << 20)
        );
        assert_eq!(said(&inside, &format!("filled {path}/full")), format!("{mib} MiB, Err(StorageFull)"));
    }
    for path in ["/", "/dev"] {
        assert!(said(&inside, &format!("file-system {path}")).ends_with("writable false"));
    }
}

/// They are the whole machine's, and ask only for root's user id, which the worker has when root runs ghidr.
#[test]
fn the_kernels_settings_cannot_be_written() {
    let settings = ["kernel/core_pattern", "kernel/hostname", "kernel/panic"];
    let questions = settings.map(|setting| format!("open-writable /proc/sys/{setting}"));
    let answers = inside(&questions.each_ref().map(String::as_str));
    let refusal =
        if rustix::process::geteuid().is_root() { "ReadOnlyFilesystem" } else { "PermissionDenied" };
    for question in &questions {
        assert_eq!(said(&answers, question), format!("error {refusal}"));
    }
}

#[test]
fn a_single_file_is_bounded_in_every_mode() {
    // The signal that comes with the refusal ends a program that neither handles nor ignores it, but not a first process
    // of a PID namespace, and not a virtual machine, which ignores it.
    for (mode, status, answer) in [("bubblewrap", 0, "3 MiB, Err(FileTooLarge)"), ("off", 128 + 25, "")] {
        let run = WorkerRun::new(mode, "").with("file_mib", "3");
        let target =
            if mode == "off" { run.root().join("project/x") } else { "/ghidr/analysis/project/x".into() };
        std::fs::write(run.root().join("script"), format!("fill-mib 5 {}", target.display())).unwrap();
        let report = run.finish();
        assert_eq!(report.outcome["worker_status"], status, "{mode}: {}", report.outcome);
        assert!(report.stdout.contains(answer), "{}", report.stdout);
        assert_eq!(std::fs::metadata(report.root.join("project/x")).unwrap().len(), 3 << 20);
    }
}

#[test]
fn the_environment_is_fixed_and_nothing_of_the_callers() {
    let expected = |home: &str, temporary: &str| {
        [
            format!("env \"HOME\"=\"{home}\""),
            "env \"LC_ALL\"=\"C.UTF-8\"".into(),
            "env \"PATH\"=\"/usr/bin:/bin\"".into(),
            format!("env \"TMPDIR\"=\"{temporary}\""),
            "env \"TZ\"=\"UTC\"".into(),
        ]
    };
    for mode in ["bubblewrap", "external"] {
        let report = WorkerRun::new(mode, "environment").finish();
        let is_bubblewraps = |line: &str| mode == "bubblewrap" && line.starts_with("env \"PWD\"=");
        let mut lines: Vec<&str> = report.stdout.lines().filter(|line| !is_bubblewraps(line)).collect();
        lines.sort_unstable();
        let [home, temporary] = match mode {
            "bubblewrap" => ["/ghidr/home".to_owned(), "/tmp".to_owned()],
            _ => ["home", "tmp"].map(|name| report.root.join(name).display().to_string()),
        };
        assert_eq!(lines, expected(&home, &temporary), "{mode}");
    }
}

#[test]
fn no_descriptor_of_the_caller_is_inherited() {
    for mode in ["bubblewrap", "external", "off"] {
        let report = WorkerRun::new(mode, "descriptors").with("leak", "1").finish();
        assert_eq!(report.stdout, "descriptors 0 1 2\n", "{mode}");
    }
}

#[test]
fn odd_names_of_directories_are_carried_into_the_sandbox() {
    use std::os::unix::ffi::OsStrExt;
    let run = WorkerRun::new("bubblewrap", "list /ghidr/invocation\nlist /");
    let odd = run.root().join(std::ffi::OsStr::from_bytes(b"a b,\n\xff--bind"));
    std::fs::create_dir(&odd).unwrap();
    let jdk = odd.join("jdk");
    std::fs::create_dir_all(jdk.join("lib")).unwrap();
    let report = run.with("java_home", &jdk).finish();
    assert_eq!(said(&report.stdout, "list /ghidr/invocation"), "request.json", "{}", report.outcome);
}

#[test]
fn a_jdks_own_links_resolve_inside() {
    let run = WorkerRun::new("bubblewrap", "");
    let elsewhere = run.root().join("etc/java");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("java.security"), "security").unwrap();
    std::fs::create_dir_all(run.root().join("jdk/conf")).unwrap();
    let link = run.root().join("jdk/conf/java.security");
    std::os::unix::fs::symlink(elsewhere.join("java.security"), &link).unwrap();
    let question = format!("read {}", link.display());
    std::fs::write(run.root().join("script"), &question).unwrap();
    assert_eq!(said(&run.finish().stdout, &question), "8 bytes");
}

#[test]
fn a_setup_that_fails_says_why_and_never_runs_the_worker() {
    let run = WorkerRun::new("bubblewrap", "print ran\nexit 0").with("missing", "1");
    let report = run.finish();
    let explained = report.outcome["explained"].as_str().unwrap();
    assert!(explained.contains("a path cannot be shown to the worker"), "{explained}");
    assert_eq!(report.outcome["worker_status"], serde_json::Value::Null);
    assert_eq!(report.stdout, "");
}

#[test]
fn refused_user_namespaces_are_named_and_never_worked_around() {
    let run = WorkerRun::new("bubblewrap", "print ran\nexit 0");
    // A bubblewrap around bubblewrap whose inside may make no further user namespace.
    let script = "#!/bin/sh\nexec /usr/bin/bwrap --unshare-user --disable-userns --dev-bind / / /usr/bin/bwrap \"$@\"\n";
    let wrapper = run.program("bwrap-without-namespaces", script);
    let report = run.with("bwrap", &wrapper).finish();
    let explained = report.outcome["explained"].as_str().unwrap_or_else(|| panic!("{}", report.outcome));
    assert!(explained.contains("user namespaces"), "{explained}");
    assert_eq!(report.stdout, "");
}

#[test]
fn an_old_bubblewrap_is_named() {
    let run = WorkerRun::new("bubblewrap", "print ran\nexit 0");
    let script = "#!/bin/sh\necho 'bwrap: Unknown option --size' >&2\nexit 1\n";
    let wrapper = run.program("bwrap-old", script);
    let report = run.with("bwrap", &wrapper).finish();
    let explained = report.outcome["explained"].as_str().unwrap();
    assert!(explained.contains("too old") && explained.contains("0.8.0"), "{explained}");
}

#[test]
fn fonts_are_visible_where_the_host_has_them() {
    let fonts: Vec<&str> =
        ["/etc/fonts", "/usr/share/fonts"].into_iter().filter(|path| Path::new(path).is_dir()).collect();
    assert!(!fonts.is_empty(), "this machine has no fontconfig, which ghidr needs");
    for path in fonts {
        let question = format!("list {path}");
        let report = WorkerRun::new("bubblewrap", &question).finish();
        assert!(!said(&report.stdout, &question).starts_with("error"), "{}", report.stdout);
    }
}
