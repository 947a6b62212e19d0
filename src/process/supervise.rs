//! The real launcher: starts a plan, drains it, watches its bounds, and ends it.
//!
//! One thread does all of it, around one `poll`: the thread that starts the child blocks here until the child is gone
//! (parent-death signals follow threads), and no reader has to be stopped at the end, so nothing can wait for a pipe that
//! an escaped process holds open.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use super::capture::StreamCapture;
use super::ending::{Ending, Observation, Step};
use super::error::ProcessError;
use super::guard::Report;
use super::launch::{LaunchPlan, Launcher, StatusEvent, Supervision};
use super::memory::Meter;
use super::outcome::{CapturedStream, EndedBy, Outcome};
use super::quota;
use super::spawn::{self, StatusFile};
use super::tree::{self, Process, Tree};

/// Distance between two looks at memory and tasks; what grows between them is the overshoot of the bound. A measurement
/// of disk space may come between them, which ends after a bounded number of entries.
const TICK: Duration = Duration::from_millis(50);
/// Distance between two measurements of disk space, which cost more.
const DISK_TICK: Duration = Duration::from_millis(200);
/// At most this much of one stream is read before the others and the clock get their turn.
const READ_BURST_BYTES: usize = 1024 * 1024;
/// A status line is far shorter; more without a line feed is dropped.
const MAX_STATUS_LINE_BYTES: usize = 64 * 1024;

/// Runs plans as child processes of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChildLauncher;

impl Launcher for ChildLauncher {
    fn run(&self, plan: &LaunchPlan, supervision: &mut Supervision<'_>) -> Result<Outcome, ProcessError> {
        let stdout = StreamCapture::create(supervision.capture_directory, "stdout")?;
        let stderr = StreamCapture::create(supervision.capture_directory, "stderr")?;
        if let Some(signal) = supervision.interrupts.first() {
            return not_started(signal, stdout, stderr);
        }
        quota::check_descriptors()?;
        let bystanders = tree::prepare()?;
        let started = Instant::now();
        let spawned = spawn::spawn(plan)?;
        let root = Pid::from_child(&spawned.child);
        let tree = Tree::new(root, bystanders);
        let mut run = Run {
            plan,
            started,
            ending: Ending::new(started, supervision.watchdog, supervision.grace),
            exit_notice: rustix::process::pidfd_open(root, PidfdFlags::empty()).ok(),
            root,
            tree,
            worker: None,
            worker_status: None,
            program_status: None,
            program_failure: None,
            status_line: Vec::new(),
            streams: [
                Stream::new(spawned.stdout.map(Into::into), stdout),
                Stream::new(spawned.stderr.map(Into::into), stderr),
            ],
            status: spawned.status,
            meter: Meter::default(),
        };
        let supervised = run.supervise(supervision);
        drop(spawned.stdin);
        run.await_guard();
        // INVARIANT(no-process-survives-a-run): on every way out, errors included. The guard has done it unless it was killed.
        run.tree.kill()?;
        let mut guard = spawned.child;
        guard.wait().map_err(ProcessError::supervise("reap the worker's guard"))?;
        supervised?;
        run.finish()
    }
}

fn not_started(signal: i32, stdout: StreamCapture, stderr: StreamCapture) -> Result<Outcome, ProcessError> {
    Ok(Outcome {
        worker_status: None,
        program_status: None,
        ended_by: EndedBy::Interrupted { signal },
        termination: None,
        stdout: stdout.finish()?,
        stderr: stderr.finish()?,
        peak_memory_bytes: 0,
        elapsed: Duration::ZERO,
    })
}

struct Run<'p> {
    plan: &'p LaunchPlan,
    started: Instant,
    ending: Ending,
    /// The guard.
    root: Pid,
    tree: Tree,
    /// Becomes readable when the guard ends; without it (a very old kernel) the end is noticed at the next tick.
    exit_notice: Option<OwnedFd>,
    worker: Option<Process>,
    worker_status: Option<i32>,
    program_status: Option<i32>,
    program_failure: Option<io::Error>,
    status: StatusFile,
    status_line: Vec<u8>,
    streams: [Stream; 2],
    meter: Meter,
}

