//! The program `agent-hooks`, for tests that run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    hooks_agent::cli::main()
}
