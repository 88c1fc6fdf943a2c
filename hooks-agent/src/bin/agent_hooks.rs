//! The program `agent-hooks`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hooks_agent::cli::main()
}
