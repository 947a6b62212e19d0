//! Two workers through the production launcher: a harmless one that does its work, and a malicious one that asks for all
//! that it must not have. Outside the sandbox the malicious one gets it, so the questions are real.

use std::io::Write;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::support::worker_run::{MODES, WorkerRun};

const EPERM: &str = "Failed { errno: 1 }";
const ENOSYS: &str = "Failed { errno: 38 }";

fn said<'a>(report: &'a str, question: &str) -> &'a str {
    let answer = report.lines().find_map(|line| line.strip_prefix(question)?.strip_prefix(": "));
    answer.unwrap_or_else(|| panic!("no answer to {question:?} in\n{report}"))
}

fn answers(run: WorkerRun, questions: &[String]) -> String {
    std::fs::write(run.root().join("script"), questions.join("\n")).unwrap();
    let report = run.finish();
    assert_eq!(report.outcome["worker_status"], 0, "{}", report.outcome);
    report.stdout
}

#[test]
fn the_harmless_twin_does_its_work_in_every_mode() {
    for mode in MODES {
        let run = WorkerRun::new(mode, "");
        let place = |inside: &str, outside: &str| match mode {
            "bubblewrap" => inside.to_owned(),
            _ => run.root().join(outside).display().to_string(),
        };
        let questions = [
            format!("read {}", place("/ghidr/sample/sample", "sample")),
            format!("create {}", place("/ghidr/analysis/project/x", "project/x")),
            format!("create {}", place("/ghidr/analysis/facts/x", "facts/x")),
        ];
        let report = answers(run, &questions);
        assert_eq!(said(&report, &questions[0]), "8 bytes", "{mode}");
        assert_eq!(said(&report, &questions[1]), "created", "{mode}");
        assert_eq!(said(&report, &questions[2]), "created", "{mode}");
    }
}

/// One listener on the network and one in the name space that no file system has.
#[test]
fn the_malicious_twin_reaches_no_listener() {
    let network = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = network.local_addr().unwrap();
    let name = format!("ghidr-test-{}", std::process::id());
    let local = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    std::thread::spawn(move || {
        network.incoming().for_each(|stream| stream.unwrap().write_all(b"reached").unwrap());
    });
    std::thread::spawn(move || {
        local.incoming().for_each(|stream| stream.unwrap().write_all(b"reached").unwrap());
    });
    let questions = [format!("connect {address}"), format!("abstract-socket {name}")];
    for (mode, answer) in [("bubblewrap", "error PermissionDenied"), ("off", "reached")] {
        let report = answers(WorkerRun::new(mode, ""), &questions);
        for question in &questions {
            assert_eq!(said(&report, question), answer, "{mode}");
        }
    }
}

#[test]
fn the_malicious_twin_reads_nothing_of_the_callers() {
    for (mode, answer) in [("bubblewrap", "error NotFound"), ("off", "12 bytes")] {
        let run = WorkerRun::new(mode, "");
        let store = run.root().join("store/analyses");
        std::fs::create_dir_all(&store).unwrap();
        std::fs::write(store.join("manifest.json"), "of another's").unwrap();
        let questions = [
            format!("read {}", run.root().join("secret").display()),
            format!("read {}", store.join("manifest.json").display()),
        ];
        let report = answers(run, &questions);
        for question in &questions {
            assert_eq!(said(&report, question), answer, "{mode}");
        }
    }
}

#[test]
fn the_malicious_twin_sees_no_process_but_its_own() {
    let own = format!("read /proc/{}/status", std::process::id());
    let questions = [own.clone()];
    assert_eq!(said(&answers(WorkerRun::new("bubblewrap", ""), &questions), &own), "error NotFound");
    assert!(said(&answers(WorkerRun::new("off", ""), &questions), &own).ends_with(" bytes"));
}

/// In every mode: what the caller sets for its own programs would run in the worker.
#[test]
fn no_variable_of_the_caller_reaches_a_worker() {
    for mode in MODES {
        let names =
            ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH"];
        let mut run = WorkerRun::new(mode, "environment").with("leak", "1");
        for name in names {
            // The parent itself must start, so what is named for the dynamic linker does not exist.
            let value = if name.starts_with("LD_") { "/nonexistent/caller" } else { "-Dcaller=1" };
            run = run.environment(name, value);
        }
        let report = run.finish();
        assert!(report.stdout.contains("env \"TZ\"=\"UTC\""), "{mode}: {}", report.stdout);
        for name in names {
            assert!(!report.stdout.contains(name), "{mode}: {}", report.stdout);
        }
        assert!(!report.stdout.contains("caller"), "{mode}: {}", report.stdout);
    }
}

