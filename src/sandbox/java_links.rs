//! Finds what a JDK's symbolic links lead to outside of it.
//!
//! Distributions keep parts of a JDK elsewhere (Debian its configuration below `/etc`, with certificates in yet another
//! place). No distribution is listed: every link in the parts of the JDK that are read at run time is followed, and links
//! found behind links as well. A dangling link is left dangling.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::error::SandboxError;

/// Documentation, headers and sources are never read at run time, and their links lead to documentation trees.
const RUNTIME_PARTS: [&str; 5] = ["bin", "conf", "jmods", "lib", "release"];
/// No known JDK has a tenth of this.
const MAX_ENTRIES: usize = 20_000;

/// Absolute paths outside `java_home` that its links name, to be shown under the same name; `java_home` is resolved.
pub(super) fn targets(java_home: &Path) -> Result<BTreeSet<PathBuf>, SandboxError> {
    let mut search = Search { java_home, targets: BTreeSet::new(), entries: 0 };
    for part in RUNTIME_PARTS {
        search.visit(&java_home.join(part))?;
    }
    Ok(search.targets)
}

struct Search<'j> {
    java_home: &'j Path,
    targets: BTreeSet<PathBuf>,
    entries: usize,
}

impl Search<'_> {
    fn visit(&mut self, path: &Path) -> Result<(), SandboxError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(SandboxError::JavaTooLarge { java_home: self.java_home.to_owned() });
        }
        let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
        if metadata.is_symlink() {
            self.follow(path)
        } else if metadata.is_dir() {
            self.descend(path)
        } else {
            Ok(())
        }
    }

    fn descend(&mut self, directory: &Path) -> Result<(), SandboxError> {
        let failed = |source| SandboxError::Grant { path: directory.to_owned(), source };
        for entry in fs::read_dir(directory).map_err(failed)? {
            self.visit(&entry.map_err(failed)?.path())?;
        }
        Ok(())
    }

    fn follow(&mut self, link: &Path) -> Result<(), SandboxError> {
        let Ok(text) = fs::read_link(link) else { return Ok(()) };
        let target = normal(&link.parent().unwrap_or(Path::new("/")).join(text));
        if target.starts_with(self.java_home) || !target.exists() || self.targets.contains(&target) {
            return Ok(());
        }
        let resolved = target.canonicalize().unwrap_or_else(|_| target.clone());
        if resolved.is_dir()
            && (is_broad(&resolved) || is_broad(&target) || self.java_home.starts_with(&resolved))
        {
            return Err(SandboxError::JavaLinkTooBroad { link: link.to_owned(), target });
        }
        self.targets.insert(target);
        // The target is shown as what it resolves to, so only links further inside can lead elsewhere.
        if resolved.is_dir() { self.descend(&resolved) } else { Ok(()) }
    }
}

/// `/` and its direct children hold far more than a part of a JDK.
fn is_broad(directory: &Path) -> bool {
    directory.components().filter(|part| matches!(part, Component::Normal(_))).count() < 2
}

/// Removes `.` and `..`; right for a link whose own directory is resolved, unless it climbs through another link.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Jdk {
        root: tempfile::TempDir,
        home: PathBuf,
        etc: PathBuf,
    }

    fn jdk() -> Jdk {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (home, etc) = (base.join("jdk"), base.join("etc"));
        fs::create_dir_all(home.join("conf")).unwrap();
        fs::create_dir_all(home.join("lib")).unwrap();
        fs::create_dir_all(&etc).unwrap();
        Jdk { root, home, etc }
    }

    #[test]
    fn links_to_files_and_links_behind_directory_links_are_found() {
        let jdk = jdk();
        fs::write(jdk.etc.join("security"), "x").unwrap();
        fs::create_dir(jdk.etc.join("jfr")).unwrap();
        fs::write(jdk.root.path().join("certificates"), "x").unwrap();
        symlink("../../certificates", jdk.etc.join("jfr/cacerts")).unwrap();
        symlink(jdk.etc.join("security"), jdk.home.join("conf/security")).unwrap();
        symlink("../../etc/jfr", jdk.home.join("lib/jfr")).unwrap();
        symlink("inside", jdk.home.join("lib/link")).unwrap();
        symlink("/nonexistent/src.zip", jdk.home.join("lib/src.zip")).unwrap();
        let base = jdk.root.path().canonicalize().unwrap();
        let expected = [base.join("certificates"), jdk.etc.join("jfr"), jdk.etc.join("security")];
        assert_eq!(targets(&jdk.home).unwrap(), expected.into());
    }

    #[test]
    fn documentation_links_are_not_followed() {
        let jdk = jdk();
        symlink("/", jdk.home.join("docs")).unwrap();
        assert_eq!(targets(&jdk.home).unwrap(), BTreeSet::new());
    }

    #[test]
    fn a_link_to_a_general_directory_or_around_itself_is_refused() {
        for target in ["/", "/etc", "/usr/..", "../.."] {
            let jdk = jdk();
            symlink(target, jdk.home.join("lib/everything")).unwrap();
            let error = targets(&jdk.home).unwrap_err();
            assert!(matches!(error, SandboxError::JavaLinkTooBroad { .. }), "{target}: {error}");
        }
    }
}
