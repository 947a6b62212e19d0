//! The system calls a worker cannot make, as filters that bubblewrap loads just before it executes the worker.
//!
//! A deny list: a Java virtual machine needs several hundred calls, and which ones depends on its version. What is listed
//! reaches beyond the sandbox's own resources or has a long record of kernel faults. Three kinds of refusal:
//! - a listed call fails with `EPERM`;
//! - `clone3` and every call that is newer than this list answer `ENOSYS`: a filter cannot see the arguments of `clone3`, and
//!   libraries fall back to what they used before. The x32 numbers lie above and answer the same;
//! - a call in another architecture's convention (32 bit) ends the process.
//!
//! Local pairs of sockets stay, because Java's file channels use one; no other socket can be made, whatever its family.
//!
//! Mode, owner, times and attributes of a file cannot be changed, not even of the worker's own: the devices below `/dev` are
//! the machine's own files, shown by a mount that may be written, and belong to the worker when root runs ghidr. An engine
//! that must unpack itself needs [`UNPACKING`], which the sandbox grants only where those devices are another's.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the system call filter lists the calls of x86_64 only");

use libc::c_long;
use seccompiler::{
    BackendError as Error, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

/// The first call that did not exist when the list was made (`mseal` of Linux 6.10 was the last).
const FIRST_UNKNOWN: u32 = 463;

/// Calls that are refused whatever their arguments.
pub(super) const REFUSED: [c_long; 83] = [
    // Other processes: their memory, descriptors and registers.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The kernel's keys, which no namespace divides.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Large interfaces that run what they are given inside the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Sockets; see SOCKET_PAIR for pairs.
    libc::SYS_socket,
    // Mounts.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Namespaces; see NAMESPACE_FLAGS for `clone`.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Files by number and news of other processes' files.
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // Memory that belongs to no process, and so is not seen by whoever measures processes.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    // News of files, of which the user has few, whoever of their programs asks for them.
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    // What is written down about a file besides its content.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_nfsservctl,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_vhangup,
    libc::SYS_uselib,
    libc::SYS__sysctl,
];

/// Of Linux 6.6, and not known to the library by name.
const SYS_FCHMODAT2: c_long = 452;

/// With the calls above, but for an engine that must make executable what it has unpacked.
pub(super) const UNPACKING: c_long = libc::SYS_chmod;

/// Flags of `clone` that make a namespace; that of time can only be given to `clone3` and `unshare`.
pub(super) const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Requests of `ioctl` that type into a terminal or paste into a console.
pub(super) const TERMINAL_INJECTION: [libc::Ioctl; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Requests of `ioctl` that change a file's attributes, in both of their forms.
pub(super) const FILE_ATTRIBUTES: [libc::Ioctl; 3] =
    [libc::FS_IOC_SETFLAGS, libc::FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR];
/// Not known to the library by name.
const FS_IOC_FSSETXATTR: libc::Ioctl = 0x401c_5820;

/// Options of a socket that let it hold more than the usual.
pub(super) const SOCKET_BUFFERS: [i32; 4] =
    [libc::SO_SNDBUF, libc::SO_RCVBUF, libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE];

/// The filters in the kernel's own form; all of them are asked, and the strictest answer counts.
pub(super) fn programs(unpacks: bool) -> Result<[Vec<u8>; 2], Error> {
    Ok([encode(&unknown()), encode(&refused(unpacks)?)])
}

/// Says nothing about architectures: the other filter's refusal of a foreign one is stricter than any answer here.
fn unknown() -> BpfProgram {
    const NUMBER_OFFSET: u32 = 0;
    let instruction = |code: u32, k: u32, jt, jf| sock_filter { code: code as u16, jt, jf, k };
    let nonexistent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER_OFFSET, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, FIRST_UNKNOWN, 1, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_clone3 as u32, 0, 1),
        instruction(libc::BPF_RET | libc::BPF_K, nonexistent, 0, 0),
        instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ]
}

fn refused(unpacks: bool) -> Result<BpfProgram, Error> {
    let when = |argument, compare, value: u64| {
        SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)?])
    };
    let mut rules: std::collections::BTreeMap<c_long, Vec<SeccompRule>> =
        REFUSED.map(|call| (call, Vec::new())).into();
    if !unpacks {
        rules.insert(UNPACKING, Vec::new());
    }
    rules.insert(libc::SYS_socketpair, vec![when(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)?]);
    let flags = NAMESPACE_FLAGS.map(|flag| flag as u32 as u64);
    let makes_namespace = flags.map(|flag| when(0, SeccompCmpOp::MaskedEq(flag), flag));
    rules.insert(libc::SYS_clone, makes_namespace.into_iter().collect::<Result<_, _>>()?);
    let requests = TERMINAL_INJECTION.into_iter().chain(FILE_ATTRIBUTES);
    let requests = requests.map(|request| when(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    let buffers = SOCKET_BUFFERS.map(|option| when(2, SeccompCmpOp::Eq, option as u64));
    rules.insert(libc::SYS_setsockopt, buffers.into_iter().collect::<Result<_, _>>()?);
    let refusal = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, TargetArch::x86_64)?.try_into()
}

/// An array of `struct sock_filter`.
fn encode(program: &BpfProgram) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for instruction in program {
        bytes.extend(instruction.code.to_ne_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend(instruction.k.to_ne_bytes());
    }
    bytes
}
