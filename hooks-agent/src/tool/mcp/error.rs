//! What can go wrong with a server of tools.

use std::io;
use std::process::ExitStatus;

use hooks_core::BoxError;

/// Why a server of tools is of no use.
///
/// A tool that says itself that it has failed is none of these: what it says is the error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The process did not start.
    #[error("the MCP server `{program}` cannot be started")]
    Start {
        /// The program of the command.
        program: String,
        /// What went wrong.
        source: io::Error,
    },
    /// The process runs, but does not speak the protocol.
    #[error("`{program}` does not answer as an MCP server does")]
    Handshake {
        /// The program of the command.
        program: String,
        /// What went wrong.
        source: BoxError,
    },
    /// The server was closed or has died.
    #[error("the MCP server `{server}` does not run any more{}", in_brackets(*.status))]
    Ended {
        /// What the server calls itself; the program, if it did not get to say it.
        server: String,
        /// How its process ended, if it is known.
        status: Option<ExitStatus>,
    },
    /// The server answered a request with an error of the protocol, or not as the protocol says.
    #[error("the MCP server `{server}` refused: {source}")]
    Refused {
        /// What the server calls itself.
        server: String,
        /// What it said.
        source: BoxError,
    },
    /// The server answered a call by something else than a result.
    #[error("the MCP server `{server}` answered by {answer}, which is not supported")]
    Unsupported {
        /// What the server calls itself.
        server: String,
        /// What it answered.
        answer: &'static str,
    },
}

fn in_brackets(status: Option<ExitStatus>) -> String {
    status.map(|status| format!(" ({status})")).unwrap_or_default()
}
