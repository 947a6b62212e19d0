//! Removing whole trees that a hostile worker may have filled.
//!
//! Bounded in stack and descriptors whatever the depth: a directory that lies too deep is
//! first moved up to the top of the tree. Never follows a link, never leaves the tree. No mode of a directory stands in the
//! way: a directory that lacks its owner's permissions gets them before it is opened or moved.

use std::ffi::OsStr;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::dir::{Dir, Entry};
use super::error::StoreError;
use super::io::{At as _, Operation};

/// Directories deeper than this are moved up before they are removed.
const MAX_DEPTH: usize = 64;
/// Passes after which somebody must still be writing; reaches a depth of four million.
const MAX_PASSES: usize = 65_536;

/// Removes everything inside `top`, which itself stays.
pub(super) fn remove_contents(top: &Dir) -> Result<(), StoreError> {
    // Best effort: what follows reports what matters.
    let _ = top.restrict();
    let mut moved = 0_u64;
    for _ in 0..MAX_PASSES {
        let entries = top.entries()?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries {
            remove_entry(top, top, &entry, 0, &mut moved)?;
        }
    }
    Err(Errno::NOTEMPTY).at(Operation::Remove, top.path())
}

/// Removes an entry of `parent` with everything inside; nothing of that name is no error.
pub(super) fn remove(parent: &Dir, name: &OsStr) -> Result<(), StoreError> {
    match parent.stat(name)? {
        None => Ok(()),
        Some(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            remove_contents(&open_for_removal(parent, name)?)?;
            parent.remove_empty_dir(name)
        }
        Some(_) => parent.remove_file(name),
    }
}

fn remove_entry(
    top: &Dir,
    parent: &Dir,
    entry: &Entry,
    depth: usize,
    moved: &mut u64,
) -> Result<(), StoreError> {
    if entry.kind != FileType::Directory {
        return parent.remove_file(&entry.name);
    }
    if depth >= MAX_DEPTH {
        return move_to_top(top, parent, &entry.name, moved);
    }
    let dir = open_for_removal(parent, &entry.name)?;
    for child in dir.entries()? {
        remove_entry(top, &dir, &child, depth + 1, moved)?;
    }
    drop(dir);
    parent.remove_empty_dir(&entry.name)
}

fn move_to_top(top: &Dir, parent: &Dir, name: &OsStr, moved: &mut u64) -> Result<(), StoreError> {
    // A directory that changes its parent is itself written to: its entry `..` is another one.
    parent.reclaim(name);
    loop {
        *moved += 1;
        if parent.rename_if_free(name, top, format!("deep-{moved}").as_ref())? {
            return Ok(());
        }
    }
}

/// Opens a directory whatever its mode: it is about to go.
fn open_for_removal(parent: &Dir, name: &OsStr) -> Result<Dir, StoreError> {
    parent.reclaim(name);
    parent.open_dir(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn links_are_removed_and_their_targets_stay() {
        let temp = tempfile::tempdir().unwrap();
        let outside = temp.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("kept"), b"x").unwrap();
        let tree = temp.path().join("tree");
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        symlink(&outside, tree.join("a/link")).unwrap();
        symlink(outside.join("kept"), tree.join("a/b/link")).unwrap();
        std::fs::write(tree.join("a/b/file"), b"x").unwrap();
        std::fs::set_permissions(tree.join("a/b"), std::fs::Permissions::from_mode(0o000)).unwrap();
        remove_contents(&Dir::open_root(&tree).unwrap().unwrap()).unwrap();
        assert_eq!(std::fs::read_dir(&tree).unwrap().count(), 0);
        assert_eq!(std::fs::read(outside.join("kept")).unwrap(), b"x");
    }

    #[test]
    fn a_chain_deeper_than_any_path_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let top = Dir::open_root(temp.path()).unwrap().unwrap();
        let name = "d".repeat(200);
        let mut dir = top.create_dir(&name).unwrap();
        for _ in 0..MAX_DEPTH * 3 {
            dir = dir.create_dir(&name).unwrap();
        }
        dir.write_new_file("leaf", b"x").unwrap();
        drop(dir);
        remove_contents(&top).unwrap();
        assert!(top.entries().unwrap().is_empty());
    }

    /// As a user whom modes bind: the tests may be run by root.
    #[test]
    fn no_mode_at_any_depth_keeps_a_tree_from_being_removed() {
        use std::os::unix::process::CommandExt as _;
        const INNER: &str = "store::tree::tests::remove_as_an_ordinary_user";
        // By its link below /proc the executable is found even where its directories are private.
        let mut command = std::process::Command::new("/proc/self/exe");
        command.args(["--exact", INNER, "--ignored"]).current_dir("/").env("TMPDIR", "/tmp");
        if rustix::process::geteuid().is_root() {
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    #[ignore = "run as an ordinary user by the test above"]
    fn remove_as_an_ordinary_user() {
        assert!(!rustix::process::geteuid().is_root());
        for mode in [0o500, 0o300, 0o000] {
            let temp = tempfile::tempdir().unwrap();
            let top = Dir::open_root(temp.path()).unwrap().unwrap();
            let mut chain = vec![top.reopen().unwrap()];
            for _ in 0..MAX_DEPTH * 2 + 3 {
                let next = chain.last().unwrap().create_dir("d").unwrap();
                next.write_new_file("leaf", b"x").unwrap();
                chain.push(next);
            }
            for dir in chain.into_iter().rev() {
                rustix::fs::fchmod(&dir, rustix::fs::Mode::from_raw_mode(mode)).unwrap();
            }
            remove_contents(&top).unwrap();
            assert!(top.entries().unwrap().is_empty(), "{mode:o}");
        }
    }
}
