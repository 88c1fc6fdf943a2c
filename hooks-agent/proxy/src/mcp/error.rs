//! The errors of a proxy.

use std::io;
use std::net::SocketAddr;

/// The error of a proxy between an agent and an MCP server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpProxyError {
    /// The process did not start.
    #[error("the MCP server `{program}` cannot be started")]
    Start {
        /// The program of the command.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// How the process ended is not known.
    #[error("how the MCP server `{program}` ended is not known")]
    Ended {
        /// The program of the command.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The URL of a server cannot be used.
    #[error("the URL of the MCP server cannot be used: {reason}")]
    Url {
        /// What was expected.
        reason: String,
    },
    /// Others than this machine would reach the proxy, without a token.
    #[error("others reach {address}: listen on 127.0.0.1, or set a token")]
    Open {
        /// Where it listens.
        address: SocketAddr,
    },
    /// The token is too short, or has other characters than a header may have.
    #[error("a token has at least 16 letters, digits and characters of `-._~`")]
    WeakToken,
    /// The listener fails.
    #[error("the proxy cannot listen")]
    Listen(#[source] io::Error),
}
