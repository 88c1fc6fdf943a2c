//! Errors of MCP servers.

use std::io;
use std::process::ExitStatus;

use hooks_core::BoxError;

/// The error of an MCP server.
///
/// A tool that reports its own failure is not one of these: its text is the error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The process did not start.
    #[error("the MCP server `{program}` cannot be started")]
    Start {
        /// The program of the command.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The process runs, but does not speak the protocol.
    #[error("`{program}` does not answer as an MCP server does")]
    Handshake {
        /// The program of the command.
        program: String,
        /// The cause.
        source: BoxError,
    },
    /// The server was closed or has exited.
    #[error("the MCP server `{server}` does not run any more{}", in_brackets(*.status))]
    Ended {
        /// The name that the server reports, or the program if it did not report one.
        server: String,
        /// The exit status of the process, if known.
        status: Option<ExitStatus>,
    },
    /// The server answered a request with a protocol error, or in violation of the protocol.
    #[error("the MCP server `{server}` refused: {source}")]
    Refused {
        /// The name that the server reports.
        server: String,
        /// The error.
        source: BoxError,
    },
    /// The server answered a tool call with something other than a result.
    #[error("the MCP server `{server}` answered by {answer}, which is not supported")]
    Unsupported {
        /// The name that the server reports.
        server: String,
        /// The kind of answer.
        answer: &'static str,
    },
}

fn in_brackets(status: Option<ExitStatus>) -> String {
    status.map(|status| format!(" ({status})")).unwrap_or_default()
}
