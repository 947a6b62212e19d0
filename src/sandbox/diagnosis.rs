//! Tells from bubblewrap's last words, and from the kernel's settings, why a sandbox could not be set up.
//!
//! Only read when no worker was executed, so nothing a worker writes can be taken for bubblewrap's words.

use std::fmt;
use std::fs;
use std::path::Path;

use super::error::SandboxError;

/// The known reasons for which bubblewrap cannot set up a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupFailure {
    /// `kernel.unprivileged_userns_clone` is 0.
    UserNamespacesDisabled,
    /// `user.max_user_namespaces` is 0, or as many exist already.
    UserNamespacesExhausted,
    /// AppArmor restricts them to programs that have a profile.
    UserNamespacesRestricted,
    /// Something else refuses them; in a container usually its system call filter.
    UserNamespacesRefused,
    /// The surrounding container hides parts of /proc, so the kernel allows no new one inside.
    NestedProcRefused,
    /// This bubblewrap does not know an option.
    TooOld,
    /// A path to be shown does not exist or cannot be read.
    PathUnusable,
    /// The worker could not be executed inside.
    WorkerNotExecutable,
    /// None of the known reasons.
    Other,
}

impl SetupFailure {
    /// The reason as a stable identifier.
    #[must_use]
    pub fn identifier(self) -> &'static str {
        match self {
            Self::UserNamespacesDisabled => "user_namespaces_disabled",
            Self::UserNamespacesExhausted => "user_namespaces_exhausted",
            Self::UserNamespacesRestricted => "user_namespaces_restricted",
            Self::UserNamespacesRefused => "user_namespaces_refused",
            Self::NestedProcRefused => "nested_proc_refused",
            Self::TooOld => "bubblewrap_too_old",
            Self::PathUnusable => "path_unusable",
            Self::WorkerNotExecutable => "worker_not_executable",
            Self::Other => "unknown",
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::UserNamespacesDisabled => "as root: sysctl kernel.unprivileged_userns_clone=1",
            Self::UserNamespacesExhausted => "as root: raise the sysctl user.max_user_namespaces",
            Self::UserNamespacesRestricted => {
                "as root: install an AppArmor profile that grants bwrap `userns`, or sysctl \
                 kernel.apparmor_restrict_unprivileged_userns=0"
            }
            Self::UserNamespacesRefused => {
                "allow user namespaces in the surrounding container, or, if it isolates ghidr by itself, say so with \
                 --sandbox external"
            }
            Self::NestedProcRefused => {
                "run the surrounding container with an unmasked /proc, or, if it isolates ghidr by itself, say so with \
                 --sandbox external"
            }
            Self::TooOld => "install bubblewrap 0.8.0 or newer",
            Self::PathUnusable => "check that the named path exists and can be read by this user",
            Self::WorkerNotExecutable => {
                "check that the ghidr executable can be read and executed by this user"
            }
            Self::Other => "run ghidr doctor and see its Diagnostic Log",
        }
    }
}

impl fmt::Display for SetupFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::UserNamespacesDisabled => "the kernel is set to refuse unprivileged user namespaces",
            Self::UserNamespacesExhausted => "the kernel's limit of user namespaces is reached",
            Self::UserNamespacesRestricted => "AppArmor restricts unprivileged user namespaces",
            Self::UserNamespacesRefused => "user namespaces are refused",
            Self::NestedProcRefused => "the surrounding container allows no new /proc",
            Self::TooOld => "this bubblewrap is too old",
            Self::PathUnusable => "a path cannot be shown to the worker",
            Self::WorkerNotExecutable => "the worker cannot be executed in the sandbox",
            Self::Other => "the reason is not a known one",
        })
    }
}

/// Kernel settings that decide about user namespaces.
#[derive(Clone, Copy, Debug, Default)]
struct Settings {
    clone_disabled: bool,
    none_allowed: bool,
    apparmor_restricts: bool,
}

impl Settings {
    fn read() -> Self {
        let is = |name: &str, value: &str| {
            fs::read_to_string(Path::new("/proc/sys").join(name)).is_ok_and(|text| text.trim() == value)
        };
        Self {
            clone_disabled: is("kernel/unprivileged_userns_clone", "0"),
            none_allowed: is("user/max_user_namespaces", "0"),
            apparmor_restricts: is("kernel/apparmor_restrict_unprivileged_userns", "1"),
        }
    }
}

/// The error for a sandbox whose bubblewrap ended with these words.
pub(super) fn setup_failed(said: &str) -> SandboxError {
    let words: String =
        said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").chars().take(300).collect();
    SandboxError::SetupFailed { failure: classify(&words, Settings::read()), message: words }
}

fn classify(words: &str, settings: Settings) -> SetupFailure {
    let said = |part: &str| words.contains(part);
    if said("Unknown option") {
        SetupFailure::TooOld
    } else if said("execvp") {
        SetupFailure::WorkerNotExecutable
    } else if said("new namespace")
        || said("uid map")
        || said("gid map")
        || said("loopback")
        || said("userns")
    {
        namespace_refused(words, settings)
    } else if said("mount proc") {
        SetupFailure::NestedProcRefused
    } else if said("Can't find source path") || said("Can't get type of source") || said("bind mount") {
        SetupFailure::PathUnusable
    } else {
        SetupFailure::Other
    }
}

fn namespace_refused(words: &str, settings: Settings) -> SetupFailure {
    if settings.none_allowed || words.contains("ENOSPC") || words.contains("No space left") {
        SetupFailure::UserNamespacesExhausted
    } else if settings.clone_disabled {
        SetupFailure::UserNamespacesDisabled
    } else if settings.apparmor_restricts {
        SetupFailure::UserNamespacesRestricted
    } else {
        SetupFailure::UserNamespacesRefused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_message_has_its_reason() {
        let none = Settings::default();
        let disabled = Settings { clone_disabled: true, ..none };
        let exhausted = Settings { none_allowed: true, ..none };
        let restricted = Settings { apparmor_restricts: true, ..none };
        let no_permissions = "bwrap: No permissions to create new namespace, likely because the kernel does not allow \
                              non-privileged user namespaces.";
        for (words, settings, expected) in [
            (no_permissions, none, SetupFailure::UserNamespacesRefused),
            (no_permissions, disabled, SetupFailure::UserNamespacesDisabled),
            (no_permissions, exhausted, SetupFailure::UserNamespacesExhausted),
            (
                "bwrap: setting up uid map: Permission denied",
                restricted,
                SetupFailure::UserNamespacesRestricted,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                restricted,
                SetupFailure::UserNamespacesRestricted,
            ),
            (
                "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                none,
                SetupFailure::UserNamespacesExhausted,
            ),
            (
                "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
                none,
                SetupFailure::NestedProcRefused,
            ),
            ("bwrap: Unknown option --size", none, SetupFailure::TooOld),
            ("bwrap: Can't find source path /x: No such file or directory", none, SetupFailure::PathUnusable),
            ("bwrap: execvp /ghidr/bin/ghidr: Permission denied", none, SetupFailure::WorkerNotExecutable),
            ("bwrap: something new", none, SetupFailure::Other),
        ] {
            assert_eq!(classify(words, settings), expected, "{words}");
        }
    }
}
