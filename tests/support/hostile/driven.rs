//! Commands inside this process, on the installed engine, with the [`Driver`] in place of a worker
//! process for each.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ghidr::commands::{self, host::Host};
use ghidr::output::sink::Sink;
use ghidr::process::Interrupts;

use super::driver::Driver;
use crate::support::ghidr::{Ghidr, Run};

/// The engine's own limit of time for one Sample: here there are thousands.
pub const SECONDS: u32 = 5;

/// A home, a store and a driver.
pub struct Driven {
    ghidr: Ghidr,
    /// Runs the workers' requests.
    pub driver: Driver,
    interrupts: Interrupts,
}

impl Driven {
    /// With an unused store and no Java machine yet.
    pub fn new() -> Self {
        Self { ghidr: Ghidr::new(), driver: Driver::new(), interrupts: Interrupts::none() }
    }

    /// Writes a Sample.
    pub fn sample(&self, bytes: &[u8]) -> PathBuf {
        let path = self.ghidr.root().join("sample");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Removes the store, so that thousands of Samples take the space of one.
    pub fn forget(&self) {
        let _ = std::fs::remove_dir_all(self.ghidr.store());
    }

    /// Runs a command and checks the framing of its JSON.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        let given = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        let arguments: Vec<OsString> =
            ["ghidr", "--sandbox", "off"].into_iter().map(OsString::from).chain(given).collect();
        let executable = Path::new(env!("CARGO_BIN_EXE_ghidr")).canonicalize().unwrap();
        let mut host = Host::of_process(executable, &self.driver, &self.interrupts, false);
        host.environment = self.ghidr.closed_environment();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let status = commands::run(&arguments, &host, &mut Sink::new(&mut stdout, &mut stderr));
        let run = Run { status: Some(status as i32), stdout, stderr };
        run.check_framing();
        run
    }
}
