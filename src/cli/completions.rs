//! Completion scripts, generated from the same definitions that parse the command line.

use clap::CommandFactory as _;

pub use clap_complete::Shell;

use super::Cli;

/// The completion script for `shell`.
pub fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ghidr", &mut script);
    script
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn every_shell_completes_every_command_and_global_flag() {
        for shell in Shell::value_variants() {
            let text = String::from_utf8(script(*shell)).unwrap();
            let command = Cli::command();
            for subcommand in command.get_subcommands() {
                assert!(text.contains(subcommand.get_name()), "{shell}: {}", subcommand.get_name());
            }
            for flag in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(text.contains(flag), "{shell}: --{flag}");
            }
        }
    }

    #[test]
    fn no_script_offers_the_internal_parts() {
        for shell in Shell::value_variants() {
            let text = String::from_utf8(script(*shell)).unwrap();
            for internal in ["worker", "guard"] {
                let offered =
                    text.contains(&format!("--{internal}")) || text.contains(&format!("-l {internal}"));
                assert!(!offered, "{shell}: {internal}");
            }
        }
    }
}
