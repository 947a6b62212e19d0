//! Writes the bubblewrap command line, in the order `docs/sandbox.md` explains it.
//!
//! Options of bubblewrap 0.8.0 (December 2022) are used and no later ones. A setup that bubblewrap refuses ends in
//! [`SandboxError::SetupFailed`]; no option is left out to make it pass.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::binds::{self, Bind};
use super::diagnosis;
use super::error::SandboxError;
use super::grants::{EngineGrant, Sizes, WorkerGrants};
use super::paths::{WorkerPaths, absolute, inside};
use super::{Backend, environment, filter};
use crate::domain::invocation_files::{REQUEST, RESPONSE};
use crate::process::worker_arguments::{Job, WorkerArguments};
use crate::process::{self, HandedFile, LaunchPlan, MemoryFileSystem, Outcome, StatusChannel, StatusEvent};

/// Where a distribution puts bubblewrap. The caller's `PATH` is not asked: it would choose the program that isolates.
const PLACES: [&str; 4] =
    ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];
/// One of the devices that bubblewrap shows; all of them have one owner.
const DEVICE: &str = "/dev/null";
/// The user and group the worker sees itself as, whoever the caller is.
const WORKER_ID: &str = "1000";

/// Isolation by bubblewrap.
#[derive(Clone, Debug)]
pub struct Bubblewrap {
    program: PathBuf,
}

impl Bubblewrap {
    /// Finds bubblewrap: the bundled one, else the system's.
    ///
    /// # Errors
    ///
    /// [`SandboxError::BubblewrapMissing`] when there is none.
    pub fn discover(bundled: Option<&Path>) -> Result<Self, SandboxError> {
        let places: Vec<PathBuf> =
            bundled.into_iter().map(Path::to_owned).chain(PLACES.map(PathBuf::from)).collect();
        match places.iter().find(|place| place.is_file()) {
            Some(program) => Ok(Self { program: program.clone() }),
            None => Err(SandboxError::BubblewrapMissing { searched: places }),
        }
    }

    /// Uses the program at this absolute path.
    #[must_use]
    pub fn at(program: PathBuf) -> Self {
        Self { program }
    }

    /// Whether no further user namespace can be made inside, by the kernel's own limit besides the system call filter.
    ///
    /// A bubblewrap with the privileges of its owner cannot set that limit.
    #[must_use]
    pub fn limits_user_namespaces(&self) -> bool {
        const SET_USER_ID: u32 = 0o4000;
        fs::metadata(&self.program).is_ok_and(|found| found.permissions().mode() & SET_USER_ID == 0)
    }

    /// The program that is used.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Backend for Bubblewrap {
    fn worker_paths(&self, grants: &WorkerGrants) -> Result<WorkerPaths, SandboxError> {
        WorkerPaths::inside(grants)
    }

    fn plan(&self, grants: &WorkerGrants, job: Job) -> Result<LaunchPlan, SandboxError> {
        let paths = self.worker_paths(grants)?;
        let mut line = CommandLine::default();
        line.namespaces(self.limits_user_namespaces());
        line.process();
        line.environment(&paths);
        line.own_file_systems(&grants.sizes);
        line.host_binds(&binds::host(&paths.java_home, grants)?);
        line.read_only_grants(grants)?;
        line.writable_grants(grants)?;
        line.refuse_exposed(&grants.invocation_directory)?;
        line.seal();
        line.worker(grants, job);
        let writable = [
            Some(&grants.invocation_directory),
            grants.project_directory.as_ref(),
            grants.facts_directory.as_ref(),
        ];
        Ok(LaunchPlan {
            guard: absolute(&grants.worker_executable)?.to_owned(),
            program: absolute(&self.program)?.to_owned(),
            arguments: line.0,
            environment: Vec::new(),
            current_directory: "/".into(),
            status_channel: Some(StatusChannel { option: "--json-status-fd", decode: decode_status }),
            handed_files: filters(must_unpack(grants)?)?,
            memory_file_systems: memory_file_systems(&grants.sizes).into(),
            writable_directories: writable.into_iter().flatten().cloned().collect(),
        })
    }

