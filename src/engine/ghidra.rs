//! Finds the engine: an official installation directory or a single `ghidra.jar`.
//!
//! First match wins: `--ghidra`, `$GHIDR_GHIDRA`, the bundle, `$GHIDRA_INSTALL_DIR`. An
//! explicit value that is wrong is an error, never a fall-through.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::application_properties::{ApplicationProperties, JavaRange};
use super::bundle::Bundle;
use super::descriptor::EngineDescriptor;
use super::is_absent;
use crate::domain::engine_layout::EngineLayout;
use crate::domain::error::{BUNDLE_RULE, describe_missing, describe_rule};
use crate::domain::path_value::PathValue;

/// Where an engine may come from, best first.
#[derive(Debug, Clone)]
pub struct GhidraCandidates {
    /// `--ghidra` or `$GHIDR_GHIDRA`, with the rule's name.
    pub explicit: Option<(&'static str, PathBuf)>,
    /// The bundle beside the executable.
    pub bundle: Bundle,
    /// `$GHIDRA_INSTALL_DIR`, with the rule's name.
    pub fallback: Option<(&'static str, PathBuf)>,
}

/// An engine that can be booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ghidra {
    /// Its layout.
    pub layout: EngineLayout,
    /// The jar or the directory, without symbolic links.
    pub path: PathBuf,
    /// Such as `12.1.2`.
    pub version: String,
    /// Revision or build date.
    pub build: String,
    /// Such as `PUBLIC`.
    pub release_name: String,
    /// Java feature versions it accepts.
    pub java: JavaRange,
    /// The prepared cache of a bundled single jar.
    pub cache: Option<PathBuf>,
    /// The JDK that the bundle pairs it with.
    pub bundled_java_home: Option<PathBuf>,
    /// The rule that selected it.
    pub selected_by: &'static str,
}

/// Why no engine can be used.
#[derive(Debug, thiserror::Error)]
pub enum GhidraError {
    /// None was configured, or the configured one does not exist.
    #[error("{}", describe_missing("Ghidra", path.as_deref().map(PathValue::from).as_ref(), selected_by, &format!("looked at {selected_by}")))]
    Missing {
        /// Where one was expected.
        path: Option<PathBuf>,
        /// The rule, or the rules tried.
        selected_by: String,
    },
    /// It exists but cannot serve.
    #[error("the Ghidra at {}, which {} names, cannot be used: {reason}", path.display(), describe_rule(selected_by))]
    Incompatible {
        /// Where it is.
        path: PathBuf,
        /// The rule that selected it.
        selected_by: &'static str,
        /// What is wrong.
        reason: String,
    },
}

const PROPERTIES_IN_DIRECTORY: &str = "Ghidra/application.properties";
const PROPERTIES_IN_JAR: &str = "_Root/Ghidra/application.properties";
const MAX_PROPERTIES_BYTES: u64 = 65_536;

impl Ghidra {
    /// Takes the first candidate there is.
    pub fn find(candidates: &GhidraCandidates) -> Result<Self, GhidraError> {
        if let Some((rule, path)) = &candidates.explicit {
            return Self::examine(path, rule);
        }
        if let Some(bundled) = Self::bundled(&candidates.bundle)? {
            return Ok(bundled);
        }
        match &candidates.fallback {
            Some((rule, path)) => Self::examine(path, rule),
            None => Err(GhidraError::Missing {
                path: None,
                selected_by: "--ghidra, $GHIDR_GHIDRA, the bundle, $GHIDRA_INSTALL_DIR".to_owned(),
            }),
        }
    }

    fn bundled(bundle: &Bundle) -> Result<Option<Self>, GhidraError> {
        let incompatible = |reason: String| GhidraError::Incompatible {
            path: bundle.root().to_owned(),
            selected_by: BUNDLE_RULE,
            reason,
        };
        let Some(descriptor) =
            EngineDescriptor::read(bundle.root()).map_err(|error| incompatible(error.to_string()))?
        else {
            return Ok(None);
        };
        let path = bundle.resolve(&descriptor.path);
        let path = resolve(&path, BUNDLE_RULE)?;
        if descriptor.layout == EngineLayout::InstallationDirectory {
            require_described(&path, &descriptor).map_err(incompatible)?;
        }
        Ok(Some(Self {
            layout: descriptor.layout,
            path,
            version: descriptor.ghidra_version,
            build: descriptor.ghidra_build,
            release_name: descriptor.ghidra_release_name,
            java: JavaRange { minimum: descriptor.java_minimum, maximum: descriptor.java_maximum },
            cache: descriptor.cache.map(|cache| bundle.resolve(&cache)),
            bundled_java_home: descriptor.java_home.or_else(|| bundle.java_home()),
            selected_by: BUNDLE_RULE,
        }))
    }

