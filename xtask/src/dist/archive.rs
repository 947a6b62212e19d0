//! A tar archive whose bytes depend on the content alone, made with GNU tar and gzip.

use std::path::Path;
use std::process::Command;

use crate::error::TaskError;
use crate::{command, files};

/// What makes the archive of equal trees equal: order, owner, time, format, and no name or time in the gzip header.
const REPRODUCIBLE: [&str; 8] = [
    "--create",
    "--format=gnu",
    "--sort=name",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mtime=2020-01-01 00:00:00Z",
    "--use-compress-program=gzip -n",
];

/// Packs the directory `name` of `parent`; `archive` gets its name only when it is whole.
pub fn write(parent: &Path, name: &str, archive: &Path) -> Result<(), TaskError> {
    let unfinished = files::sibling(archive, "new");
    files::remove(&unfinished)?;
    let mut tar = Command::new("tar");
    tar.env_remove("TAR_OPTIONS").env_remove("GZIP").env("LC_ALL", "C").args(REPRODUCIBLE);
    command::run(tar.arg("--directory").arg(parent).arg("--file").arg(&unfinished).arg("--").arg(name))?;
    files::sync_file(&unfinished)?;
    files::publish_path(&unfinished, archive)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::{Duration, SystemTime};

    /// The same files, made in another order, at another time and under another umask-independent place.
    fn tree(root: &Path, names: [&str; 3], age_seconds: u64) {
        for name in names {
            let path = root.join("x").join(name);
            files::create_public_directory(path.parent().unwrap()).unwrap();
            files::publish(&path, name.as_bytes()).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age_seconds);
            fs::File::open(&path).unwrap().set_modified(time).unwrap();
        }
    }

    #[test]
    fn equal_trees_give_equal_archives_whenever_and_wherever_they_were_made() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        tree(first.path(), ["b", "a/c", "a/B"], 0);
        tree(second.path(), ["a/B", "b", "a/c"], 86_400);
        let archives = [&first, &second].map(|root| {
            let archive = root.path().join("x.tar.gz");
            write(root.path(), "x", &archive).unwrap();
            fs::read(archive).unwrap()
        });
        assert!(archives[0] == archives[1] && archives[0].len() > 50);
        files::publish(&second.path().join("x/b"), b"B").unwrap();
        let changed = second.path().join("changed.tar.gz");
        write(second.path(), "x", &changed).unwrap();
        assert!(fs::read(changed).unwrap() != archives[0], "a changed byte changes the archive");
    }
}
