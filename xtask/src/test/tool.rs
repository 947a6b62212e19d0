//! Programs that a check needs and that Cargo can build: used where they are in the pinned version, else built once per user
//! from their published source.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TaskError;
use crate::pins::ToolPin;
use crate::project::Project;
use crate::{command, report};

impl ToolPin {
    /// The pinned version on the search path or among the project's own tools.
    pub fn find(&self, tools: &Path) -> Option<PathBuf> {
        [PathBuf::from(self.program), self.built(tools)].into_iter().find(|program| {
            command::output(Command::new(program).arg("--version"))
                .is_ok_and(|answer| self.is_pinned(&answer))
        })
    }

    /// The same, built if it is missing.
    pub fn ensure(&self, project: &Project, tools: &Path) -> Result<PathBuf, TaskError> {
        if let Some(program) = self.find(tools) {
            return Ok(program);
        }
        report::say(format!(
            "building {} {} from its published source ({}, once per user)",
            self.package, self.version, self.duration
        ));
        let mut cargo = project.cargo();
        cargo.args(["install", self.package, "--locked", "--version"]).arg(format!("={}", self.version));
        cargo.args(self.options).arg("--root").arg(tools);
        command::run(&mut cargo)?;
        Ok(self.built(tools))
    }

    fn built(&self, tools: &Path) -> PathBuf {
        tools.join("bin").join(self.program)
    }

    fn is_pinned(&self, answer: &str) -> bool {
        answer.trim() == self.answer
    }
}

#[cfg(test)]
mod tests {
    use crate::pins::{CARGO_DENY, NIXFMT};

    #[test]
    fn only_the_pinned_version_counts() {
        for pin in [CARGO_DENY, NIXFMT] {
            assert!(pin.answer.ends_with(pin.version), "{}", pin.package);
            assert!(pin.is_pinned(&format!("{}\n", pin.answer)));
            assert!(!pin.is_pinned(&pin.answer.replace(pin.version, "0.1.0")));
            assert!(!pin.is_pinned(""));
        }
    }
}
