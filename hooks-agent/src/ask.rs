//! The program `hooks-agent-ask`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hooks_agent_client::main()
}
