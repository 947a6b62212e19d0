//! The worker's side of its supervision: it lives as long as its job, its parent and nobody's wish to the contrary.
//!
//! The guard alone holds the other end of standard input, so its end of file means the guard is gone, in whatever way. A
//! termination signal ends the worker too; a job that installs handlers of its own (a Java virtual machine does) takes
//! over from there.

use std::io::{self, Read};
use std::sync::mpsc::{self, Sender};
use std::thread;

use rustix::process::{Resource, Rlimit};
use signal_hook::consts::SIGTERM;

/// How a worker's life ended.
#[derive(Debug, PartialEq, Eq)]
pub enum WorkerEnd<T> {
    /// The job returned.
    Done(T),
    /// The job's thread is gone without having returned.
    Lost,
    /// The parent closed standard input or died.
    Abandoned,
    /// SIGTERM arrived.
    Terminated,
}

/// More open files than this a worker cannot have: an installation of Ghidra has some 300 jars. What the kernel holds for a
/// pipe or a pair of sockets is in no measure of memory.
pub const MAX_OPEN_FILES: u64 = 1024;

/// Restricts this process before it touches anything untrusted: no core dump, private files, bounded files and few of them.
///
/// A limit of the caller that is lower already stays.
///
/// # Errors
///
/// When the kernel refuses a limit.
pub fn restrict(file_size_bytes: Option<u64>) -> io::Result<()> {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    lower_limit(Resource::Core, 0)?;
    lower_limit(Resource::Nofile, MAX_OPEN_FILES)?;
    file_size_bytes.map_or(Ok(()), |bytes| lower_limit(Resource::Fsize, bytes))
}

fn lower_limit(resource: Resource, value: u64) -> io::Result<()> {
    let value = rustix::process::getrlimit(resource).maximum.map_or(value, |most| most.min(value));
    let limit = Rlimit { current: Some(value), maximum: Some(value) };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

/// Runs `job` on a thread of its own and returns at the first of its end, the parent's end and SIGTERM.
///
/// The caller must then return from `main` without joining anything: the job may still be running, and ends with the
/// process.
///
/// # Errors
///
/// When a thread or the signal handler is refused; the job has not begun then.
pub fn live<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> io::Result<WorkerEnd<T>> {
    let (events, first_event) = mpsc::channel();
    watch_termination(events.clone())?;
    watch_parent(events.clone())?;
    thread::Builder::new().name("job".to_owned()).spawn(move || {
        let lost = ReportOnDrop(Some(events));
        let result = job();
        lost.report(WorkerEnd::Done(result));
    })?;
    Ok(first_event.recv().unwrap_or(WorkerEnd::Lost))
}

fn watch_parent<T: Send + 'static>(events: Sender<WorkerEnd<T>>) -> io::Result<()> {
    thread::Builder::new().name("parent watch".to_owned()).spawn(move || {
        let mut buffer = [0; 64];
        loop {
            match io::stdin().read(&mut buffer) {
                Ok(0) => break,
                Err(error) if error.kind() != io::ErrorKind::Interrupted => break,
                Ok(_) | Err(_) => {}
            }
        }
        let _ = events.send(WorkerEnd::Abandoned);
    })?;
    Ok(())
}

fn watch_termination<T: Send + 'static>(events: Sender<WorkerEnd<T>>) -> io::Result<()> {
    let (mut reader, writer) = std::os::unix::net::UnixStream::pair()?;
    signal_hook::low_level::pipe::register(SIGTERM, writer)?;
    thread::Builder::new().name("signal watch".to_owned()).spawn(move || {
        if reader.read_exact(&mut [0]).is_ok() {
            let _ = events.send(WorkerEnd::Terminated);
        }
    })?;
    Ok(())
}

/// Reports a job that ended without a result, which the channel cannot: the watching threads keep it open.
struct ReportOnDrop<T>(Option<Sender<WorkerEnd<T>>>);

impl<T> ReportOnDrop<T> {
    fn report(mut self, end: WorkerEnd<T>) {
        if let Some(events) = self.0.take() {
            let _ = events.send(end);
        }
    }
}

impl<T> Drop for ReportOnDrop<T> {
    fn drop(&mut self) {
        if let Some(events) = self.0.take() {
            let _ = events.send(WorkerEnd::Lost);
        }
    }
}
