//! Makes one system call, any, with any arguments, and tells what came of it.
//!
//! Safe Rust has no such call, and a library function for each of those that matter does not exist. So the call is made by a
//! program of its own: an executable of one segment and a dozen instructions, written to a directory and run.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The convention by which a call reaches the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// That of 64-bit programs.
    Native,
    /// `int 0x80`, that of 32-bit programs, which a 64-bit program can use as well; its arguments are cut to 32 bits.
    Legacy,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It succeeded.
    Done,
    /// It failed with this number.
    Failed {
        /// The error number.
        errno: i32,
    },
    /// The process was ended by this signal.
    Ended {
        /// The signal's number.
        signal: i32,
    },
}

const LOAD_ADDRESS: u32 = 0x40_0000;
const HEADERS_BYTES: u32 = 64 + 56;

/// Makes the call from a program in `directory`, which must exist, be writable and allow execution.
///
/// # Errors
///
/// When the program cannot be written or run.
pub fn make(
    directory: &Path,
    convention: Convention,
    number: u32,
    arguments: [u32; 4],
) -> io::Result<Answer> {
    let program = directory.join("raw-call");
    // Executable from the beginning: the sandbox refuses every later change of a mode.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&program)?;
    file.write_all(&executable(&code(convention, number, arguments)))?;
    drop(file);
    let mut command = Command::new(&program);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = loop {
        match command.status() {
            // Another thread started a program while the file was being written, and has not come to execute it.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            other => break other,
        }
    };
    fs::remove_file(&program)?;
    let status = status?;
    Ok(match (status.code(), status.signal()) {
        (Some(0), _) => Answer::Done,
        (Some(errno), _) => Answer::Failed { errno },
        (None, signal) => Answer::Ended { signal: signal.unwrap_or(0) },
    })
}

/// A static ELF executable that begins with the first of these instructions.
#[must_use]
pub fn executable(code: &[u8]) -> Vec<u8> {
    let size = u64::from(HEADERS_BYTES) + code.len() as u64;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let half = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
    let word = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    let long = |file: &mut Vec<u8>, value: u64| file.extend(value.to_le_bytes());
    // ET_EXEC for EM_X86_64.
    half(&mut file, 2);
    half(&mut file, 62);
    word(&mut file, 1);
    long(&mut file, u64::from(LOAD_ADDRESS + HEADERS_BYTES));
    // The program header follows; there are no sections.
    long(&mut file, 64);
    long(&mut file, 0);
    word(&mut file, 0);
    for value in [64, 56, 1, 64, 0, 0] {
        half(&mut file, value);
    }
    // PT_LOAD, readable and executable, the whole file.
    word(&mut file, 1);
    word(&mut file, 5);
    for value in [0, u64::from(LOAD_ADDRESS), u64::from(LOAD_ADDRESS), size, size, 0x1000] {
        long(&mut file, value);
    }
    file.extend(code);
    file
}

/// Exits with 0 when the call succeeds, else with its error number.
fn code(convention: Convention, number: u32, [first, second, third, fourth]: [u32; 4]) -> Vec<u8> {
    let mut code = Vec::new();
    let mut load = |opcode: &[u8], value: u32| {
        code.extend(opcode);
        code.extend(value.to_le_bytes());
    };
    load(&[0xb8], number); // mov eax, number
    match convention {
        Convention::Native => {
            load(&[0xbf], first); // mov edi
            load(&[0xbe], second); // mov esi
            load(&[0xba], third); // mov edx
            load(&[0x41, 0xba], fourth); // mov r10d
            code.extend([0x0f, 0x05]); // syscall
        }
        Convention::Legacy => {
            load(&[0xbb], first); // mov ebx
            load(&[0xb9], second); // mov ecx
            load(&[0xba], third); // mov edx
            load(&[0xbe], fourth); // mov esi
            code.extend([0xcd, 0x80]); // int 0x80
        }
    }
    code.extend([0x31, 0xff]); // xor edi, edi
    code.extend([0x85, 0xc0]); // test eax, eax
    code.extend([0x79, 0x04]); // jns over the next two
    code.extend([0xf7, 0xd8]); // neg eax
    code.extend([0x89, 0xc7]); // mov edi, eax
    code.extend([0xb8, 0x3c, 0, 0, 0]); // mov eax, exit
    code.extend([0x0f, 0x05]); // syscall
    code
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_both_outcomes_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let make = |number, arguments| make(directory.path(), Convention::Native, number, arguments).unwrap();
        assert_eq!(make(libc::SYS_getpid as u32, [0; 4]), Answer::Done);
        assert_eq!(make(libc::SYS_close as u32, [77, 0, 0, 0]), Answer::Failed { errno: libc::EBADF });
        assert_eq!(make(libc::SYS_unshare as u32, [0; 4]), Answer::Done);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
