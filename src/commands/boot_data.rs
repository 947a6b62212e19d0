//! Makes boot data for set-up: runs real work in the production sandbox, watches which classes it loads, and lets the
//! Java virtual machine archive them.
//!
//! Not a command: set-up calls it with a host of its own. Writes only to the given output directory and store. Everything
//! runs through the same launcher, paths and options as an ordinary worker, because an archive fits only those.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::boot_files;
use super::boot_mode::{BootMode, CLASS_LIST, FOUND_EXTENSION_POINTS};
use super::context::{Context, Engine};
use super::failure::Failure;
use super::host::Host;
use super::worker::{self, QueryList, WorkerTask};
use super::workplace::Workplace;
use crate::cli;
use crate::domain::digest::ContentDigest;
use crate::domain::error::PublicError;
use crate::domain::selector::FunctionSelector;
use crate::engine::boot_data::{
    BootData, BootRecord, CLASS_DATA, CLASS_DATA_ARCHIVE, EXTENSION_POINTS, RECORD, SCRIPT_BUNDLES,
};
use crate::engine::compiled_scripts;
use crate::protocol::request::WorkerQuery;
use crate::protocol::response::Outcome;
use crate::store::{OpenedSample, Staging, Store, StoreLock};

/// What separates a class from its number in a class list.
const CLASS_NUMBER: &str = " id: ";
/// What a class list says of a class that another than the application's loader defined.
const OTHER_LOADER: &str = " source: ";

/// What to make boot data from, and where to.
#[derive(Debug, Clone)]
pub struct BootDataPlan {
    /// An empty or absent directory for a temporary store, absolute.
    pub store: PathBuf,
    /// New directory that receives the boot data.
    pub output: PathBuf,
    /// Samples of the kinds to be fast for; each is analyzed, and its `function` decompiled.
    pub samples: Vec<PathBuf>,
    /// Name of a function that every sample has.
    pub function: String,
}

/// Why there is no boot data.
#[derive(Debug, thiserror::Error)]
pub enum BootDataError {
    /// A worker failed.
    #[error("{0}")]
    Worker(Box<PublicError>),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The engine left something unusable behind.
    #[error("{0}")]
    Unusable(String),
}

impl<E: Into<Failure>> From<E> for BootDataError {
    fn from(error: E) -> Self {
        Self::Worker(error.into().error)
    }
}

/// Makes boot data for the engine of `host`'s bundle.
///
/// # Errors
///
/// When a worker fails; the output directory is then not to be used.
pub fn make(host: &Host<'_>, plan: &BootDataPlan) -> Result<(), BootDataError> {
    let command = ["ghidr".into(), "doctor".into(), "--store".into(), plan.store.clone().into_os_string()];
    let cli = cli::parse(&command)
        .map_err(|_| BootDataError::Unusable("the store's path is not accepted".to_owned()))?;
    let context = Context::new(host, cli.global);
    let engine = context.engine()?;
    let store = Store::open_or_create(&context.store_location()?)?;
    let lock = store.lock()?;
    let maker = Maker { context: &context, engine: &engine, store: &store, lock: &lock, plan };
    let mut seen = Seen::default();
    for sample in &plan.samples {
        maker.observe(sample, &mut seen)?;
    }
    let archive = maker.archive(&seen.classes)?;
    let inputs = boot_files::inputs(&context, &engine).map_err(at(host.bundle.root()))?;
    let (bytes, digest) = (archive.len() as u64, ContentDigest::of(&archive));
    let names_digest = seen.extension_points.as_deref().map(ContentDigest::of);
    let bundles = plan.output.join(SCRIPT_BUNDLES);
    let bundles = compiled_scripts::describe(&bundles).map_err(at(&bundles))?;
    let record = BootRecord::of(&host.bundle, &inputs, bytes, digest, names_digest, bundles)
        .map_err(at(host.bundle.root()))?;
    let class_data = plan.output.join(CLASS_DATA);
    create(&class_data)?;
    write(&class_data.join(CLASS_DATA_ARCHIVE), &archive)?;
    if let Some(names) = &seen.extension_points {
        let path = class_data.join(EXTENSION_POINTS);
        create(path.parent().unwrap_or(&class_data))?;
        write(&path, names)?;
    }
    maker.prove(record.boot_data(&plan.output))?;
    let record = serde_json::to_vec_pretty(&record)
        .map_err(|error| BootDataError::Unusable(format!("the record cannot be encoded: {error}")))?;
    // Last: without its record nothing of this counts.
    write(&plan.output.join(RECORD), &record)
}