/// Written down once more, so that a call that falls out of the filter's own list is missed here.
#[test]
fn the_malicious_twin_makes_none_of_the_calls_that_reach_further() {
    // Name, number, arguments, and whether any user could make it outside.
    const NOWHERE: i32 = 777_777;
    let refused: [(&str, i64, [i32; 2], bool); 43] = [
        ("socket of the network", libc::SYS_socket, [libc::AF_INET, libc::SOCK_STREAM], true),
        ("socket of the kernel", libc::SYS_socket, [libc::AF_NETLINK, libc::SOCK_RAW], true),
        ("local socket", libc::SYS_socket, [libc::AF_UNIX, libc::SOCK_STREAM], true),
        ("ptrace", libc::SYS_ptrace, [0, 0], true),
        ("process_vm_readv", libc::SYS_process_vm_readv, [0, 0], true),
        ("process_vm_writev", libc::SYS_process_vm_writev, [0, 0], true),
        ("pidfd_getfd", libc::SYS_pidfd_getfd, [0, 0], true),
        ("keyctl", libc::SYS_keyctl, [0, 0], true),
        ("add_key", libc::SYS_add_key, [0, 0], true),
        ("request_key", libc::SYS_request_key, [0, 0], true),
        ("bpf", libc::SYS_bpf, [0, 0], false),
        ("perf_event_open", libc::SYS_perf_event_open, [0, 0], false),
        ("io_uring_setup", libc::SYS_io_uring_setup, [1, 0], false),
        ("userfaultfd", libc::SYS_userfaultfd, [0, 0], false),
        ("mount", libc::SYS_mount, [0, 0], false),
        ("umount2", libc::SYS_umount2, [0, 0], false),
        ("pivot_root", libc::SYS_pivot_root, [0, 0], false),
        ("open_tree", libc::SYS_open_tree, [0, 0], false),
        ("move_mount", libc::SYS_move_mount, [0, 0], false),
        ("fsopen", libc::SYS_fsopen, [0, 0], false),
        ("mount_setattr", libc::SYS_mount_setattr, [0, 0], false),
        ("unshare of nothing", libc::SYS_unshare, [0, 0], true),
        ("unshare of the user", libc::SYS_unshare, [libc::CLONE_NEWUSER, 0], false),
        ("setns", libc::SYS_setns, [0, 0], true),
        ("clone with a user namespace", libc::SYS_clone, [libc::CLONE_NEWUSER | libc::SIGCHLD, 0], false),
        ("init_module", libc::SYS_init_module, [0, 0], false),
        ("finit_module", libc::SYS_finit_module, [0, 0], false),
        ("kexec_load", libc::SYS_kexec_load, [0, 0], false),
        ("reboot", libc::SYS_reboot, [0, 0], false),
        ("swapon", libc::SYS_swapon, [0, 0], false),
        ("chmod", libc::SYS_chmod, [0, 0], true),
        ("fchmod", libc::SYS_fchmod, [NOWHERE, 0], true),
        ("fchmodat", libc::SYS_fchmodat, [NOWHERE, 0], true),
        ("chown", libc::SYS_chown, [0, 0], true),
        ("fchown", libc::SYS_fchown, [NOWHERE, 0], true),
        ("setxattr", libc::SYS_setxattr, [0, 0], true),
        ("fsetxattr", libc::SYS_fsetxattr, [NOWHERE, 0], true),
        ("utimensat", libc::SYS_utimensat, [NOWHERE, 0], true),
        ("memfd_create", libc::SYS_memfd_create, [0, 0], true),
        ("shmget", libc::SYS_shmget, [NOWHERE, 0], true),
        ("msgget", libc::SYS_msgget, [NOWHERE, 0], true),
        ("mq_open", libc::SYS_mq_open, [0, 0], true),
        ("inotify_init1", libc::SYS_inotify_init1, [0, 0], true),
    ];
    let question = |number: i64, [first, second]: [i32; 2]| format!("call {number} {first} {second}");
    let nonexistent = [libc::SYS_clone3, 0x4000_0000 | libc::SYS_getpid, 463, 5000];
    let questions: Vec<String> = refused
        .iter()
        .map(|(_, number, arguments, _)| question(*number, *arguments))
        .chain(nonexistent.map(|number| question(number, [0, 0])))
        .chain([question(libc::SYS_socketpair, [libc::AF_UNIX, libc::SOCK_STREAM])])
        .collect();
    let inside = answers(WorkerRun::new("bubblewrap", ""), &questions);
    let outside = answers(WorkerRun::new("off", ""), &questions);
    for (name, number, arguments, possible) in refused {
        let question = question(number, arguments);
        assert_eq!(said(&inside, &question), EPERM, "{name}");
        assert!(!possible || said(&outside, &question) != EPERM, "{name} is refused outside as well");
    }
    for number in nonexistent {
        assert_eq!(said(&inside, &question(number, [0, 0])), ENOSYS, "{number}");
    }
    assert_ne!(said(&outside, &question(libc::SYS_clone3, [0, 0])), ENOSYS);
    // Java's file channels use a pair; it is refused for its address of 0 alone, which is beyond the filter.
    let pair = question(libc::SYS_socketpair, [libc::AF_UNIX, libc::SOCK_STREAM]);
    assert_eq!(said(&inside, &pair), "Failed { errno: 14 }");
}

/// A child of the worker, as Ghidra's native helpers are, that takes all the memory it can get.
#[test]
fn a_child_that_allocates_8_gib_ends_at_the_bound_and_nothing_else_does() {
    for mode in MODES {
        let report =
            WorkerRun::new(mode, "child-allocates-mib 8192\nhang").with("memory_mib", "512").finish();
        assert_eq!(report.outcome["ended_by"], "memory_limit", "{mode}: {}", report.outcome);
        let peak = report.outcome["peak_memory_mib"].as_u64().unwrap();
        assert!((512..4096).contains(&peak), "{mode}: {peak} MiB");
    }
}

#[test]
fn a_project_that_grows_without_end_is_stopped_at_the_quota() {
    for mode in MODES {
        let run = WorkerRun::new(mode, "").with("disk_mib", "64");
        let project = match mode {
            "bubblewrap" => "/ghidr/analysis/project".to_owned(),
            _ => run.root().join("project").display().to_string(),
        };
        let bomb: Vec<String> = (0..1000).map(|file| format!("fill-mib 8 {project}/{file}")).collect();
        std::fs::write(run.root().join("script"), bomb.join("\n")).unwrap();
        let report = run.finish();
        assert_eq!(report.outcome["ended_by"], "disk_quota", "{mode}: {}", report.outcome);
    }
}
