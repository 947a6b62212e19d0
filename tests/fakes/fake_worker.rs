//! A scriptable worker: its request is a list of instructions, one a line.
//!
//! It lives under the production rules ([`ghidr::process::worker_life`]) unless an instruction says otherwise. An unknown
//! instruction is an error, so a test cannot pass by misspelling one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod flood;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use flood::flood;
use ghidr::process::guard;
use ghidr::process::worker_arguments::{Job, WorkerArguments};
use ghidr::process::worker_life::{self, WorkerEnd};
use ghidr::sandbox::probe::{self, raw_call};
use rustix::process::{Resource, Rlimit};

static IGNORE_TERM: AtomicBool = AtomicBool::new(false);
static IGNORE_PARENT: AtomicBool = AtomicBool::new(false);
/// Beside the request, the name of a limit that this worker does not set for itself.
const WITHOUT_LIMIT: &str = "without-limit";
/// What a worker that ended on request or by its parent's death leaves as its status.
const ENDED_ON_REQUEST: u8 = 41;
const ENDED_BY_PARENT: u8 = 42;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--linger") {
        return linger(&arguments);
    }
    if arguments.first().is_some_and(|first| first == "--allocate") {
        allocate(arguments[1].to_str().unwrap().parse().unwrap());
        return ExitCode::SUCCESS;
    }
    if arguments.first().is_some_and(|first| first == guard::GUARD) {
        return guard::main(&arguments);
    }
    let arguments = WorkerArguments::decode(&arguments).expect("worker arguments");
    match fs::read_to_string(arguments.request.with_file_name(WITHOUT_LIMIT)) {
        Ok(left_out) => restrict_without(&left_out, arguments.file_size_bytes),
        Err(_) => worker_life::restrict(arguments.file_size_bytes).expect("limits"),
    }
    if arguments.job == Job::ProbeSandbox {
        let questions = serde_json::from_slice(&fs::read(&arguments.request).unwrap()).unwrap();
        fs::write(&arguments.response, serde_json::to_vec(&probe::run(&questions)).unwrap()).unwrap();
        return ExitCode::SUCCESS;
    }
    let end = worker_life::live(move || {
        let script = fs::read_to_string(&arguments.request).expect("script");
        script.lines().find_map(|line| obey(line, &arguments)).unwrap_or(0)
    });
    match end.expect("threads") {
        WorkerEnd::Done(status) => ExitCode::from(status),
        WorkerEnd::Lost => ExitCode::from(99),
        WorkerEnd::Terminated if IGNORE_TERM.load(Ordering::SeqCst) => {
            // Standard input keeps being watched by nobody: only a kill ends this.
            loop {
                thread::park();
            }
        }
        WorkerEnd::Terminated => ExitCode::from(ENDED_ON_REQUEST),
        WorkerEnd::Abandoned if IGNORE_PARENT.load(Ordering::SeqCst) => loop {
            thread::park();
        },
        WorkerEnd::Abandoned => ExitCode::from(ENDED_BY_PARENT),
    }
}

/// All limits of a worker but one.
fn restrict_without(left_out: &str, file_size_bytes: Option<u64>) {
    let limits = [
        ("core", Resource::Core, 0),
        ("open_files", Resource::Nofile, worker_life::MAX_OPEN_FILES),
        ("file_size", Resource::Fsize, file_size_bytes.unwrap()),
    ];
    assert!(limits.iter().any(|(name, ..)| *name == left_out), "unknown limit {left_out:?}");
    for (_, resource, value) in limits.into_iter().filter(|(name, ..)| *name != left_out) {
        let limit = Rlimit { current: Some(value), maximum: Some(value) };
        rustix::process::setrlimit(resource, limit).unwrap();
    }
}