    /// Bubblewrap reports a worker's status only when it had come as far as executing it. One that was killed reports
    /// nothing either, and what stands on stderr then is the worker's.
    fn explain(&self, outcome: &Outcome) -> Option<SandboxError> {
        let exited = outcome.program_status.is_some_and(|status| process::signal_of_status(status).is_none());
        let ended_by_itself = outcome.termination.is_none() && exited;
        if !ended_by_itself || outcome.worker_status.is_some() {
            return None;
        }
        let said = outcome
            .stderr
            .segments
            .first()
            .and_then(|segment| fs::read(&segment.path).ok())
            .unwrap_or_default();
        Some(diagnosis::setup_failed(&String::from_utf8_lossy(&said)))
    }
}

/// Whether the engine must change the modes of files, which only one can be allowed whose user does not own the devices.
fn must_unpack(grants: &WorkerGrants) -> Result<bool, SandboxError> {
    match &grants.engine {
        EngineGrant::SingleJar(jar) if grants.engine_cache.is_none() => {
            let owner = fs::metadata(DEVICE).map(|found| found.uid());
            let is_own = owner.map_or(true, |owner| owner == rustix::process::geteuid().as_raw());
            if is_own { Err(SandboxError::EngineNotPrepared { jar: jar.clone() }) } else { Ok(true) }
        }
        _ => Ok(false),
    }
}

/// Loaded by bubblewrap as the last thing before it executes the worker.
fn filters(unpacks: bool) -> Result<Vec<HandedFile>, SandboxError> {
    let programs =
        filter::programs(unpacks).map_err(|error| SandboxError::Filter { reason: error.to_string() })?;
    Ok(programs.map(|content| HandedFile { option: "--add-seccomp-fd", content }).into())
}

fn memory_file_systems(sizes: &Sizes) -> [MemoryFileSystem; 3] {
    let sized = |path: &str, mib: u64| MemoryFileSystem {
        path: path.into(),
        size_bytes: mib.saturating_mul(1 << 20),
    };
    [
        sized(inside::SHARED_MEMORY, sizes.shared_memory_mib),
        sized(inside::TEMPORARY, sizes.temporary_mib),
        sized(inside::HOME, sizes.home_mib),
    ]
}

fn decode_status(line: &[u8]) -> Option<StatusEvent> {
    let object: serde_json::Value = serde_json::from_slice(line).ok()?;
    if let Some(pid) = object.get("child-pid").and_then(serde_json::Value::as_u64) {
        return Some(StatusEvent::Started { pid: u32::try_from(pid).ok()? });
    }
    let status = object.get("exit-code")?.as_i64()?;
    Some(StatusEvent::Exited { status: i32::try_from(status).ok()? })
}

/// Arguments in the making; each method is one step of `docs/sandbox.md`.
#[derive(Default)]
struct CommandLine(Vec<OsString>);

impl CommandLine {
    fn add<const N: usize>(&mut self, arguments: [&str; N]) {
        self.0.extend(arguments.map(OsString::from));
    }

    fn add_paths(&mut self, option: &str, from: &Path, to: &Path) {
        self.0.extend([option.into(), from.into(), to.into()]);
    }

    fn namespaces(&mut self, limits_user_namespaces: bool) {
        // --unshare-all alone would go on without a user namespace where there is none.
        self.add(["--unshare-all", "--unshare-user"]);
        if limits_user_namespaces {
            self.add(["--disable-userns"]);
        }
        self.add(["--uid", WORKER_ID, "--gid", WORKER_ID]);
        self.add(["--hostname", "localhost"]);
    }