    /// Examines an engine at an explicit place.
    pub fn examine(path: &Path, selected_by: &'static str) -> Result<Self, GhidraError> {
        let resolved = resolve(path, selected_by)?;
        let incompatible =
            |reason: String| GhidraError::Incompatible { path: path.to_owned(), selected_by, reason };
        let (layout, text) = if resolved.is_dir() {
            let text = read_from_directory(&resolved).map_err(&incompatible)?;
            (EngineLayout::InstallationDirectory, text)
        } else {
            let text = read_from_jar(&resolved).map_err(&incompatible)?;
            (EngineLayout::SingleJar, text)
        };
        let properties = properties(&text).map_err(incompatible)?;
        Ok(Self {
            layout,
            path: resolved,
            version: properties.version,
            build: properties.build,
            release_name: properties.release_name,
            java: properties.java,
            cache: None,
            bundled_java_home: None,
            selected_by,
        })
    }

    /// What `doctor` names as the launcher: the jar itself, or the directory's own tool.
    pub fn launcher(&self) -> PathBuf {
        match self.layout {
            EngineLayout::SingleJar => self.path.clone(),
            EngineLayout::InstallationDirectory => self.path.join("support/analyzeHeadless"),
        }
    }

    /// Name of the directory in which this engine keeps settings below `.ghidra`, and
    /// so looks for what a single jar has unpacked.
    pub fn settings_directory_name(&self) -> String {
        format!(".ghidra_{}_{}", self.version, self.release_name)
    }
}

/// A directory that an installation only points to may have been replaced since; what the bundle itself holds may not.
fn require_described(directory: &Path, descriptor: &EngineDescriptor) -> Result<(), String> {
    let found = properties(&read_from_directory(directory)?)?;
    if (&found.version, &found.build) == (&descriptor.ghidra_version, &descriptor.ghidra_build) {
        return Ok(());
    }
    Err(format!(
        "{} is not the release that was installed but version {}, build {}",
        directory.display(),
        found.version,
        found.build
    ))
}

fn properties(text: &str) -> Result<ApplicationProperties, String> {
    ApplicationProperties::parse(text).map_err(|error| error.to_string())
}

fn read_from_directory(directory: &Path) -> Result<String, String> {
    let path = directory.join(PROPERTIES_IN_DIRECTORY);
    let unreadable = |error: std::io::Error| format!("{PROPERTIES_IN_DIRECTORY}: {error}");
    // Only the directory itself is shown in the sandbox; in a farm of links nothing would be behind them.
    let resolved = path.canonicalize().map_err(unreadable)?;
    if !resolved.starts_with(directory) {
        return Err(format!(
            "its files are links to {}: name the directory that holds the files",
            resolved.display()
        ));
    }
    if !resolved.is_file() {
        return Err(format!("{PROPERTIES_IN_DIRECTORY} is not a file"));
    }
    read_bounded(File::open(&resolved).map_err(unreadable)?)
}

fn read_from_jar(jar: &Path) -> Result<String, String> {
    if !jar.is_file() {
        return Err("neither a directory nor a file".to_owned());
    }
    let file = File::open(jar).map_err(|error| error.to_string())?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| format!("not a ghidra.jar: {error}"))?;
    let entry =
        archive.by_name(PROPERTIES_IN_JAR).map_err(|error| format!("{PROPERTIES_IN_JAR}: {error}"))?;
    read_bounded(entry)
}

