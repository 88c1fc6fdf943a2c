//! The program `hooks-agent-ask`, for tests that run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    hooks_agent_client::main()
}
