//! Developer tasks.

mod fixtures;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let check = match words.as_slice() {
        ["fixtures"] => false,
        ["fixtures", "--check"] => true,
        _ => return ExitCode::from(2),
    };
    match fixtures::run(&repository, check) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            let _ =
                std::io::Write::write_all(&mut std::io::stderr(), format!("{error}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}
