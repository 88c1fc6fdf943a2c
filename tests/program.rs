//! The program `hooks-agent`, for tests that run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    hooks_agent::cli::main()
}