/// What the observed workers showed.
#[derive(Debug, Default)]
struct Seen {
    classes: ClassList,
    extension_points: Option<Vec<u8>>,
}

impl Seen {
    fn keep_extension_points(&mut self, file: &Path) -> Result<(), BootDataError> {
        let found = match fs::read(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            found => found.map_err(at(file))?,
        };
        match &self.extension_points {
            Some(known) if *known != found => {
                Err(BootDataError::Unusable("two boots found different extension points".to_owned()))
            }
            _ => {
                self.extension_points = Some(found);
                Ok(())
            }
        }
    }
}

struct Maker<'run> {
    context: &'run Context<'run>,
    engine: &'run Engine,
    store: &'run Store,
    lock: &'run StoreLock,
    plan: &'run BootDataPlan,
}

impl Maker<'_> {
    fn staging(&self) -> Result<Staging, BootDataError> {
        let id = (self.context.host.new_invocation_id)().map_err(Failure::internal)?;
        Ok(self.store.begin_staging(id, self.lock)?)
    }

    /// Analyzes one Sample, asks for one decompilation, and keeps what both runs showed.
    fn observe(&self, sample: &Path, seen: &mut Seen) -> Result<(), BootDataError> {
        let query =
            WorkerQuery::Decompile { selector: FunctionSelector::Name { value: self.plan.function.clone() } };
        let tasks =
            [WorkerTask::Analyze { queries: None }, WorkerTask::Query { queries: QueryList::of(query) }];
        let staging = self.staging()?;
        let stop = || self.context.host.interrupts.first();
        OpenedSample::open(sample, self.context.max_sample_bytes)
            .and_then(|opened| opened.hash(&stop).map(|_| opened))
            .map_err(|error| Failure::sample(error, sample))?
            .snapshot_into(&staging, self.context.host.store_reserve_bytes, &stop)?;
        let script_bundles = staging.home_directory().join("script-bundles");
        fs::create_dir(&script_bundles).map_err(at(&script_bundles))?;
        let mode = BootMode::Observed { script_bundles: script_bundles.clone() };
        for task in &tasks {
            let place = Workplace { store: self.store, staging: &staging, sample: None };
            let reply = worker::run_as(self.context, self.engine, &place, task, &mode)?;
            if let Outcome::Failed { error } = reply.response.outcome {
                return Err(Failure::worker(error, None, task.operation()).into());
            }
            let list = staging.invocation_directory().join(CLASS_LIST);
            seen.classes.merge(&fs::read_to_string(&list).map_err(at(&list))?);
            seen.keep_extension_points(&staging.invocation_directory().join(FOUND_EXTENSION_POINTS))?;
            // The next run starts in the same directories as if it were the first.
            remove_files(&staging.invocation_directory())?;
            remove_files(&staging.logs_directory())?;
        }
        keep_tree(&script_bundles, &self.plan.output.join(SCRIPT_BUNDLES))
    }

    /// Lets the virtual machine make the archive; it ends by itself, before any adapter code runs.
    ///
    /// Later Java then ends as if it could not start. Only [`Self::prove`] shows whether the archive is whole.
    fn archive(&self, classes: &ClassList) -> Result<Vec<u8>, BootDataError> {
        let staging = self.staging()?;
        let invocation = staging.invocation_directory();
        write(&invocation.join(CLASS_LIST), classes.text().as_bytes())?;
        let place = Workplace { store: self.store, staging: &staging, sample: None };
        let ended =
            worker::launch(self.context, self.engine, &place, &WorkerTask::Probe, &BootMode::Archiving)
                .and_then(|attempt| attempt.end);
        let archive = invocation.join(CLASS_DATA_ARCHIVE);
        match (ended, fs::read(&archive)) {
            (Err(failure), Err(_)) => Err(failure.into()),
            (_, read) => read.map_err(at(&archive)),
        }
    }

    /// Boots once with what was made, and with nothing in its place.
    fn prove(&self, data: BootData) -> Result<(), BootDataError> {
        let staging = self.staging()?;
        let place = Workplace { store: self.store, staging: &staging, sample: None };
        let mode = BootMode::Proving(data);
        let reply = worker::run_as(self.context, self.engine, &place, &WorkerTask::Probe, &mode)?;
        match reply.response.outcome {
            Outcome::Failed { error } => Err(Failure::worker(error, None, "probe").into()),
            _ => Ok(()),
        }
    }
}