    fn process(&mut self) {
        // INVARIANT(term-reaches-the-worker): as pid 1 the reported child is the worker itself, so it can be asked to end.
        self.add(["--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    }

    fn environment(&mut self, paths: &WorkerPaths) {
        self.add(["--clearenv"]);
        for (name, value) in environment::of_worker(paths) {
            self.0.extend(["--setenv".into(), name, value]);
        }
    }

    /// First, so that a JDK installed below one of these names is put on top of it.
    fn own_file_systems(&mut self, sizes: &Sizes) {
        self.add(["--proc", "/proc", "--dev", "/dev"]);
        for own in memory_file_systems(sizes) {
            // INVARIANT(every-writable-file-system-is-sized): bubblewrap's default is half of the machine's memory.
            self.add(["--perms", "0700", "--size", &own.size_bytes.to_string(), "--tmpfs"]);
            self.0.push(own.path.into());
        }
    }

    fn host_binds(&mut self, binds: &[Bind]) {
        for bind in binds {
            match bind {
                Bind::SameName(path) => self.add_paths("--ro-bind", path, path),
                Bind::OtherName { from, to } => self.add_paths("--ro-bind", from, to),
                Bind::Symlink { path, text } => self.add_paths("--symlink", text, path),
            }
        }
    }

    fn read_only_grants(&mut self, grants: &WorkerGrants) -> Result<(), SandboxError> {
        let engine = match &grants.engine {
            EngineGrant::SingleJar(jar) => (Some(jar), inside::ENGINE_JAR),
            EngineGrant::InstallationDirectory(directory) => (Some(directory), inside::ENGINE_DIRECTORY),
        };
        self.grant(
            "--ro-bind",
            [
                (Some(&grants.worker_executable), inside::EXECUTABLE),
                engine,
                (grants.class_data_directory.as_ref(), inside::CLASS_DATA),
                (Some(&grants.adapter_directory), inside::ADAPTER),
                (grants.sample.as_ref(), inside::SAMPLE),
            ],
        )?;
        if let Some(cache) = &grants.engine_cache {
            let target = Path::new(inside::HOME).join(&cache.home_path);
            self.add_paths("--ro-bind", absolute(&cache.directory)?, &target);
        }
        if let Some(bundles) = &grants.script_bundles {
            let target = Path::new(inside::HOME).join(&bundles.home_path);
            let option = if bundles.writable { "--bind" } else { "--ro-bind" };
            self.add_paths(option, absolute(&bundles.directory)?, &target);
        }
        Ok(())
    }

    fn writable_grants(&mut self, grants: &WorkerGrants) -> Result<(), SandboxError> {
        self.grant(
            "--bind",
            [
                (Some(&grants.invocation_directory), inside::INVOCATION),
                (grants.project_directory.as_ref(), inside::PROJECT),
                (grants.facts_directory.as_ref(), inside::FACTS),
            ],
        )
    }

    fn grant<const N: usize>(
        &mut self,
        option: &str,
        grants: [(Option<&PathBuf>, &str); N],
    ) -> Result<(), SandboxError> {
        for (source, target) in grants {
            if let Some(source) = source {
                self.add_paths(option, absolute(source)?, Path::new(target));
            }
        }
        Ok(())
    }

    /// Refuses a directory of the store that a read-only bind shows once more, under the host's own name and with its neighbours.
    fn refuse_exposed(&self, directory: &Path) -> Result<(), SandboxError> {
        let Some(resolved) = resolve_present(directory)? else { return Ok(()) };
        let shown =
            self.0.windows(2).filter(|words| words[0] == "--ro-bind").map(|words| Path::new(&words[1]));
        for shown in shown {
            if resolve_present(shown)?.is_some_and(|shown| resolved.starts_with(shown)) {
                return Err(SandboxError::StoreExposed {
                    directory: directory.to_owned(),
                    shown: shown.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Last, when every mount point exists: the root and /dev are memory file systems of their own, and the settings below
    /// `/proc/sys` belong to the machine. When root runs ghidr, the worker owns them: capabilities are not asked for there.
    fn seal(&mut self) {
        self.add(["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]);
        self.add(["--chdir", inside::INVOCATION]);
    }

    fn worker(&mut self, grants: &WorkerGrants, job: Job) {
        let invocation = Path::new(inside::INVOCATION);
        let arguments = WorkerArguments {
            file_size_bytes: Some(grants.sizes.file_size_bytes),
            job,
            request: invocation.join(REQUEST),
            response: invocation.join(RESPONSE),
        };
        self.add(["--", inside::EXECUTABLE]);
        self.0.extend(arguments.encode());
    }
}

/// Where a path leads; `None` when it leads nowhere, and so exposes nothing.
fn resolve_present(path: &Path) -> Result<Option<PathBuf>, SandboxError> {
    match path.canonicalize() {
        Ok(resolved) => Ok(Some(resolved)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SandboxError::Grant { path: path.to_owned(), source }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::sandbox::EngineCacheGrant;

    #[test]
    fn status_lines_are_read_and_unknown_ones_ignored() {
        let started = br#"{ "child-pid": 41, "net-namespace": 4026532577 }"#;
        assert_eq!(decode_status(started), Some(StatusEvent::Started { pid: 41 }));
        assert_eq!(decode_status(b"{ \"exit-code\": 137 }\n"), Some(StatusEvent::Exited { status: 137 }));
        for other in [&b"{}"[..], b"", b"[1]", b"{\"child-pid\": -1}", b"{\"exit-code\": 1e99}", b"\xff"] {
            assert_eq!(decode_status(other), None, "{other:?}");
        }
    }

    fn grants(java_home: &Path) -> WorkerGrants {
        WorkerGrants {
            worker_executable: "/host/ghidr".into(),
            invocation_directory: "/host/invocation".into(),
            sample: Some("/host/sample".into()),
            project_directory: Some("/host/project".into()),
            facts_directory: None,
            engine: EngineGrant::SingleJar("/host/ghidra.jar".into()),
            engine_cache: Some(EngineCacheGrant {
                directory: "/host/cache".into(),
                home_path: "cache".into(),
            }),
            script_bundles: None,
            class_data_directory: None,
            adapter_directory: "/host/adapter".into(),
            java_home: java_home.to_owned(),
            closure: vec!["/nix/store/x".into()],
            fonts: None,
            home_directory: "/host/home".into(),
            temporary_directory: "/host/tmp".into(),
            sizes: Sizes { temporary_mib: 3, home_mib: 2, shared_memory_mib: 1, file_size_bytes: 77 },
        }
    }

    /// The host's libraries and fonts differ between machines; everything else is fixed to the last word.
    #[test]
    fn the_command_line_is_the_documented_one() {
        let jdk = tempfile::tempdir().unwrap();
        let java_home = jdk.path().canonicalize().unwrap();
        let plan = Bubblewrap::at("/usr/bin/bwrap".into()).plan(&grants(&java_home), Job::Answer).unwrap();
        let words: Vec<String> =
            plan.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let line = words.join(" ");
        let (before, rest) = line.split_once(" --symlink ").or(line.split_once(" --ro-bind ")).unwrap();
        assert_eq!(
            before.split(" --ro-bind ").next().unwrap(),
            "--unshare-all --unshare-user --disable-userns --uid 1000 --gid 1000 --hostname localhost \
             --as-pid-1 --die-with-parent --new-session --cap-drop ALL \
             --clearenv --setenv HOME /ghidr/home --setenv LC_ALL C.UTF-8 --setenv PATH /usr/bin:/bin \
             --setenv TMPDIR /tmp --setenv TZ UTC \
             --proc /proc --dev /dev --perms 0700 --size 1048576 --tmpfs /dev/shm \
             --perms 0700 --size 3145728 --tmpfs /tmp --perms 0700 --size 2097152 --tmpfs /ghidr/home"
        );
        let java = java_home.display();
        let expected = format!(
            "--ro-bind /nix/store/x /nix/store/x --ro-bind {java} {java} \
             --ro-bind /host/ghidr /ghidr/bin/ghidr --ro-bind /host/ghidra.jar /ghidr/engine/ghidra.jar \
             --ro-bind /host/adapter /ghidr/adapter --ro-bind /host/sample /ghidr/sample/sample \
             --ro-bind /host/cache /ghidr/home/cache \
             --bind /host/invocation /ghidr/invocation --bind /host/project /ghidr/analysis/project \
             --remount-ro /proc --remount-ro /dev --remount-ro / --chdir /ghidr/invocation \
             -- /ghidr/bin/ghidr --worker --file-size-bytes 77 \
             /ghidr/invocation/request.json /ghidr/invocation/response.json"
        );
        assert!(rest.ends_with(&expected), "{rest}");
        assert_eq!(plan.environment, []);
    }

    #[test]
    fn granted_fonts_replace_the_systems() {
        let jdk = tempfile::tempdir().unwrap();
        let grants = WorkerGrants { fonts: Some("/nix/store/fonts".into()), ..grants(jdk.path()) };
        let plan = Bubblewrap::at("/usr/bin/bwrap".into()).plan(&grants, Job::Answer).unwrap();
        let line = plan.arguments.join(std::ffi::OsStr::new(" ")).into_string().unwrap();
        assert!(line.contains("--ro-bind /nix/store/fonts /etc/fonts "), "{line}");
        assert!(!line.contains("/usr/share/fonts") && !line.contains("--ro-bind /etc/fonts"), "{line}");
    }

    #[test]
    fn a_store_inside_of_what_every_worker_can_read_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            std::fs::create_dir_all(outer.path().join(name)).unwrap();
            outer.path().join(name)
        };
        let (jdk, adapter, inside) = (place("jdk"), place("adapter"), place("adapter/store/invocation"));
        std::os::unix::fs::symlink(&inside, outer.path().join("link")).unwrap();
        let plan = |invocation_directory: &Path| {
            let invocation_directory = invocation_directory.to_owned();
            let grants =
                WorkerGrants { invocation_directory, adapter_directory: adapter.clone(), ..grants(&jdk) };
            Bubblewrap::at("/usr/bin/bwrap".into()).plan(&grants, Job::Answer)
        };
        for exposed in [&inside, &outer.path().join("link")] {
            let error = plan(exposed).unwrap_err();
            assert!(matches!(error, SandboxError::StoreExposed { .. }), "{error}");
        }
        assert!(plan(&place("adapter-store/invocation")).is_ok());
    }

    /// It must make files executable, and a worker that can do that could change the machine's devices when they are its
    /// user's own.
    #[test]
    fn an_engine_that_must_unpack_itself_is_refused_to_the_owner_of_the_devices() {
        let jdk = tempfile::tempdir().unwrap();
        let unprepared = WorkerGrants { engine_cache: None, ..grants(jdk.path()) };
        let planned = Bubblewrap::at("/usr/bin/bwrap".into()).plan(&unprepared, Job::Answer);
        if rustix::process::geteuid().is_root() {
            let error = planned.unwrap_err();
            assert!(matches!(error, SandboxError::EngineNotPrepared { .. }), "{error}");
        } else {
            let prepared = Bubblewrap::at("/usr/bin/bwrap".into()).plan(&grants(jdk.path()), Job::Answer);
            assert_ne!(planned.unwrap().handed_files, prepared.unwrap().handed_files);
        }
        let directory = EngineGrant::InstallationDirectory("/host/ghidra".into());
        let directory = WorkerGrants { engine: directory, ..unprepared };
        assert!(Bubblewrap::at("/usr/bin/bwrap".into()).plan(&directory, Job::Answer).is_ok());
    }

    #[test]
    fn a_relative_grant_is_refused() {
        let jdk = tempfile::tempdir().unwrap();
        let relative = WorkerGrants { sample: Some("sample".into()), ..grants(jdk.path()) };
        let error = Bubblewrap::at("/usr/bin/bwrap".into()).plan(&relative, Job::Answer).unwrap_err();
        assert!(matches!(error, SandboxError::RelativeGrant { .. }), "{error}");
    }

    #[test]
    fn a_missing_bubblewrap_names_where_it_was_looked_for() {
        let bundled = Path::new("/nonexistent/bwrap");
        match Bubblewrap::discover(Some(bundled)) {
            Ok(found) => assert_ne!(found.program(), bundled),
            Err(error) => {
                assert!(error.to_string().contains("/nonexistent/bwrap, /usr/bin/bwrap"), "{error}")
            }
        }
    }
}
