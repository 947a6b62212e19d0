//! A parent for workers: builds real grants below a directory, asks a real backend for the plan, and runs it with the real
//! launcher. A process of its own, because a subreaper adopts what other tests of the same process would orphan.
//!
//! `fake_harness KEY=VALUE...`; prints the outcome as one JSON document.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ghidr::process::{
    CapturedStream, ChildLauncher, EndedBy, Interrupts, Launcher, Outcome, Supervision, Termination,
};
use ghidr::sandbox::{Backend, Bubblewrap, Direct, EngineGrant, Sizes, WorkerGrants};
use serde_json::{Value, json};

struct Options(BTreeMap<String, OsString>);

impl Options {
    fn read() -> Self {
        let parse = |argument: OsString| {
            let bytes = argument.as_bytes();
            let equals = bytes.iter().position(|&byte| byte == b'=').expect("KEY=VALUE");
            let name = std::str::from_utf8(&bytes[..equals]).unwrap().to_owned();
            (name, OsStr::from_bytes(&bytes[equals + 1..]).to_owned())
        };
        Self(std::env::args_os().skip(1).map(parse).collect())
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.0.get(name).unwrap_or_else(|| panic!("{name} is missing")))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).map(|value| value.to_str().unwrap().parse().unwrap())
    }
}

fn main() -> ExitCode {
    let options = Options::read();
    let root = options.path("root");
    let grants = grants(&root, &options);
    let bubblewrap = || match options.0.get("bwrap") {
        Some(program) => Bubblewrap::at(program.into()),
        None => Bubblewrap::discover(None).expect("bubblewrap"),
    };
    let backend: Box<dyn Backend> = match options.0["mode"].to_str().unwrap() {
        "bubblewrap" => Box::new(bubblewrap()),
        "external" | "off" => Box::new(Direct),
        other => panic!("unknown mode {other}"),
    };
    let _leak = options.0.contains_key("leak").then(|| {
        let file = fs::File::open(root.join("secret")).unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        file
    });
    let plan = backend.plan(&grants).expect("plan");
    let interrupts = Interrupts::install().expect("signals");
    let mut ticks = 0_u64;
    let result = ChildLauncher.run(
        &plan,
        &mut Supervision {
            watchdog: Duration::from_millis(options.number("watchdog_ms").unwrap_or(60_000)),
            grace: Duration::from_millis(options.number("grace_ms").unwrap_or(10_000)),
            interrupts: &interrupts,
            capture_directory: &root.join("capture"),
            max_memory_bytes: options.number("memory_mib").map(|mib| mib << 20),
            max_disk_bytes: options.number("disk_mib").map(|mib| mib << 20),
            on_tick: &mut |_| ticks += 1,
        },
    );
    let report = match &result {
        Ok(outcome) => describe(outcome, backend.as_ref(), ticks),
        Err(error) => json!({ "error": error.to_string() }),
    };
    println!("{report}");
    ExitCode::SUCCESS
}

fn grants(root: &Path, options: &Options) -> WorkerGrants {
    for directory in
        ["invocation", "project", "facts", "engine", "adapter", "jdk/lib", "home", "tmp", "capture"]
    {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("sample"), "a sample").unwrap();
    fs::copy(root.join("script"), root.join("invocation/request.json")).unwrap();
    if options.0.contains_key("missing") {
        fs::remove_dir_all(root.join("adapter")).unwrap();
    }
    WorkerGrants {
        worker_executable: options.path("worker"),
        invocation_directory: root.join("invocation"),
        sample: Some(root.join("sample")),
        project_directory: Some(root.join("project")),
        facts_directory: Some(root.join("facts")),
        engine: EngineGrant::InstallationDirectory(root.join("engine")),
        engine_cache: None,
        script_bundles: None,
        class_data_directory: None,
        adapter_directory: root.join("adapter"),
        java_home: options.0.get("java_home").map_or_else(|| root.join("jdk"), PathBuf::from),
        closure: Vec::new(),
        fonts: None,
        home_directory: root.join("home"),
        temporary_directory: root.join("tmp"),
        sizes: Sizes {
            temporary_mib: 16,
            home_mib: 8,
            shared_memory_mib: 4,
            file_size_bytes: options.number("file_mib").unwrap_or(1024) << 20,
        },
    }
}

fn describe(outcome: &Outcome, backend: &dyn Backend, ticks: u64) -> Value {
    let ended_by = match outcome.ended_by {
        EndedBy::Finished => "finished",
        EndedBy::Watchdog => "watchdog",
        EndedBy::Interrupted { .. } => "interrupted",
        EndedBy::MemoryLimit { .. } => "memory_limit",
        EndedBy::DiskQuota { .. } => "disk_quota",
    };
    let termination = outcome.termination.map(|termination| match termination {
        Termination::Graceful => "graceful",
        Termination::Forced => "forced",
    });
    json!({
        "worker_status": outcome.worker_status,
        "program_status": outcome.program_status,
        "ended_by": ended_by,
        "termination": termination,
        "stdout": stream(&outcome.stdout),
        "stderr": stream(&outcome.stderr),
        "peak_memory_mib": outcome.peak_memory_bytes >> 20,
        "elapsed_ms": u64::try_from(outcome.elapsed.as_millis()).unwrap(),
        "ticks": ticks,
        "explained": backend.explain(outcome).map(|error| format!("{error}; {}", error.remedy())),
    })
}

fn stream(stream: &CapturedStream) -> Value {
    let segment = |segment: &ghidr::process::Segment| {
        json!({
            "offset": segment.offset,
            "length": segment.length,
            "file": segment.path.file_name().unwrap().to_str().unwrap(),
        })
    };
    json!({
        "observed_bytes": stream.observed_bytes,
        "truncated": stream.truncated,
        "segments": stream.segments.iter().map(segment).collect::<Vec<_>>(),
    })
}
