//! Makes a test run that ignores signals (under `nohup`, or in the background of a shell) no reason for `ghidr` to ignore
//! them: an ignored signal is inherited, and a program keeps it ignored; a handled one is inherited as the default.

use std::sync::{Arc, Once};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

static HEEDED: Once = Once::new();

/// From now on programs that this process starts, and listeners in it, hear every signal that asks to end. This process
/// itself stays as deaf as it was.
pub fn heed() {
    HEEDED.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
        let ignored = u64::from_str_radix(ignored, 16).unwrap();
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, Arc::default()).unwrap();
            }
        }
    });
}