impl Run<'_> {
    /// Returns when the guard, and so the program, has ended, or when everything is to be killed.
    fn supervise(&mut self, supervision: &mut Supervision<'_>) -> Result<(), ProcessError> {
        for descriptor in self.streams.iter().filter_map(|stream| stream.pipe.as_ref()) {
            spawn::set_nonblocking(descriptor)
                .map_err(ProcessError::supervise("read pipes without blocking"))?;
        }
        let mut next_tick = self.started;
        let mut next_disk_tick = self.started;
        loop {
            self.wait_for_events(next_tick, supervision)?;
            self.drain()?;
            if self.guard_has_ended()? {
                return Ok(());
            }
            let mut seen = Observation {
                new_interrupts: supervision.interrupts.take_new(),
                first_signal: supervision.interrupts.first(),
                ..Observation::default()
            };
            let now = Instant::now();
            if now >= next_tick {
                next_tick = now + TICK;
                let members = self.tree.members();
                seen.memory_excess_bytes = self.memory_excess(&members, supervision.max_memory_bytes);
                seen.excess_tasks = excess_tasks(&members, supervision.max_tasks);
                if now >= next_disk_tick {
                    next_disk_tick = now + DISK_TICK;
                    seen.disk_excess_bytes = self.disk_excess(supervision.max_disk_bytes);
                }
                (supervision.on_tick)(now - self.started);
            }
            match self.ending.step(Instant::now(), seen) {
                Step::Wait => {}
                Step::Ask => self.worker.into_iter().for_each(|worker| tree::signal(worker, Signal::TERM)),
                Step::Kill => {
                    self.worker.into_iter().for_each(|worker| tree::signal(worker, Signal::KILL));
                    return Ok(());
                }
            }
        }
    }

    fn wait_for_events(&self, until: Instant, supervision: &Supervision<'_>) -> Result<(), ProcessError> {
        let pipes = self.streams.iter().filter_map(|stream| stream.pipe.as_ref());
        let own = pipes.chain(&self.exit_notice).map(AsFd::as_fd);
        let mut descriptors: Vec<PollFd<'_>> = own
            .chain(supervision.interrupts.descriptors())
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.min(TICK).subsec_nanos()) };
        match rustix::event::poll(&mut descriptors, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(ProcessError::supervise("wait for the worker")(error)),
        }
    }

    fn drain(&mut self) -> Result<(), ProcessError> {
        for stream in &mut self.streams {
            stream.drain(READ_BURST_BYTES)?;
        }
        self.read_status();
        Ok(())
    }

    fn read_status(&mut self) {
        let mut buffer = [0; 4096];
        loop {
            let count = self.status.read_new(&mut buffer);
            if count == 0 {
                return;
            }
            self.status_line.extend(&buffer[..count]);
            while let Some(end) = self.status_line.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.status_line.drain(..=end).collect();
                self.note_status(&line);
            }
            self.status_line.truncate(MAX_STATUS_LINE_BYTES);
        }
    }

    /// The program is the worker when it has no status channel to speak of another.
    fn note_status(&mut self, line: &[u8]) {
        let channel = self.plan.status_channel;
        match Report::decode(line) {
            Some(Report::Started { pid }) if channel.is_none() => self.worker = tree::read(pid),
            Some(Report::Started { .. }) => {}
            Some(Report::Exited { status }) => {
                self.program_status = Some(status);
                if channel.is_none() {
                    self.worker_status = Some(status);
                }
            }
            Some(Report::Failed { errno }) => {
                self.program_failure = Some(io::Error::from_raw_os_error(errno))
            }
            None => match channel.and_then(|channel| (channel.decode)(line)) {
                Some(StatusEvent::Started { pid }) => {
                    self.worker = i32::try_from(pid).ok().and_then(tree::read)
                }
                Some(StatusEvent::Exited { status }) => self.worker_status = Some(status),
                None => {}
            },
        }
    }

    /// Gives the guard, whose standard input is closed, time to kill all below it.
    fn await_guard(&self) {
        let give_up_at = Instant::now() + tree::KILL_PATIENCE;
        while matches!(self.guard_has_ended(), Ok(false)) && Instant::now() < give_up_at {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Leaves the ended guard unreaped: its process id stays reserved until the rest of its group is dead.
    fn guard_has_ended(&self) -> Result<bool, ProcessError> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.root), options) {
            Ok(status) => Ok(status.is_some()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(ProcessError::supervise("watch the worker")(error)),
        }
    }

    fn memory_excess(&mut self, members: &[Process], limit_bytes: Option<u64>) -> Option<u64> {
        let worker = self.worker.map(|worker| worker.pid);
        let limit = limit_bytes.unwrap_or(u64::MAX);
        self.meter.excess(members, worker, &self.plan.memory_file_systems, limit)
    }

    fn disk_excess(&self, limit_bytes: Option<u64>) -> Option<u64> {
        let limit = limit_bytes?;
        let used = quota::allocated_bytes(&self.plan.writable_directories);
        (used > limit).then_some(used)
    }

    /// Collects what is left in the pipes of a tree that is gone.
    fn finish(mut self) -> Result<Outcome, ProcessError> {
        for stream in &mut self.streams {
            stream.drain(usize::MAX)?;
        }
        self.read_status();
        if let Some(source) = self.program_failure {
            return Err(ProcessError::Spawn { program: self.plan.program.clone(), source });
        }
        let elapsed = self.started.elapsed();
        let [stdout, stderr] = self.streams;
        Ok(Outcome {
            worker_status: self.worker_status,
            program_status: self.program_status,
            ended_by: self.ending.ended_by(),
            termination: self.ending.termination(),
            stdout: stdout.finish()?,
            stderr: stderr.finish()?,
            peak_memory_bytes: self.meter.peak_bytes,
            elapsed,
        })
    }
}

fn excess_tasks(members: &[Process], limit_tasks: Option<u64>) -> Option<u64> {
    let tasks: u64 = members.iter().map(|member| u64::from(member.threads)).sum();
    limit_tasks.is_some_and(|limit| tasks > limit).then_some(tasks)
}

/// One output pipe and what was captured of it.
struct Stream {
    pipe: Option<OwnedFd>,
    capture: StreamCapture,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>, capture: StreamCapture) -> Self {
        Self { pipe, capture }
    }

    /// Reads what is there, at most `budget` bytes.
    fn drain(&mut self, mut budget: usize) -> Result<(), ProcessError> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        let mut buffer = [0; 64 * 1024];
        while budget > 0 {
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => {
                    self.pipe = None;
                    return Ok(());
                }
                Ok(count) => {
                    self.capture.push(&buffer[..count])?;
                    budget = budget.saturating_sub(count);
                }
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(ProcessError::supervise("read the worker's output")(error)),
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<CapturedStream, ProcessError> {
        self.capture.finish()
    }
}
