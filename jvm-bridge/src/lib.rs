//! Boots one Java virtual machine in this process and calls one static method of it.
//!
//! The only crate that knows JNI. It knows no protocol and no Ghidra: it loads `libjvm.so` from the path it is given,
//! never searching for one, creates the machine on a thread of its own with the stack that was asked for, calls
//! `static int method(String...)` with as many strings as it is given and one more, the nanoseconds that it took to create
//! the machine, and returns the number.
//!
//! - One machine per process, ever: a second [`run`] must not be tried, and the machine is never destroyed. Its owner ends
//!   the process instead.
//! - The machine obeys `JAVA_TOOL_OPTIONS` and `_JAVA_OPTIONS`; the caller must have cleared the environment.
//! - A Java exception is never printed here and never lost: it is [`BridgeError::Uncaught`].

mod call;
mod error;
mod options;

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use jni::JavaVM;

pub use error::BridgeError;

/// What to boot and what to call.
#[derive(Clone, Debug)]
pub struct BridgeConfig {
    /// `libjvm.so`, absolute.
    pub libjvm: PathBuf,
    /// Options such as `-Xmx512m`; the class path is not one of them.
    pub jvm_options: Vec<String>,
    /// Jars and directories, in order.
    pub class_path: Vec<PathBuf>,
    /// Stack of the thread that creates the machine and calls the method; deep recursion there needs it explicit.
    pub main_stack_bytes: usize,
    /// The class as Java writes it, `package.Class`.
    pub main_class: String,
    /// A static method that takes strings, one more than there are arguments, and returns `int`.
    pub method: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Boots the machine, calls the method, and returns what it returned; blocks meanwhile.
///
/// # Errors
///
/// A [`BridgeError`] for the phase that failed.
pub fn run(config: &BridgeConfig) -> Result<i32, BridgeError> {
    let stack_bytes = config.main_stack_bytes;
    let config = config.clone();
    let thread = thread::Builder::new().name("java main".to_owned()).stack_size(stack_bytes);
    let running = thread.spawn(move || boot_and_call(&config)).map_err(BridgeError::Thread)?;
    running.join().map_err(|_| BridgeError::ThreadLost)?
}

fn boot_and_call(config: &BridgeConfig) -> Result<i32, BridgeError> {
    let started = Instant::now();
    let init = options::init_args(config)?;
    let machine = JavaVM::with_libjvm(init, || Ok(&config.libjvm))
        .map_err(|error| BridgeError::start(config, &error))?;
    // The machine may call `exit` on this thread (an exhausted heap, `System.exit`), which runs the thread's destructors.
    // Creating the machine left one that detaches the thread and panics below a Java frame; a scoped attachment has none.
    machine.detach_current_thread().map_err(|error| BridgeError::call(config, error))?;
    machine
        .attach_current_thread_for_scope(|env| call::static_method(env, config, started.elapsed()))
        .map_err(|error| BridgeError::call(config, error))
}
