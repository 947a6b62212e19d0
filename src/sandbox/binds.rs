//! The host's part of what a sandboxed worker sees: system libraries, fonts and the JDK, all read-only.
//!
//! Lists come from what exists here. Libraries and fonts keep their own names because loaders and fontconfig have these
//! names compiled in; without fontconfig and a font Ghidra's analyses are silently poorer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::SandboxError;
use super::grants::WorkerGrants;
use super::java_links;

const LIBRARIES: [&str; 6] = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64"];
const LINKER_CACHE: &str = "/etc/ld.so.cache";
const FONT_CONFIGURATION: &str = "/etc/fonts";
const FONTS: [&str; 4] =
    [FONT_CONFIGURATION, "/usr/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig"];

/// One step of building the worker's file tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bind {
    /// Shows a host path read-only under its own name.
    SameName(PathBuf),
    /// Shows a host path read-only under another name.
    OtherName { from: PathBuf, to: PathBuf },
    /// Makes the same symbolic link as on the host.
    Symlink { path: PathBuf, text: PathBuf },
}

/// System libraries, fonts, closure and the JDK at `java_home` (resolved), in the order they must be made. Fonts that are
/// granted replace the system's.
pub(super) fn host(java_home: &Path, grants: &WorkerGrants) -> Result<Vec<Bind>, SandboxError> {
    let mut binds = Vec::new();
    for library in LIBRARIES.map(Path::new) {
        if let Ok(text) = fs::read_link(library) {
            binds.push(Bind::Symlink { path: library.to_owned(), text });
        } else if library.is_dir() {
            binds.push(Bind::SameName(library.to_owned()));
        }
    }
    let system_fonts = FONTS.iter().copied().filter(|_| grants.fonts.is_none());
    let files =
        std::iter::once(LINKER_CACHE).chain(system_fonts).map(PathBuf::from).filter(|path| path.exists());
    binds.extend(files.map(Bind::SameName));
    let fonts = grants.fonts.iter().cloned();
    binds.extend(fonts.map(|from| Bind::OtherName { from, to: FONT_CONFIGURATION.into() }));
    binds.extend(grants.closure.iter().cloned().map(Bind::SameName));
    let java = std::iter::once(java_home.to_owned()).chain(java_links::targets(java_home)?);
    let visible: BTreeSet<PathBuf> = binds.iter().map(Bind::path).map(Path::to_owned).collect();
    let hidden = java.filter(|path| !path.ancestors().any(|ancestor| visible.contains(ancestor)));
    binds.extend(hidden.map(Bind::SameName));
    Ok(binds)
}

impl Bind {
    fn path(&self) -> &Path {
        match self {
            Self::SameName(path) | Self::OtherName { to: path, .. } | Self::Symlink { path, .. } => path,
        }
    }
}
