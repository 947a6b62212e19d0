//! A second installation of what the tests run, made of hard links, so that it can lie at any path,
//! lack a file, or belong to everybody, for the price of its directory entries.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// An installation in a directory of its own beside the built one.
pub struct Installed {
    directory: PathBuf,
    prefix: PathBuf,
}

impl Installed {
    /// At a path whose last part is `name`, below the build directory, where hard links work.
    pub fn at(name: impl AsRef<Path>) -> Self {
        let built = Path::new(env!("CARGO_BIN_EXE_ghidr")).canonicalize().unwrap();
        let target = built.parent().unwrap().parent().unwrap();
        let directory = tempfile::Builder::new().prefix("installed-").tempdir_in(target).unwrap().keep();
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
        let prefix = directory.join(name);
        std::fs::create_dir_all(prefix.join("bin")).unwrap();
        std::fs::hard_link(&built, prefix.join("bin/ghidr")).unwrap();
        link_tree(&target.join("lib/ghidr"), &prefix.join("lib/ghidr"));
        Self { directory, prefix }
    }

    /// Its executable.
    pub fn executable(&self) -> PathBuf {
        self.prefix.join("bin/ghidr")
    }

    /// Its `lib/ghidr`.
    pub fn bundle(&self) -> PathBuf {
        self.prefix.join("lib/ghidr")
    }

    /// Adds a program or a file to it, and says where.
    pub fn add(&self, file: &str, text: &str) -> PathBuf {
        let path = self.bundle().join(file);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Takes a file away from it; the built one keeps its own.
    pub fn remove(&self, file: &str) {
        std::fs::remove_file(self.bundle().join(file)).unwrap();
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn link_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            link_tree(&entry.path(), &target);
        } else if std::fs::hard_link(entry.path(), &target).is_err() {
            // What set-up only links to, in another file system.
            std::os::unix::fs::symlink(entry.path().canonicalize().unwrap(), &target).unwrap();
        }
    }
}
