//! Which files are there, and which of them can be written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Attempt;
use crate::domain::path_value::PathValue;
use crate::sandbox::paths::inside;

/// Mount points below which a worker may write. Terminals have a file system of their own that holds no data.
const WRITABLE: [&str; 7] = [
    inside::INVOCATION,
    inside::PROJECT,
    inside::FACTS,
    inside::HOME,
    inside::TEMPORARY,
    inside::SHARED_MEMORY,
    "/dev/pts",
];
/// A setting of the whole machine that names a program to run.
const MACHINE_SETTING: &str = "/proc/sys/kernel/core_pattern";

/// A hidden path may exist as a directory on the way to something granted, with nothing else in it.
pub(super) fn hidden(paths: &[PathValue]) -> Attempt {
    let mounts = mounts()?;
    let leads_to_a_mount = |path: &Path| mounts.iter().any(|mount| mount.point.starts_with(path));
    for path in paths {
        let path = path.to_path().ok_or("a hidden path cannot be read")?;
        if fs::symlink_metadata(&path).is_err() {
            continue;
        }
        let only_a_way = path.is_dir() && !mounts.iter().any(|mount| mount.is_foreign_at(&path));
        let entries = fs::read_dir(&path).map(|entries| entries.flatten().map(|entry| entry.path()));
        let Some(mut entries) = entries.ok().filter(|_| only_a_way) else {
            return Err(format!("{} is there", path.display()));
        };
        if let Some(entry) = entries.find(|entry| !leads_to_a_mount(entry)) {
            return Err(format!("{} is there", entry.display()));
        }
    }
    Ok(())
}

/// Mount flags, and for directories and files a real attempt as well.
pub(super) fn read_only() -> Attempt {
    for Mount { point, .. } in mounts()? {
        let Ok(found) = fs::metadata(&point) else { continue };
        if WRITABLE.iter().any(|writable| point == Path::new(writable)) || found.file_type().is_char_device()
        {
            continue;
        }
        let target = if found.is_dir() { point.join(".ghidr-probe") } else { point.clone() };
        let opened = OpenOptions::new().write(true).create_new(found.is_dir()).open(&target);
        let created = opened.is_ok();
        if created && found.is_dir() {
            let _ = fs::remove_file(&target);
        }
        let flags =
            rustix::fs::statvfs(&point).map_err(|error| format!("{}: {error}", point.display()))?.f_flag;
        if created || !flags.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
            return Err(format!("{} can be written", point.display()));
        }
    }
    match OpenOptions::new().write(true).open(MACHINE_SETTING) {
        Ok(_) => Err(format!("{MACHINE_SETTING} can be written")),
        Err(_) => Ok(()),
    }
}

/// They are the machine's own files. What is tried leaves them as they are: mode, group and times that they have already.
pub(super) fn devices() -> Attempt {
    for Mount { point, .. } in mounts()? {
        let path = point.as_path();
        let Some(found) = fs::metadata(path).ok().filter(|found| found.file_type().is_char_device()) else {
            continue;
        };
        let time =
            |time: io::Result<SystemTime>| time.map_err(|error| format!("{}: {error}", path.display()));
        let times =
            FileTimes::new().set_accessed(time(found.accessed())?).set_modified(time(found.modified())?);
        let attempts = [
            ("mode", fs::set_permissions(path, found.permissions())),
            ("group", chown(path, None, Some(found.gid()))),
            ("times", File::open(path).and_then(|file| file.set_times(times))),
        ];
        if let Some((what, _)) = attempts.iter().find(|(_, outcome)| outcome.is_ok()) {
            return Err(format!("the {what} of {} can be changed", path.display()));
        }
    }
    Ok(())
}

/// Rounded up to pages by the kernel.
pub(super) fn sized(sizes_bytes: &BTreeMap<String, u64>) -> Attempt {
    for Mount { point, .. } in mounts()?.into_iter().filter(|mount| mount.kind == b"tmpfs") {
        let found = rustix::fs::statvfs(&point).map_err(|error| format!("{}: {error}", point.display()))?;
        if found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
            continue;
        }
        let size = found.f_blocks.saturating_mul(found.f_frsize);
        let allowed = point.to_str().and_then(|point| sizes_bytes.get(point)).copied().unwrap_or(0);
        if size == 0 || size > allowed.next_multiple_of(rustix::param::page_size() as u64) {
            return Err(format!("{} holds {size} bytes instead of {allowed}", point.display()));
        }
    }
    Ok(())
}

struct Mount {
    point: PathBuf,
    kind: Vec<u8>,
}

impl Mount {
    /// Whether `path` is inside something that was mounted from outside.
    fn is_foreign_at(&self, path: &Path) -> bool {
        let own = ["/", "/proc", "/dev", inside::TEMPORARY, inside::SHARED_MEMORY, inside::HOME];
        path.starts_with(&self.point) && !own.iter().any(|own| self.point == Path::new(own))
    }
}

/// `ID PARENT DEVICE ROOT POINT OPTIONS FIELDS… - KIND …`
fn mounts() -> Result<Vec<Mount>, String> {
    let table = fs::read("/proc/self/mountinfo").map_err(|error| format!("the mounts: {error}"))?;
    let parse = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ');
        let point = PathBuf::from(unescape(fields.nth(4)?));
        let kind = fields.skip_while(|field| *field != b"-").nth(1)?.to_owned();
        Some(Mount { point, kind })
    };
    let lines = table.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| parse(line).ok_or_else(|| "the mounts cannot be read".to_owned())).collect()
}

/// The kernel writes a space, tab, line feed or backslash as three octal digits.
fn unescape(text: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let digits = tail
            .get(..3)
            .filter(|digits| *first == b'\\' && digits.iter().all(|digit| (b'0'..b'8').contains(digit)));
        match digits {
            Some(digits) => {
                bytes.push(
                    digits.iter().fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')),
                );
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn escapes_of_the_mount_table_are_read() {
        assert_eq!(unescape(br"/a\040b\012\134x\9").as_bytes(), b"/a b\n\\x\\9");
    }
}
