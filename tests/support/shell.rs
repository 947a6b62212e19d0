//! A command started by a shell, which first gives it what only a shell can.

use std::process::{Command, Stdio};

/// `script` with the program of `plain` as `$0` and its arguments as `$@`, in the environment of `plain` and nothing else.
pub fn through(plain: &Command, script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).arg(plain.get_program()).args(plain.get_args()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null());
    command
}
