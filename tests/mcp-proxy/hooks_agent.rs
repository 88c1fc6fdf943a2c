//! The program `hooks-agent`, for tests that run it.

use std::process::ExitCode;

// The hooks that policy files may use.
use hooks_agent_builtin as _;

fn main() -> ExitCode {
    hooks_agent_cli::main()
}