/// The lines of several class lists, each once, in the order in which they were first met.
///
/// Later Java numbers the classes of each list, and ends with status 1 when two of one number are archived. The numbers
/// are for classes of other loaders only, which name their parents by them; those cannot be archived without.
#[derive(Debug, Default)]
struct ClassList {
    lines: Vec<String>,
    known: BTreeSet<String>,
}

impl ClassList {
    fn merge(&mut self, list: &str) {
        for line in list.lines().filter(|line| !line.starts_with('#') && !line.contains(OTHER_LOADER)) {
            let line = line.split_once(CLASS_NUMBER).map_or(line, |(class, _number)| class);
            if self.known.insert(line.to_owned()) {
                self.lines.push(line.to_owned());
            }
        }
    }

    fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line, "\n"]).collect()
    }
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> BootDataError {
    let path = path.to_owned();
    move |source| BootDataError::File { path: path.clone(), source }
}

fn create(directory: &Path) -> Result<(), BootDataError> {
    fs::create_dir_all(directory).map_err(at(directory))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BootDataError> {
    fs::write(path, bytes).map_err(at(path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).map_err(at(path))
}

fn remove_files(directory: &Path) -> Result<(), BootDataError> {
    for entry in fs::read_dir(directory).map_err(at(directory))? {
        let path = entry.map_err(at(directory))?.path();
        fs::remove_file(&path).map_err(at(&path))?;
    }
    Ok(())
}

/// Adds the regular files below `from` to `to`; nothing is created for an empty directory.
fn keep_tree(from: &Path, to: &Path) -> Result<(), BootDataError> {
    for entry in fs::read_dir(from).map_err(at(from))? {
        let entry = entry.map_err(at(from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(at(&path))?;
        if kind.is_dir() {
            keep_tree(&path, &target)?;
        } else if kind.is_file() {
            create(to)?;
            write(&target, &fs::read(&path).map_err(at(&path))?)?;
        } else {
            return Err(BootDataError::Unusable(format!("{} is no regular file", path.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn class_lists_are_merged_without_repetition_and_in_order() {
        let mut classes = ClassList::default();
        classes.merge("# comment\njava/lang/Object\n@lambda-proxy A run\n");
        classes.merge("# comment\njava/lang/Object\nB\n");
        assert_eq!(classes.text(), "java/lang/Object\n@lambda-proxy A run\nB\n");
    }

    #[test]
    fn the_numbers_of_a_class_list_do_not_survive_merging() {
        let mut classes = ClassList::default();
        classes.merge("java/lang/Object id: 0\nA id: 1\n@cp A 1 2\n");
        classes.merge("java/lang/Object id: 0\nB id: 1\nC id: 2 super: 0 source: /tmp/bundle\n");
        assert_eq!(classes.text(), "java/lang/Object\nA\n@cp A 1 2\nB\n");
    }

    #[test]
    fn every_boot_must_find_the_same_extension_points() {
        let root = tempfile::tempdir().unwrap();
        let (one, two) = (root.path().join("one"), root.path().join("two"));
        fs::write(&one, "names").unwrap();
        fs::write(&two, "other names").unwrap();
        let mut seen = Seen::default();
        seen.keep_extension_points(&root.path().join("none")).unwrap();
        assert_eq!(seen.extension_points, None);
        seen.keep_extension_points(&one).unwrap();
        seen.keep_extension_points(&one).unwrap();
        assert_eq!(seen.extension_points.as_deref(), Some(b"names".as_slice()));
        assert!(matches!(seen.keep_extension_points(&two), Err(BootDataError::Unusable(_))));
    }

    #[test]
    fn trees_are_joined_and_links_refused() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        keep_tree(&from, &to).unwrap();
        assert!(!to.exists());
        fs::write(from.join("a/x.class"), "x").unwrap();
        keep_tree(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("a/x.class")).unwrap(), b"x");
        std::os::unix::fs::symlink("/etc/passwd", from.join("link")).unwrap();
        assert!(matches!(keep_tree(&from, &to), Err(BootDataError::Unusable(_))));
    }
}
