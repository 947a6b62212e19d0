//! Makes the system calls that must be refused.

use std::path::Path;

use super::Attempt;
use super::raw_call::{Answer, Convention, make};
use crate::sandbox::filter::{FILE_ATTRIBUTES, NAMESPACE_FLAGS, REFUSED, SOCKET_BUFFERS, TERMINAL_INJECTION};

/// Families beyond the usual ones have been the way into many kernels.
const FAMILIES: [i32; 8] = [
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
    libc::AF_PACKET,
    libc::AF_ALG,
    libc::AF_VSOCK,
    libc::AF_XDP,
];
/// The number of `getpid` in the convention of 32-bit programs.
const LEGACY_GETPID: u32 = 20;
/// Marks a number as one of the x32 convention.
const X32: u32 = 0x4000_0000;
/// No process has it open. The first descriptors are those of devices, which a call without a filter must not change.
const NO_DESCRIPTOR: u32 = u32::MAX;
/// No kernel has it.
const FAR_NUMBER: u32 = 4000;

pub(super) fn sockets(directory: &Path) -> Attempt {
    for family in FAMILIES {
        let what = format!("a socket of family {family}");
        fails(&what, libc::EPERM, call(directory, libc::SYS_socket, [family as u32, 1, 0, 0])?)?;
    }
    let pair = call(directory, libc::SYS_socketpair, [libc::AF_TIPC as u32, 1, 0, 0])?;
    fails("a foreign pair of sockets", libc::EPERM, pair)
}

/// Without a filter, these arguments are either invalid or change nothing.
pub(super) fn refused(directory: &Path) -> Attempt {
    for number in REFUSED {
        fails(
            &format!("system call {number}"),
            libc::EPERM,
            call(directory, number, [NO_DESCRIPTOR, 0, 0, 0])?,
        )?;
    }
    for flag in NAMESPACE_FLAGS {
        let answer = call(directory, libc::SYS_clone, [flag as u32 | libc::SIGCHLD as u32, 0, 0, 0])?;
        fails(&format!("clone with {flag:#x}"), libc::EPERM, answer)?;
    }
    for request in TERMINAL_INJECTION.into_iter().chain(FILE_ATTRIBUTES) {
        let answer = call(directory, libc::SYS_ioctl, [0, request as u32, 0, 0])?;
        fails(&format!("ioctl {request:#x}"), libc::EPERM, answer)?;
    }
    for option in SOCKET_BUFFERS {
        let arguments = [NO_DESCRIPTOR, libc::SOL_SOCKET as u32, option as u32, 0];
        fails(
            &format!("socket option {option}"),
            libc::EPERM,
            call(directory, libc::SYS_setsockopt, arguments)?,
        )?;
    }
    match make(directory, Convention::Legacy, LEGACY_GETPID, [0; 4]).map_err(|error| error.to_string())? {
        Answer::Ended { .. } => Ok(()),
        answer => Err(format!("a 32-bit system call: {answer:?}")),
    }
}

pub(super) fn nonexistent(directory: &Path) -> Attempt {
    for number in [libc::SYS_clone3 as u32, X32 | libc::SYS_getpid as u32, FAR_NUMBER] {
        let answer = call(directory, number.into(), [0; 4])?;
        fails(&format!("system call {number}"), libc::ENOSYS, answer)?;
    }
    Ok(())
}

fn call(directory: &Path, number: libc::c_long, arguments: [u32; 4]) -> Result<Answer, String> {
    make(directory, Convention::Native, number as u32, arguments).map_err(|error| error.to_string())
}

fn fails(what: &str, errno: i32, answer: Answer) -> Attempt {
    if answer == (Answer::Failed { errno }) { Ok(()) } else { Err(format!("{what}: {answer:?}")) }
}
