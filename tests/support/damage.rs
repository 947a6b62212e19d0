//! What can happen to one entry of a file tree while nobody looks.

use std::fmt;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::random::Random;

/// One change of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// One bit of the byte at this offset is inverted.
    Flip { offset: u64, bit: u8 },
    /// Cut to this length.
    Truncate(u64),
    /// One byte more.
    Extend,
    /// Gone, with everything below it.
    Remove,
    /// A link to the same content elsewhere.
    Link,
    /// A FIFO that nobody writes to.
    Fifo,
    /// A directory where a file was, or a file where a directory was.
    OtherKind,
}

impl Damage {
    /// Every kind for the entry at `path`, with `flips` bytes of a file chosen at random besides its first and last.
    pub fn of(path: &Path, flips: usize, random: &mut Random) -> Vec<Self> {
        let mut all = vec![Self::Remove, Self::Link, Self::Fifo, Self::OtherKind];
        let metadata = fs::symlink_metadata(path).unwrap();
        if !metadata.is_file() {
            return all;
        }
        all.push(Self::Extend);
        let length = metadata.len();
        if length == 0 {
            return all;
        }
        all.extend([0, length / 2, length - 1].map(Self::Truncate));
        let mut offsets = vec![0, length - 1];
        offsets.extend((0..flips).map(|_| random.below(length)));
        offsets.sort_unstable();
        offsets.dedup();
        for offset in offsets {
            all.push(Self::Flip { offset, bit: u8::try_from(random.below(8)).unwrap() });
        }
        all
    }

    /// Does it. `aside` is an unused path outside the tree.
    pub fn apply(self, path: &Path, aside: &Path) {
        match self {
            Self::Flip { offset, bit } => {
                let mut bytes = fs::read(path).unwrap();
                bytes[usize::try_from(offset).unwrap()] ^= 1 << bit;
                fs::write(path, bytes).unwrap();
            }
            Self::Truncate(length) => {
                fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
            }
            Self::Extend => {
                let mut bytes = fs::read(path).unwrap();
                bytes.push(b'\n');
                fs::write(path, bytes).unwrap();
            }
            Self::Remove => remove(path),
            Self::Link => {
                fs::rename(path, aside).unwrap();
                symlink(aside, path).unwrap();
            }
            Self::Fifo => {
                remove(path);
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }
            Self::OtherKind => {
                let is_directory = path.is_dir();
                remove(path);
                if is_directory { fs::write(path, b"").unwrap() } else { fs::create_dir(path).unwrap() }
            }
        }
    }

    /// The kind alone, for counting.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Flip { .. } => "flipped",
            Self::Truncate(_) => "truncated",
            Self::Extend => "extended",
            Self::Remove => "removed",
            Self::Link => "replaced by a link",
            Self::Fifo => "replaced by a FIFO",
            Self::OtherKind => "replaced by a directory or file",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flip { offset, bit } => write!(formatter, "flipped at {offset} bit {bit}"),
            Self::Truncate(length) => write!(formatter, "truncated to {length}"),
            other => formatter.write_str(other.kind()),
        }
    }
}

/// Removes an entry of any kind.
pub fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}

/// Every entry below `root` as a path relative to it, directories before what they hold.
pub fn entries_below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root, root, &mut found);
    found.sort();
    found
}

fn collect(root: &Path, directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.strip_prefix(root).unwrap().to_owned());
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            collect(root, &path, found);
        }
    }
}

/// Copies a tree of directories and regular files with their modes.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
