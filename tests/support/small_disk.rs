//! A file system of a given size that really runs full: a tmpfs in a mount namespace of its own.
//!
//! A process holds the namespace. Other processes of the test enter it through the path of that
//! process's root; commands that mount something themselves have to be started inside.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What a disk has been filled up with.
const FILLER: &str = "filler";

/// The disk; gone when dropped.
pub struct SmallDisk {
    holder: Child,
    mount_point: tempfile::TempDir,
    namespaces: &'static [&'static str],
}

impl SmallDisk {
    /// An empty disk of this size with room for so many files and directories.
    pub fn new(kibibytes: u64, inodes: u64) -> Self {
        let mount_point = tempfile::Builder::new().prefix("ghidr-disk-").tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let (unshare, namespaces): (&[&str], &'static [&'static str]) = if is_root {
            (&["--mount"], &["--mount"])
        } else {
            (&["--mount", "--map-root-user"], &["--mount", "--user", "--preserve-credentials"])
        };
        let script = "mount -t tmpfs -o size=\"$1\"k,nr_inodes=\"$2\",mode=0700 ghidr-disk \"$3\" && echo ready && read end";
        let mut holder = Command::new("unshare")
            .args(unshare)
            .args(["sh", "-c", script, "sh", &kibibytes.to_string(), &inodes.to_string()])
            .arg(mount_point.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare of util-linux");
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "the disk could not be mounted");
        Self { holder, mount_point, namespaces }
    }

    /// Its root as a command inside sees it.
    pub fn inside(&self) -> &Path {
        self.mount_point.path()
    }

    /// Its root as this process sees it.
    pub fn outside(&self) -> PathBuf {
        let inside = self.mount_point.path().strip_prefix("/").unwrap();
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(inside)
    }

    /// The command inside the namespace.
    pub fn enter(&self, command: &Command) -> Command {
        let mut entered = Command::new("nsenter");
        entered.args(["--target", &self.holder.id().to_string()]).args(self.namespaces).arg("--");
        entered.arg(command.get_program()).args(command.get_args()).env_clear().stdin(Stdio::null());
        entered.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        entered
    }

    /// Fills the disk until so many bytes and files can still be made.
    pub fn leave(&self, bytes: u64, files: u64) {
        self.free();
        let directory = self.outside().join(FILLER);
        std::fs::create_dir(&directory).unwrap();
        let bulk = std::fs::File::create(directory.join("bulk")).unwrap();
        let space = || rustix::fs::fstatvfs(&bulk).unwrap();
        for number in files..space().f_favail {
            std::fs::File::create(directory.join(number.to_string())).unwrap();
        }
        let available = space().f_bavail * space().f_frsize;
        if let Some(surplus) = available.checked_sub(bytes).filter(|surplus| *surplus > 0) {
            rustix::fs::fallocate(&bulk, rustix::fs::FallocateFlags::empty(), 0, surplus).unwrap();
        }
    }

    /// Removes what [`Self::leave`] filled it up with.
    pub fn free(&self) {
        let directory = self.outside().join(FILLER);
        if directory.exists() {
            std::fs::remove_dir_all(directory).unwrap();
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
