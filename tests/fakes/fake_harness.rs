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

use ghidr::process::worker_arguments::Job;
use ghidr::process::{
    CapturedStream, ChildLauncher, EndedBy, Interrupts, LaunchPlan, Launcher, Outcome, Supervision,
    Termination,
};
use ghidr::sandbox::probe::Questions;
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
    let plan = if options.0.contains_key("probe") {
        let hidden = ["/etc/passwd", "/home", "/root"].map(PathBuf::from);
        let hidden: Vec<PathBuf> = hidden.into_iter().chain([root.clone()]).collect();
        let questions = Questions::new(&grants, &hidden);
        let request = serde_json::to_vec(&questions).unwrap();
        fs::write(grants.invocation_directory.join("request.json"), request).unwrap();
        if let Some(limit) = options.0.get("without_limit") {
            fs::write(grants.invocation_directory.join("without-limit"), limit.as_bytes()).unwrap();
        }
        edited(backend.plan(&grants, Job::ProbeSandbox).expect("plan"), &options)
    } else {
        backend.plan(&grants, Job::Answer).expect("plan")
    };
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
            max_tasks: options.number("tasks"),
            max_disk_bytes: options.number("disk_mib").map(|mib| mib << 20),
            on_tick: &mut |_| ticks += 1,
        },
    );
    let report = match &result {
        Ok(outcome) => {
            let mut report = describe(outcome, backend.as_ref(), ticks);
            report["planned"] = plan.arguments.iter().map(|word| word.to_string_lossy()).collect();
            report
        }
        Err(error) => json!({ "error": error.to_string() }),
    };
    println!("{report}");
    ExitCode::SUCCESS
}

/// Changes what the launcher planned: `edits` is a list of pairs of words, of which the first are replaced by the second,
/// `filter` a list of the system call filters that stay, `variable` a name that is set.
fn edited(mut plan: LaunchPlan, options: &Options) -> LaunchPlan {
    let json = |name: &str| options.0.get(name).map(|text| serde_json::from_slice(text.as_bytes()).unwrap());
    let edits: Vec<(Vec<String>, Vec<String>)> =
        json("edits").map_or(Vec::new(), |edits| serde_json::from_value(edits).unwrap());
    for (words, by) in edits {
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let found = plan.arguments.windows(words.len()).position(|window| window == words.as_slice());
        let at = found.unwrap_or_else(|| panic!("{words:?} is not planned"));
        plan.arguments.splice(at..at + words.len(), by.into_iter().map(OsString::from));
    }
    if let Some(target) = options.0.get("writable_bind") {
        let is_target = |words: &[OsString]| words[0] == "--ro-bind" && words[2] == *target;
        let at = plan.arguments.windows(3).position(is_target).expect("the bind is planned");
        plan.arguments[at] = "--bind".into();
    }
    if let Some(kept) = json("filters") {
        let kept: Vec<usize> = serde_json::from_value(kept).unwrap();
        plan.handed_files = kept.into_iter().map(|index| plan.handed_files[index].clone()).collect();
    }
    if let Some(name) = options.0.get("variable") {
        plan.environment.push((name.clone(), "-Dcaller=1".into()));
    }
    plan
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
        EndedBy::TaskLimit { .. } => "task_limit",
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
