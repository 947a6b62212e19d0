//! Child programs: never fed from the caller's standard input, and every failure names its command line.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::error::TaskError;

/// How many bytes of captured output an error repeats.
const DETAIL_BYTES: usize = 4096;

/// The command line as a person would type it.
pub fn command_line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| quoted(&word.to_string_lossy())));
    words.join(" ")
}

/// Runs a program whose output goes straight to the caller.
pub fn run(command: &mut Command) -> Result<(), TaskError> {
    let status = spawned(command, |command| command.stdin(Stdio::null()).status())?;
    check(command, status, String::new())
}

/// Runs a program quietly and returns its standard output; its error output appears only in a failure.
pub fn output(command: &mut Command) -> Result<String, TaskError> {
    let output = spawned(command, |command| command.stdin(Stdio::null()).output())?;
    let mut detail = String::from_utf8_lossy(&output.stdout).into_owned();
    detail.push_str(&String::from_utf8_lossy(&output.stderr));
    check(command, output.status, tail(&detail))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program runs quietly and exits with success; a program that is missing does not succeed.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The failure of `command` when `status` is one, with `detail` below it.
pub fn check(command: &Command, status: ExitStatus, detail: String) -> Result<(), TaskError> {
    if status.success() {
        return Ok(());
    }
    let detail = if detail.is_empty() { detail } else { format!("\n{detail}") };
    Err(TaskError::Command { command: command_line(command), status: status.to_string(), detail })
}

/// Starts a program in whatever way `start` does, naming it when it cannot be started.
pub fn spawned<T>(
    command: &mut Command,
    start: impl FnOnce(&mut Command) -> std::io::Result<T>,
) -> Result<T, TaskError> {
    start(command).map_err(|source| TaskError::Spawn { command: command_line(command), source })
}

/// The executable file that `name` means on the given search path.
pub fn find_on_path(name: &str, search_path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    std::env::split_paths(search_path?)
        .map(|directory| directory.join(name))
        .find(|candidate| is_executable_file(candidate))
}

/// Whether `path` is a regular file somebody may execute.
pub fn is_executable_file(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The last [`DETAIL_BYTES`] bytes of `text`, from a line boundary.
pub fn tail(text: &str) -> String {
    let text = text.trim_end();
    let mut start = text.len().saturating_sub(DETAIL_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = text.get(start..).unwrap_or_default();
    match tail.split_once('\n') {
        Some((_partial, rest)) if start > 0 => rest.to_owned(),
        _ => tail.to_owned(),
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_what_it_printed() {
        let error = output(Command::new("sh").args(["-c", "echo spoken; exit 3"])).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("sh -c 'echo spoken; exit 3'"), "{text}");
        assert!(text.contains("exit status: 3") && text.contains("\nspoken"), "{text}");
    }

    #[test]
    fn a_missing_program_is_an_error_and_not_a_success() {
        let name = "ghidr-xtask-no-such-program";
        assert!(!succeeds(&mut Command::new(name)));
        assert!(matches!(run(&mut Command::new(name)), Err(TaskError::Spawn { .. })));
    }

    #[test]
    fn long_output_is_cut_at_a_line() {
        let text = format!("first\n{}\nlast", "é".repeat(DETAIL_BYTES));
        assert_eq!(tail(&text), "last");
        assert_eq!(tail("short\nlines\n"), "short\nlines");
    }

    #[test]
    fn words_are_quoted_as_a_shell_needs_them() {
        let mut command = Command::new("a");
        command.args(["b-1", "it's", ""]);
        assert_eq!(command_line(&command), "a b-1 'it'\\''s' ''");
    }
}
