//! Where the Analysis Store is: the fixed precedence of the PRD with decision D12.
//!
//! Pure: looks at strings only. An explicit value that is wrong is an error, never a
//! fall-through; the working directory is never chosen.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::ghidra_path::{self, GhidraPathViolation};
use crate::domain::path_value::PathValue;
use crate::domain::sandbox_mode::SandboxMode;
use crate::domain::store_source::StoreSource;

/// Name of the store below `$XDG_CACHE_HOME`.
const XDG_DIRECTORY: &str = "ghidr";
/// Name of the store below the home directory.
const HOME_DIRECTORY: &str = "ghidr-store";

/// The environment variables that locate the store, as the process received them.
#[derive(Debug, Clone, Default)]
pub struct StoreEnvironment {
    /// `$GHIDR_STORE`.
    pub ghidr_store: Option<OsString>,
    /// `$XDG_CACHE_HOME`.
    pub xdg_cache_home: Option<OsString>,
    /// `$HOME`.
    pub home: Option<OsString>,
}

/// Why a store path cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPathReason {
    /// Not an absolute path.
    #[error("it is not absolute")]
    NotAbsolute,
    /// Not UTF-8, which the Java boundary requires.
    #[error("it is not valid UTF-8")]
    NotUtf8,
    /// Ghidra itself would see the path and refuse it.
    #[error("{0}; without the bubblewrap sandbox Ghidra sees this path")]
    Ghidra(GhidraPathViolation),
}

/// A resolved store path and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreLocation {
    /// Absolute UTF-8 path, without redundant separators.
    pub path: PathBuf,
    /// The rule that selected it.
    pub source: StoreSource,
}

impl StoreLocation {
    /// Applies the precedence `--store`, `$GHIDR_STORE`, `$XDG_CACHE_HOME/ghidr`,
    /// `~/ghidr-store`.
    pub fn resolve(
        cli: Option<&OsStr>,
        environment: &StoreEnvironment,
        mode: SandboxMode,
    ) -> Result<Self, StoreError> {
        if let Some(path) = cli {
            return Self::checked(Path::new(path), StoreSource::Cli, mode);
        }
        if let Some(path) = &environment.ghidr_store {
            return Self::checked(Path::new(path), StoreSource::Environment, mode);
        }
        if let Some(path) = environment.xdg_cache_home.as_deref().and_then(usable_xdg_path) {
            return Ok(Self { path, source: StoreSource::Xdg });
        }
        let home = match environment.home.as_deref() {
            None => return Err(StoreError::NoLocation { reason: "unset" }),
            Some(home) => Path::new(home),
        };
        if !home.is_absolute() {
            return Err(StoreError::NoLocation { reason: "not an absolute path" });
        }
        Self::checked(&home.join(HOME_DIRECTORY), StoreSource::HomeFallback, mode)
    }

    fn checked(path: &Path, source: StoreSource, mode: SandboxMode) -> Result<Self, StoreError> {
        match violation(path, mode) {
            Some(reason) => {
                Err(StoreError::InvalidPath { path: PathValue::from(path), selected_by: source, reason })
            }
            None => Ok(Self { path: tidy(path), source }),
        }
    }
}

fn violation(path: &Path, mode: SandboxMode) -> Option<InvalidPathReason> {
    if !path.is_absolute() {
        return Some(InvalidPathReason::NotAbsolute);
    }
    let Some(text) = path.to_str() else { return Some(InvalidPathReason::NotUtf8) };
    match mode {
        SandboxMode::Bubblewrap => None,
        SandboxMode::External | SandboxMode::Off => {
            ghidra_path::violation(text).map(InvalidPathReason::Ghidra)
        }
    }
}

/// The XDG path when it passes Ghidra's rules in every mode, so that neither the mode nor
/// the engine moves the store.
fn usable_xdg_path(base: &OsStr) -> Option<PathBuf> {
    let path = Path::new(base).join(XDG_DIRECTORY);
    let strictest = SandboxMode::Off;
    violation(&path, strictest).is_none().then(|| tidy(&path))
}

