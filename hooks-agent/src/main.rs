//! The program `hooks-agent`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hooks_agent::cli::main()
}
