//! What a crashed Java virtual machine leaves behind: its error file, a bounded part of which joins the Diagnostic Log.
//!
//! The worker writes the file where it may write anything, so it can be a link, a device or endless. Only a regular file is
//! read, and only its beginning, which is where the cause is.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::domain::digest::ContentDigest;
use crate::domain::invocation_files::CRASH_REPORT;
use crate::store::{CapturedSegment, CapturedStream, Staging};

/// Several times what any known virtual machine writes.
const MAX_BYTES: u64 = 1 << 20;

/// The report, copied beside the captured streams; `None` when there is none that can be read.
pub fn capture(staging: &Staging) -> Option<CapturedStream> {
    capture_from(&staging.invocation_directory(), &staging.logs_directory())
}

fn capture_from(invocation: &Path, logs: &Path) -> Option<CapturedStream> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = File::from(rustix::fs::open(invocation.join(CRASH_REPORT), flags, Mode::empty()).ok()?);
    let found = source.metadata().ok()?;
    if !found.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    source.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let path = logs.join(CRASH_REPORT);
    File::create_new(&path).and_then(|mut copy| copy.write_all(&bytes)).ok()?;
    let length = bytes.len() as u64;
    Some(CapturedStream {
        observed_bytes: found.len().max(length),
        truncated: found.len() > length,
        segments: vec![CapturedSegment { offset: 0, length, path, sha256: ContentDigest::of(&bytes) }],
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_kept_up_to_its_bound_and_only_from_a_regular_file() {
        let directory = tempfile::tempdir().unwrap();
        let (invocation, logs) = (directory.path().join("invocation"), directory.path().join("logs"));
        std::fs::create_dir(&invocation).unwrap();
        std::fs::create_dir(&logs).unwrap();
        let capture = || {
            let _ = std::fs::remove_file(logs.join(CRASH_REPORT));
            capture_from(&invocation, &logs)
        };
        assert_eq!(capture(), None);
        let file = invocation.join(CRASH_REPORT);
        std::fs::write(&file, "# SIGSEGV").unwrap();
        let report = capture().unwrap();
        assert_eq!((report.observed_bytes, report.truncated, report.segments[0].length), (9, false, 9));
        assert_eq!(std::fs::read(&report.segments[0].path).unwrap(), b"# SIGSEGV");
        std::fs::write(&file, vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        let report = capture().unwrap();
        assert_eq!((report.observed_bytes, report.truncated), (MAX_BYTES + 1, true));
        assert_eq!(report.segments[0].length, MAX_BYTES);
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/proc/self/environ", &file).unwrap();
        assert_eq!(capture(), None);
        std::fs::remove_file(&file).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(capture(), None);
    }
}
