//! Errors of MCP servers.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use hooks_core::BoxError;

/// The error of an MCP server.
///
/// A `server` is called by the name that it reports. Until then it is called by the program of its
/// command, or by the scheme, host and port of its URL. A text contains a header or the rest of the
/// URL only if the server quotes it.
///
/// A tool that reports its own failure is not one of these: its text is the error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The URL or a header cannot be used.
    #[error("cannot connect to an MCP server: {reason}")]
    Invalid {
        /// What was expected.
        reason: String,
    },
    /// The process did not start.
    #[error("the MCP server `{program}` cannot be started")]
    Start {
        /// The program of the command.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The server behind a URL cannot be reached.
    #[error("the MCP server `{server}` cannot be reached: {reason}")]
    Unreachable {
        /// The server.
        server: String,
        /// The cause.
        reason: String,
    },
    /// The server is there, but does not speak the protocol.
    #[error("`{server}` does not answer as an MCP server does")]
    Handshake {
        /// The server.
        server: String,
        /// The cause.
        source: BoxError,
    },
    /// The server took longer to start than [`start_timeout`] allows.
    ///
    /// [`start_timeout`]: crate::McpOptions::start_timeout
    #[error("the MCP server `{server}` took longer than {after:?} to start")]
    TimedOut {
        /// The server.
        server: String,
        /// The timeout.
        after: Duration,
    },
    /// The connection was closed, or the server has ended.
    #[error("the connection to the MCP server `{server}` has ended{}", in_brackets(*.status))]
    Ended {
        /// The server.
        server: String,
        /// The exit status of the process, if known.
        status: Option<ExitStatus>,
    },
    /// The server answered a request with an error, or in violation of the protocol.
    #[error("the MCP server `{server}` refused: {source}")]
    Refused {
        /// The server.
        server: String,
        /// The error.
        source: BoxError,
    },
    /// The server answered a tool call with something other than a result.
    #[error("the MCP server `{server}` answered by {answer}, which is not supported")]
    Unsupported {
        /// The server.
        server: String,
        /// The kind of answer.
        answer: &'static str,
    },
}

fn in_brackets(status: Option<ExitStatus>) -> String {
    status.map(|status| format!(" ({status})")).unwrap_or_default()
}
