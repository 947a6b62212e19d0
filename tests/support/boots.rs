//! Bounds how many Ghidras the tests of this process run at once: each uses two cores and half
//! a gigabyte, and tests of time limits would fail on an overloaded machine.

use std::sync::{Condvar, Mutex, PoisonError};

const MOST: usize = 2;

static RUNNING: Mutex<usize> = Mutex::new(0);
static LEFT: Condvar = Condvar::new();

/// The right to run one Ghidra, given back when dropped. Never hold one while taking another.
pub struct Boot(());

/// Waits until another Ghidra may run.
pub fn take() -> Boot {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    while *running >= MOST {
        running = LEFT.wait(running).unwrap_or_else(PoisonError::into_inner);
    }
    *running += 1;
    Boot(())
}

impl Drop for Boot {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        LEFT.notify_one();
    }
}
