//! One store per sandbox mode for the whole test process, in which each Sample is analyzed once.
//!
//! A cold analysis costs seconds and a facts Query milliseconds, so tests that only read share
//! their Analyses. Nothing may damage a shared store; tests that damage one make their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use super::boots;
use super::fixtures;
use super::ghidr::Ghidr;

/// A store shared by the tests of this process.
pub struct Shared {
    /// Runs commands on it.
    pub ghidr: Ghidr,
    mode: &'static str,
    cold: Memory<PathBuf>,
    decompiled: Memory<(String, [String; 2])>,
}

/// Documents that are made once, by whoever asks first.
struct Memory<K>(Mutex<BTreeMap<K, Arc<OnceLock<Value>>>>);

impl<K: Ord> Memory<K> {
    fn get_or_make(&self, key: K, make: impl FnOnce() -> Value) -> Value {
        let cell = {
            let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(key).or_default())
        };
        cell.get_or_init(make).clone()
    }
}

/// The store that the production sandbox fills.
pub fn bubblewrap() -> &'static Shared {
    of_mode("bubblewrap")
}

/// The store of one sandbox mode.
pub fn of_mode(mode: &'static str) -> &'static Shared {
    static STORES: [(&str, OnceLock<Shared>); 3] =
        [("bubblewrap", OnceLock::new()), ("external", OnceLock::new()), ("off", OnceLock::new())];
    let (_, store) = STORES.iter().find(|(name, _)| *name == mode).unwrap();
    store.get_or_init(|| Shared::new(mode, mode))
}

/// Another fresh store that the production sandbox fills.
pub fn second() -> &'static Shared {
    static STORE: OnceLock<Shared> = OnceLock::new();
    STORE.get_or_init(|| Shared::new("second", "bubblewrap"))
}

impl Shared {
    fn new(name: &str, mode: &'static str) -> Self {
        Self {
            ghidr: Ghidr::in_directory(process_directory().join(name)),
            mode,
            cold: Memory(Mutex::default()),
            decompiled: Memory(Mutex::default()),
        }
    }

    /// The `inspect` document of the cold analysis of a fixture, made on first use.
    pub fn fixture(&self, fixture: &str) -> Value {
        self.sample(&fixtures::path(fixture))
    }

    /// The same for any Sample.
    pub fn sample(&self, sample: &Path) -> Value {
        self.cold.get_or_make(sample.to_owned(), || {
            let _boot = boots::take();
            let run = self.run(["inspect".as_ref(), sample.as_os_str()]);
            let document = run.success();
            assert_eq!(document["data"]["analysis"]["disposition"], "created", "{run}");
            document
        })
    }

    /// The document, success or error, of a worker that decompiles a function of a fixture's
    /// stored Analysis.
    pub fn decompiled(&self, fixture: &str, selector: [&str; 2]) -> Value {
        self.fixture(fixture);
        self.decompiled.get_or_make((fixture.to_owned(), selector.map(str::to_owned)), || {
            let _boot = boots::take();
            let path = fixtures::path(fixture);
            let [flag, value] = selector;
            self.forget_results(fixture);
            self.run(["decompile", path.to_str().unwrap(), flag, value]).document()
        })
    }

    /// Removes the kept results of a fixture, so that the next Query needs a worker.
    pub fn forget_results(&self, fixture: &str) {
        let document = self.fixture(fixture);
        let sample = document["provenance"]["sample_sha256"].as_str().unwrap();
        match std::fs::remove_dir_all(self.ghidr.store().join("results").join(sample)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
    }

    /// The directory of the Analysis of a fixture.
    pub fn analysis(&self, fixture: &str) -> PathBuf {
        self.ghidr.analysis(&self.fixture(fixture))
    }

    /// A document of the Analysis of a fixture: `manifest.json` or `profile.json`.
    pub fn stored(&self, fixture: &str, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.analysis(fixture).join(name)).unwrap()).unwrap()
    }

    /// Every function of a fixture.
    pub fn functions(&self, fixture: &str) -> Vec<Value> {
        self.fixture(fixture);
        let path = fixtures::path(fixture);
        let arguments = ["functions", path.to_str().unwrap(), "--all", "--max-inline-bytes", "100000000"];
        self.run(arguments).success()["data"]["items"].as_array().unwrap().clone()
    }

    /// Runs `ghidr` in this store's mode.
    pub fn run<S: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> super::ghidr::Run {
        let mode = ["--sandbox", self.mode].map(std::ffi::OsString::from);
        let given = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        self.ghidr.run(mode.into_iter().chain(given))
    }
}

/// Statics are never dropped, so the directory is named after the process, and the next test
/// process removes those whose process is gone.
fn process_directory() -> PathBuf {
    const PREFIX: &str = "ghidr-shared-tests-";
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    let directory = DIRECTORY.get_or_init(|| {
        let parent = std::env::temp_dir();
        for entry in std::fs::read_dir(&parent).unwrap().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
            if owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let directory = parent.join(format!("{PREFIX}{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir(&directory).unwrap();
        directory
    });
    directory.clone()
}