/// Carries out one instruction; a status ends the script.
fn obey(line: &str, arguments: &WorkerArguments) -> Option<u8> {
    let (instruction, rest) = line.split_once(' ').unwrap_or((line, ""));
    match instruction {
        "print" => println!("{rest}"),
        "ignore-term" => IGNORE_TERM.store(true, Ordering::SeqCst),
        "ignore-parent" => IGNORE_PARENT.store(true, Ordering::SeqCst),
        // A pipe's reader becomes a writer of it, who never sees its end.
        "hold-stdin" => {
            std::mem::forget(File::options().read(true).write(true).open("/proc/self/fd/0").unwrap())
        }
        "flood-stderr" => flood(rest.parse().unwrap()),
        "linger" => start_lingerer(rest),
        "exit" => return Some(rest.parse().unwrap()),
        "die" => panic!("as told"),
        "kill-self" => {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap()
        }
        "hang" => loop {
            thread::park();
        },
        "sleep-ms" => thread::sleep(Duration::from_millis(rest.parse().unwrap())),
        "allocate-mib" => allocate(rest.parse().unwrap()),
        "child-allocates-mib" => {
            Command::new(std::env::current_exe().unwrap()).args(["--allocate", rest]).status().unwrap();
        }
        "threads" => (0..rest.parse().unwrap()).for_each(|_: u32| drop(thread::spawn(thread::park))),
        "leaderless-mib" => start_leaderless(rest.parse().unwrap()),
        "fill-mib" => fill(rest),
        "respond" => fs::write(&arguments.response, rest).unwrap(),
        "read" => report(line, fs::read(rest).map(|bytes| format!("{} bytes", bytes.len()))),
        "list" => report(line, list(rest)),
        "create" => report(line, File::create(rest).map(|_| "created".to_owned())),
        "open-writable" => {
            report(line, fs::OpenOptions::new().write(true).open(rest).map(|_| "opened".to_owned()))
        }
        "connect" => report(line, connect(rest)),
        "abstract-socket" => report(line, abstract_socket(rest)),
        "call" => call(rest),
        "environment" => std::env::vars_os().for_each(|(name, value)| println!("env {name:?}={value:?}")),
        "descriptors" => descriptors(),
        "identity" => identity(),
        "file-system" => file_system(rest),
        other => panic!("unknown instruction {other:?}"),
    }
    None
}

fn report(line: &str, result: io::Result<String>) {
    match result {
        Ok(answer) => println!("{line}: {answer}"),
        Err(error) => println!("{line}: error {:?}", error.kind()),
    }
}

/// Starts a descendant that holds the output pipes: `child`, or `orphan` in a session of its own whose parent is gone.
#[allow(clippy::zombie_processes, reason = "outliving its parent is what a lingerer is for")]
fn start_lingerer(kind: &str) {
    let marker = std::env::current_dir().unwrap();
    let mut child =
        Command::new(std::env::current_exe().unwrap()).arg("--linger").arg(kind).arg(marker).spawn().unwrap();
    if kind == "orphan" {
        child.wait().unwrap();
    }
    println!("lingering");
}

#[allow(clippy::zombie_processes, reason = "outliving its parent is what a lingerer is for")]
fn linger(arguments: &[OsString]) -> ExitCode {
    if arguments[1] == "orphan" {
        rustix::process::setsid().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("--linger").arg("child").arg(&arguments[2]).stdin(Stdio::null()).spawn().unwrap();
        return ExitCode::SUCCESS;
    }
    thread::sleep(Duration::from_secs(600));
    ExitCode::SUCCESS
}

/// Piece by piece, so that what is held grows at the speed of the machine and not of one page fault.
fn allocate(mib: usize) {
    let blocks: Vec<Vec<u8>> = (0..mib).map(|_| vec![1_u8; 1 << 20]).collect();
    println!("allocated {}", blocks.iter().map(Vec::len).sum::<usize>());
    std::mem::forget(blocks);
}

