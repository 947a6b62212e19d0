//! Finds the Java runtime and refuses one that would silently give a poorer Analysis.
//!
//! First match wins: `--java-home`, `$GHIDR_JAVA_HOME`, the bundle, `$JAVA_HOME`. An explicit
//! value that is wrong is an error, never a fall-through.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::application_properties::JavaRange;
use super::is_absent;
use crate::domain::error::{describe_missing, describe_rule};
use crate::domain::path_value::PathValue;

/// Most bytes of a JDK's release file; its own is about two thousand.
const MAX_RELEASE_BYTES: u64 = 65_536;

/// Where a Java runtime may come from, best first.
#[derive(Debug, Clone, Default)]
pub struct JavaCandidates {
    /// Each candidate with the name of the rule that gives it.
    pub homes: Vec<(&'static str, PathBuf)>,
}

/// A usable full JDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaRuntime {
    /// Its home, without symbolic links.
    pub home: PathBuf,
    /// Feature version, such as 17.
    pub feature_version: u32,
    /// The rule that selected it.
    pub selected_by: &'static str,
}

/// Why no Java runtime can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JavaError {
    /// None was configured, or the configured one does not exist.
    #[error("{}", describe_missing("JDK", path.as_deref().map(PathValue::from).as_ref(), selected_by, &format!("looked at {selected_by}")))]
    Missing {
        /// Where one was expected.
        path: Option<PathBuf>,
        /// The rule, or the rules tried.
        selected_by: String,
    },
    /// It exists but cannot serve.
    #[error("the JDK at {}, which {} names, cannot be used: {reason}", path.display(), describe_rule(selected_by))]
    Incompatible {
        /// Its home.
        path: PathBuf,
        /// The rule that selected it.
        selected_by: &'static str,
        /// Its feature version, when known.
        feature_version: Option<u32>,
        /// What is wrong.
        reason: String,
    },
}

impl JavaRuntime {
    /// Takes the first candidate and checks it against the engine's accepted range.
    pub fn find(candidates: &JavaCandidates, accepted: Option<JavaRange>) -> Result<Self, JavaError> {
        let Some((selected_by, home)) = candidates.homes.first() else {
            let rules = "--java-home, $GHIDR_JAVA_HOME, the bundle, $JAVA_HOME";
            return Err(JavaError::Missing { path: None, selected_by: rules.to_owned() });
        };
        let runtime = Self::examine(home, selected_by)?;
        match accepted {
            Some(range) if !range.accepts(runtime.feature_version) => Err(JavaError::Incompatible {
                path: runtime.home,
                selected_by,
                feature_version: Some(runtime.feature_version),
                reason: format!("the engine needs {range}, this is Java {}", runtime.feature_version),
            }),
            _ => Ok(runtime),
        }
    }

    /// Examines the JDK at `home`.
    pub fn examine(home: &Path, selected_by: &'static str) -> Result<Self, JavaError> {
        let incompatible = |feature_version, reason: &str| JavaError::Incompatible {
            path: home.to_owned(),
            selected_by,
            feature_version,
            reason: reason.to_owned(),
        };
        let home = home.canonicalize().map_err(|error| match error {
            error if is_absent(&error) => {
                JavaError::Missing { path: Some(home.to_owned()), selected_by: selected_by.to_owned() }
            }
            error => incompatible(None, &error.to_string()),
        })?;
        // Java finds its own libraries through lists of paths that it splits at colons.
        if home.as_os_str().as_encoded_bytes().contains(&b':') {
            return Err(incompatible(None, "Java cannot run from a path with a colon"));
        }
        let release = read_release(&home.join("release")).ok_or_else(|| {
            incompatible(None, "it has no readable release file, as the directory of a JDK has one")
        })?;
        let feature_version = release_value(&release, "JAVA_VERSION")
            .and_then(feature_version)
            .ok_or_else(|| incompatible(None, "its release file names no JAVA_VERSION"))?;
        // Ghidra's Windows resource analyzer compiles a script; on a bare runtime that step
        // does nothing and says nothing.
        let modules = release_value(&release, "MODULES").unwrap_or_default();
        let has_compiler = modules.split(' ').any(|module| module == "jdk.compiler");
        if !has_compiler || !home.join("bin/javac").exists() {
            let reason = "it is not a full JDK: the compiler (jdk.compiler, bin/javac) is missing";
            return Err(incompatible(Some(feature_version), reason));
        }
        if !home.join("lib/server/libjvm.so").is_file() {
            return Err(incompatible(Some(feature_version), "it has no lib/server/libjvm.so"));
        }
        Ok(Self { home, feature_version, selected_by })
    }

