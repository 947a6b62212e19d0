//! A terminal for a command.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::pty::OpenptFlags;

use super::ghidr::Run;

/// A command with a terminal of its own as stdin and stderr.
pub struct OnTerminal {
    /// The terminal's other end.
    pub terminal: File,
    /// The running command.
    pub command: Child,
}

impl OnTerminal {
    /// Starts it.
    pub fn start(mut command: Command) -> Self {
        let terminal = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&terminal).unwrap();
        rustix::pty::unlockpt(&terminal).unwrap();
        let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap();
        let path = Path::new(name.to_str().unwrap());
        let open = || OwnedFd::from(File::options().read(true).write(true).open(path).unwrap());
        command.stdin(open()).stderr(open()).stdout(Stdio::piped());
        Self { terminal: File::from(terminal), command: command.spawn().unwrap() }
    }

    /// Reads what the terminal shows until `words` are there.
    pub fn wait_for(&mut self, words: &str) -> String {
        let mut shown = String::new();
        while !shown.contains(words) {
            let mut buffer = [0; 256];
            let count = self.terminal.read(&mut buffer).unwrap_or(0);
            assert!(count > 0, "the terminal closed after: {shown}");
            shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        shown
    }

    /// Waits for its end; `stderr` is what else the terminal shows.
    pub fn finish(mut self) -> Run {
        let mut stdout = Vec::new();
        self.command.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        let status = self.command.wait().unwrap().code();
        let mut stderr = Vec::new();
        // Ends with an error once nobody has the terminal open any more.
        let _ = self.terminal.read_to_end(&mut stderr);
        Run { status, stdout, stderr }
    }
}
