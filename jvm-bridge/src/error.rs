//! Failures of the bridge, by the phase in which they arise.

use std::io;
use std::path::PathBuf;

use jni::errors::{Error, StartJvmError};

use crate::BridgeConfig;

/// Why the call did not return a number.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The configuration would be misread by the virtual machine.
    #[error("invalid configuration: {reason}: {value}")]
    InvalidConfig {
        /// What is wrong.
        reason: &'static str,
        /// The value that is.
        value: String,
    },
    /// The thread with the requested stack could not be made.
    #[error("cannot start the Java thread: {0}")]
    Thread(#[source] io::Error),
    /// The thread ended without a result, which is a defect of this crate.
    #[error("the Java thread ended unexpectedly")]
    ThreadLost,
    /// The library could not be loaded.
    #[error("cannot load {}: {message}", libjvm.display())]
    Load {
        /// The library.
        libjvm: PathBuf,
        /// The dynamic linker's message.
        message: String,
    },
    /// The virtual machine refused to start; it says why on standard error.
    #[error("the Java virtual machine did not start: {message}")]
    Create {
        /// The JNI error.
        message: String,
    },
    /// The class or method is not there or not as expected.
    #[error("cannot call {class}.{method}: {message}")]
    EntryPoint {
        /// The class.
        class: String,
        /// The method.
        method: String,
        /// What is wrong.
        message: String,
    },
    /// The method threw.
    #[error("uncaught Java exception {class}: {message}")]
    Uncaught {
        /// The exception's class.
        class: String,
        /// Its message, empty when it has none.
        message: String,
    },
}

impl BridgeError {
    pub(crate) fn invalid(reason: &'static str, value: &str) -> Self {
        Self::InvalidConfig { reason, value: value.to_owned() }
    }

    pub(crate) fn start(config: &BridgeConfig, error: &StartJvmError) -> Self {
        match error {
            StartJvmError::LoadError(_, cause) => {
                Self::Load { libjvm: config.libjvm.clone(), message: cause.to_string() }
            }
            other => Self::Create { message: other.to_string() },
        }
    }

    pub(crate) fn call(config: &BridgeConfig, error: Error) -> Self {
        match error {
            Error::CaughtJavaException { name, msg, .. } => Self::Uncaught { class: name, message: msg },
            other => Self::EntryPoint {
                class: config.main_class.clone(),
                method: config.method.clone(),
                message: other.to_string(),
            },
        }
    }
}