/// Starts a process of two threads, of which the first ends at once and the other keeps this much memory, for ever.
#[allow(clippy::zombie_processes, reason = "it never ends by itself")]
fn start_leaderless(mib: u32) {
    let mut code = Vec::new();
    let mut add = |bytes: &[u8]| code.extend(bytes);
    add(&[0xb8, 56, 0, 0, 0]); // mov eax, clone
    add(&[0xbf, 0x00, 0x0f, 0x05, 0x00]); // mov edi, VM | FS | FILES | SIGHAND | THREAD | SYSVSEM
    add(&[0x31, 0xf6, 0x31, 0xd2, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0]); // xor esi, edx, r10d, r8d
    add(&[0x0f, 0x05]); // syscall; the stack is shared and never used
    add(&[0x85, 0xc0, 0x74, 0x09]); // test eax, eax; jz over the next three
    add(&[0x31, 0xff]); // xor edi, edi
    add(&[0xb8, 60, 0, 0, 0]); // mov eax, exit
    add(&[0x0f, 0x05]); // syscall: ends this thread
    add(&[0x31, 0xff, 0xbe]); // xor edi, edi; mov esi, length
    add(&(mib << 20).to_le_bytes());
    add(&[0xba, 3, 0, 0, 0]); // mov edx, READ | WRITE
    add(&[0x41, 0xba, 0x22, 0, 0, 0]); // mov r10d, PRIVATE | ANONYMOUS
    add(&[0x49, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff]); // mov r8, -1
    add(&[0x45, 0x31, 0xc9]); // xor r9d, r9d
    add(&[0xb8, 9, 0, 0, 0, 0x0f, 0x05]); // mov eax, mmap; syscall
    add(&[0xb9]); // mov ecx, pages
    add(&(mib << 8).to_le_bytes());
    add(&[0xc6, 0x00, 1]); // mov byte [rax], 1
    add(&[0x48, 0x05, 0x00, 0x10, 0, 0]); // add rax, 4096
    add(&[0xff, 0xc9, 0x75, 0xf3]); // dec ecx; jnz to the write
    add(&[0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7]); // mov eax, pause; syscall; jmp to the mov
    let program = std::env::temp_dir().join("leaderless");
    let mut file = File::options().write(true).create_new(true).mode(0o700).open(&program).unwrap();
    file.write_all(&raw_call::executable(&code)).unwrap();
    drop(file);
    let child = Command::new(program).stdin(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    while !fs::read_to_string(&status).unwrap().contains("State:\tZ") {
        thread::sleep(Duration::from_millis(1));
    }
    println!("leaderless");
}

fn fill(rest: &str) {
    let (mib, path) = rest.split_once(' ').unwrap();
    let block = vec![1_u8; 1 << 20];
    let mut written = 0;
    let result = File::create(path).and_then(|mut file| {
        for _ in 0..mib.parse::<u32>().unwrap() {
            file.write_all(&block)?;
            written += 1;
        }
        Ok(())
    });
    println!("filled {path}: {written} MiB, {:?}", result.map_err(|error| error.kind()));
}

fn list(path: &str) -> io::Result<String> {
    let mut names: Vec<String> = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    names.sort();
    Ok(names.join(" "))
}

fn connect(address: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address.parse().unwrap(), Duration::from_secs(2))?;
    let mut greeting = String::new();
    stream.read_to_string(&mut greeting)?;
    Ok(greeting)
}

fn abstract_socket(name: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
    let mut greeting = String::new();
    stream.read_to_string(&mut greeting)?;
    Ok(greeting)
}

/// `call NUMBER [ARGUMENT…]`
fn call(rest: &str) {
    let mut numbers = rest.split(' ').map(|number| number.parse::<u32>().unwrap());
    let number = numbers.next().unwrap();
    let mut arguments = [0; 4];
    arguments.iter_mut().zip(numbers).for_each(|(argument, value)| *argument = value);
    let answer = raw_call::make(&std::env::temp_dir(), raw_call::Convention::Native, number, arguments);
    println!("call {rest}: {:?}", answer.unwrap());
}

/// The walk itself opens one descriptor more, which is gone by the time its link is read.
fn descriptors() {
    let mut open: Vec<String> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let target = fs::read_link(&path).ok()?;
            let own = target.starts_with("/proc") || target.to_string_lossy().starts_with("socket:");
            (!own).then(|| path.file_name().unwrap().to_string_lossy().into_owned())
        })
        .collect();
    open.sort();
    println!("descriptors {}", open.join(" "));
}

fn identity() {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    for line in status.lines() {
        if ["Pid:", "Uid:", "Gid:", "CapEff:", "CapBnd:", "NoNewPrivs:"]
            .iter()
            .any(|field| line.starts_with(field))
        {
            println!("{}", line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    println!("hostname {}", fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim());
    println!("directory {}", std::env::current_dir().unwrap().display());
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    for line in
        limits.lines().filter(|line| line.starts_with("Max file size") || line.starts_with("Max core"))
    {
        println!("{}", line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let private = std::env::temp_dir().join("mode");
    File::create(&private).unwrap();
    println!("new file {:o}", fs::metadata(&private).unwrap().mode() & 0o777);
}

fn file_system(path: &str) {
    let found = rustix::fs::statvfs(Path::new(path)).unwrap();
    let writable = !found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY);
    println!("file-system {path}: {} bytes, writable {writable}", found.f_blocks * found.f_frsize);
}