/// Drops repeated and trailing separators and `.` components; keeps `..`, whose meaning
/// depends on links.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    const MODES: [SandboxMode; 3] = [SandboxMode::Bubblewrap, SandboxMode::External, SandboxMode::Off];

    fn environment(store: Option<&str>, xdg: Option<&str>, home: Option<&str>) -> StoreEnvironment {
        StoreEnvironment {
            ghidr_store: store.map(Into::into),
            xdg_cache_home: xdg.map(Into::into),
            home: home.map(Into::into),
        }
    }

    fn resolve(cli: Option<&str>, environment: &StoreEnvironment) -> (PathBuf, StoreSource) {
        let location =
            StoreLocation::resolve(cli.map(OsStr::new), environment, SandboxMode::Bubblewrap).unwrap();
        (location.path, location.source)
    }

    #[test]
    fn precedence_is_cli_environment_xdg_home() {
        let all = environment(Some("/e"), Some("/x"), Some("/h"));
        assert_eq!(resolve(Some("/c//d/"), &all), ("/c/d".into(), StoreSource::Cli));
        assert_eq!(resolve(None, &all), ("/e".into(), StoreSource::Environment));
        let xdg = environment(None, Some("/x"), Some("/h"));
        assert_eq!(resolve(None, &xdg), ("/x/ghidr".into(), StoreSource::Xdg));
        let home = environment(None, None, Some("/h"));
        assert_eq!(resolve(None, &home), ("/h/ghidr-store".into(), StoreSource::HomeFallback));
    }

    #[test]
    fn xdg_that_ghidra_would_refuse_is_skipped_in_every_mode() {
        for mode in MODES {
            for xdg in ["/h/.cache", "relative", "", "/a,b"] {
                let location =
                    StoreLocation::resolve(None, &environment(None, Some(xdg), Some("/h")), mode).unwrap();
                assert_eq!(location.source, StoreSource::HomeFallback, "{xdg} {mode:?}");
            }
        }
    }

    #[test]
    fn a_wrong_explicit_path_is_an_error_and_never_falls_through() {
        let home = environment(None, Some("/x"), Some("/h"));
        for text in ["", "relative", "./x"] {
            for (cli, environment) in [
                (Some(OsStr::new(text)), home.clone()),
                (None, environment(Some(text), Some("/x"), Some("/h"))),
            ] {
                let error = StoreLocation::resolve(cli, &environment, SandboxMode::Bubblewrap).unwrap_err();
                assert!(matches!(
                    error,
                    StoreError::InvalidPath { reason: InvalidPathReason::NotAbsolute, .. }
                ));
            }
        }
    }

    #[test]
    fn a_non_utf8_store_keeps_its_exact_bytes_in_the_error() {
        let path = OsString::from_vec(b"/s\xff".to_vec());
        let error =
            StoreLocation::resolve(Some(&path), &StoreEnvironment::default(), SandboxMode::Bubblewrap)
                .unwrap_err();
        let StoreError::InvalidPath { path: value, reason, .. } = error else { unreachable!() };
        assert_eq!(value.to_path().unwrap().as_os_str(), path);
        assert_eq!(reason, InvalidPathReason::NotUtf8);
    }

    #[test]
    fn ghidra_path_rules_bind_explicit_stores_and_home_only_outside_bubblewrap() {
        for (cli, home) in [(Some("/h/.hidden"), "/h"), (None, "/h/.hidden")] {
            let environment = environment(None, None, Some(home));
            let at = |mode| StoreLocation::resolve(cli.map(OsStr::new), &environment, mode);
            assert!(at(SandboxMode::Bubblewrap).is_ok());
            for mode in [SandboxMode::External, SandboxMode::Off] {
                assert!(matches!(
                    at(mode),
                    Err(StoreError::InvalidPath { reason: InvalidPathReason::Ghidra(_), .. })
                ));
            }
        }
    }

    #[test]
    fn a_missing_or_relative_home_is_a_typed_error() {
        for home in [None, Some(""), Some("home")] {
            let error = StoreLocation::resolve(None, &environment(None, None, home), SandboxMode::Bubblewrap)
                .unwrap_err();
            assert!(matches!(error, StoreError::NoLocation { .. }), "{home:?}");
        }
    }
}