    /// Its `java` executable.
    pub fn executable(&self) -> PathBuf {
        self.home.join("bin/java")
    }
}

/// The text of a regular file of bounded size.
fn read_release(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let mut text = String::new();
    let count = std::fs::File::open(path).ok()?.take(MAX_RELEASE_BYTES + 1).read_to_string(&mut text).ok()?;
    (count as u64 <= MAX_RELEASE_BYTES).then_some(text)
}

fn release_value<'text>(release: &'text str, name: &str) -> Option<&'text str> {
    release.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.trim().trim_matches('"'))
    })
}

fn feature_version(version: &str) -> Option<u32> {
    let mut parts = version.split(['.', '-', '+', '_']);
    match parts.next()?.parse().ok()? {
        1 => parts.next()?.parse().ok(),
        feature => Some(feature),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn jdk(version: &str, modules: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("bin")).unwrap();
        std::fs::create_dir_all(home.path().join("lib/server")).unwrap();
        std::fs::write(home.path().join("bin/javac"), "").unwrap();
        std::fs::write(home.path().join("lib/server/libjvm.so"), "").unwrap();
        let release = format!("JAVA_VERSION=\"{version}\"\nMODULES=\"{modules}\"\n");
        std::fs::write(home.path().join("release"), release).unwrap();
        home
    }

    fn find(home: &Path) -> Result<JavaRuntime, JavaError> {
        let candidates = JavaCandidates { homes: vec![("--java-home", home.to_owned())] };
        JavaRuntime::find(&candidates, Some(JavaRange { minimum: 17, maximum: Some(21) }))
    }

    fn reason(result: Result<JavaRuntime, JavaError>) -> String {
        match result {
            Err(JavaError::Incompatible { reason, .. }) => reason,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_full_jdk_inside_the_range_is_found() {
        let home = jdk("17.0.15", "java.base jdk.compiler");
        assert_eq!(find(home.path()).unwrap().feature_version, 17);
    }

    #[test]
    fn a_bare_runtime_an_old_one_and_one_without_libjvm_are_refused() {
        assert!(reason(find(jdk("17.0.1", "java.base").path())).contains("not a full JDK"));
        assert!(reason(find(jdk("1.8.0_392", "java.base jdk.compiler").path())).contains("this is Java 8"));
        assert!(reason(find(jdk("22", "jdk.compiler").path())).contains("Java 17 to 21"));
        let home = jdk("17", "jdk.compiler");
        std::fs::remove_file(home.path().join("lib/server/libjvm.so")).unwrap();
        assert!(reason(find(home.path())).contains("libjvm.so"));
        let home = jdk("17", "jdk.compiler");
        std::fs::remove_file(home.path().join("bin/javac")).unwrap();
        assert!(reason(find(home.path())).contains("not a full JDK"));
    }

    #[test]
    fn a_fifo_for_a_release_file_is_refused_without_hanging_and_so_is_an_endless_one() {
        let home = jdk("17", "jdk.compiler");
        let release = home.path().join("release");
        let text = std::fs::read_to_string(&release).unwrap();
        std::fs::write(&release, text + &"\n".repeat(MAX_RELEASE_BYTES as usize)).unwrap();
        assert!(reason(find(home.path())).contains("no readable release file"));
        std::fs::remove_file(&release).unwrap();
        let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &release, fifo, mode, 0).unwrap();
        assert!(reason(find(home.path())).contains("no readable release file"));
    }

    #[test]
    fn a_jdk_at_a_path_with_a_colon_is_refused() {
        let home = jdk("17", "jdk.compiler");
        let parent = tempfile::tempdir().unwrap();
        let odd = parent.path().join("a:b");
        std::fs::rename(home.path(), &odd).unwrap();
        assert!(reason(find(&odd)).contains("colon"));
    }

    #[test]
    fn an_explicit_home_that_is_wrong_does_not_fall_through() {
        let good = jdk("17", "jdk.compiler");
        let candidates = JavaCandidates {
            homes: vec![("--java-home", "/nonexistent".into()), ("$JAVA_HOME", good.path().into())],
        };
        assert_eq!(
            JavaRuntime::find(&candidates, None),
            Err(JavaError::Missing { path: Some("/nonexistent".into()), selected_by: "--java-home".into() })
        );
    }
}