fn read_bounded(source: impl std::io::Read) -> Result<String, String> {
    let mut text = String::new();
    let count =
        source.take(MAX_PROPERTIES_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if count as u64 > MAX_PROPERTIES_BYTES {
        return Err(format!("its application.properties is larger than {MAX_PROPERTIES_BYTES} bytes"));
    }
    Ok(text)
}

/// Where a path leads. One that leads to something that cannot be reached is not one that leads nowhere.
fn resolve(path: &Path, selected_by: &'static str) -> Result<PathBuf, GhidraError> {
    path.canonicalize().map_err(|error| match error {
        error if is_absent(&error) => {
            GhidraError::Missing { path: Some(path.to_owned()), selected_by: selected_by.to_owned() }
        }
        error => GhidraError::Incompatible { path: path.to_owned(), selected_by, reason: error.to_string() },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PROPERTIES: &str = "application.name=Ghidra\napplication.version=12.1.2\napplication.release.name=PUBLIC\n\
        application.java.min=21\napplication.revision.ghidra=abc\n";

    fn installation() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("Ghidra")).unwrap();
        std::fs::write(directory.path().join(PROPERTIES_IN_DIRECTORY), PROPERTIES).unwrap();
        directory
    }

    fn candidates(explicit: Option<&Path>, fallback: Option<&Path>) -> GhidraCandidates {
        GhidraCandidates {
            explicit: explicit.map(|path| ("--ghidra", path.to_owned())),
            bundle: Bundle::at("/nonexistent".into()),
            fallback: fallback.map(|path| ("$GHIDRA_INSTALL_DIR", path.to_owned())),
        }
    }

    #[test]
    fn an_installation_directory_is_recognised() {
        let directory = installation();
        let ghidra = Ghidra::find(&candidates(Some(directory.path()), None)).unwrap();
        assert_eq!(ghidra.layout, EngineLayout::InstallationDirectory);
        assert_eq!((ghidra.version.as_str(), ghidra.build.as_str()), ("12.1.2", "abc"));
        assert!(ghidra.launcher().ends_with("support/analyzeHeadless"));
    }

    #[test]
    fn an_installation_that_was_replaced_in_place_is_not_taken_for_the_installed_one() {
        let (installation, bundle) = (installation(), tempfile::tempdir().unwrap());
        let (layout, path) = (EngineLayout::InstallationDirectory, installation.path().to_owned());
        let descriptor = EngineDescriptor::new(layout, path, &properties(PROPERTIES).unwrap(), None);
        let file = bundle.path().join(crate::engine::descriptor::FILE_NAME);
        std::fs::write(file, descriptor.to_bytes().unwrap()).unwrap();
        let find = || {
            let bundle = Bundle::at(bundle.path().to_owned());
            Ghidra::find(&GhidraCandidates { explicit: None, bundle, fallback: None })
        };
        assert_eq!(find().unwrap().version, "12.1.2");
        for (was, is) in [("12.1.2", "12.1.3"), ("ghidra=abc", "ghidra=abd")] {
            let other = PROPERTIES.replace(was, is);
            std::fs::write(installation.path().join(PROPERTIES_IN_DIRECTORY), other).unwrap();
            let error = find().unwrap_err();
            assert!(matches!(&error, GhidraError::Incompatible { .. }), "{error}");
            assert!(error.to_string().contains("not the release that was installed"), "{error}");
        }
    }

    #[test]
    fn a_farm_of_links_is_refused_with_the_place_to_name_instead() {
        let (real, farm) = (installation(), tempfile::tempdir().unwrap());
        std::fs::create_dir(farm.path().join("Ghidra")).unwrap();
        let target = real.path().join(PROPERTIES_IN_DIRECTORY);
        std::os::unix::fs::symlink(&target, farm.path().join(PROPERTIES_IN_DIRECTORY)).unwrap();
        let error = Ghidra::find(&candidates(Some(farm.path()), None)).unwrap_err().to_string();
        assert!(error.contains(&target.canonicalize().unwrap().display().to_string()), "{error}");
        // A link to a whole installation is followed.
        let link = farm.path().join("link");
        std::os::unix::fs::symlink(real.path(), &link).unwrap();
        let ghidra = Ghidra::find(&candidates(Some(&link), None)).unwrap();
        assert_eq!(ghidra.path, real.path().canonicalize().unwrap());
    }

    #[test]
    fn a_wrong_explicit_engine_does_not_fall_through() {
        let good = installation();
        let error =
            Ghidra::find(&candidates(Some(Path::new("/nonexistent")), Some(good.path()))).unwrap_err();
        assert!(matches!(error, GhidraError::Missing { selected_by, .. } if selected_by == "--ghidra"));
        let empty = tempfile::tempdir().unwrap();
        let error = Ghidra::find(&candidates(Some(empty.path()), Some(good.path()))).unwrap_err();
        assert!(matches!(error, GhidraError::Incompatible { .. }));
    }

    #[test]
    fn an_engine_that_cannot_be_reached_is_not_called_missing() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        let error = Ghidra::examine(&link, "--ghidra").unwrap_err();
        assert!(matches!(&error, GhidraError::Incompatible { .. }), "{error}");
        assert!(error.to_string().contains("symbolic links"), "{error}");
        std::fs::write(directory.path().join("file"), b"").unwrap();
        let error = Ghidra::examine(&directory.path().join("file/ghidra.jar"), "--ghidra").unwrap_err();
        assert!(matches!(error, GhidraError::Missing { .. }));
    }

    #[test]
    fn a_fifo_for_a_file_is_refused_without_hanging_and_so_is_an_endless_one() {
        let directory = installation();
        let properties = directory.path().join(PROPERTIES_IN_DIRECTORY);
        std::fs::write(&properties, PROPERTIES.repeat(MAX_PROPERTIES_BYTES as usize / PROPERTIES.len() + 1))
            .unwrap();
        let refusal = |path: &Path| Ghidra::examine(path, "--ghidra").unwrap_err().to_string();
        assert!(refusal(directory.path()).contains("larger than"), "{}", refusal(directory.path()));
        std::fs::remove_file(&properties).unwrap();
        let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &properties, fifo, mode, 0).unwrap();
        assert!(refusal(directory.path()).contains("not a file"));
        assert!(refusal(&properties).contains("neither a directory nor a file"));
    }

    #[test]
    fn a_file_that_is_no_jar_is_incompatible() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Ghidra::find(&candidates(Some(file.path()), None)).unwrap_err();
        assert!(error.to_string().contains("not a ghidra.jar"), "{error}");
    }

    #[test]
    fn the_last_resort_is_the_environment() {
        let good = installation();
        let ghidra = Ghidra::find(&candidates(None, Some(good.path()))).unwrap();
        assert_eq!(ghidra.selected_by, "$GHIDRA_INSTALL_DIR");
        assert!(matches!(
            Ghidra::find(&candidates(None, None)),
            Err(GhidraError::Missing { path: None, .. })
        ));
    }
}
