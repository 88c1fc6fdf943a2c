//! The errors of pins.

use std::io;
use std::path::PathBuf;

/// Why pins cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpPinsError {
    /// The file cannot be read.
    #[error("the pins cannot be read from {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file has something else than pins.
    #[error("{} has no pins: {why}; expected what `McpPins::pin` writes", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The file cannot be written. It is as it was.
    #[error("the pins cannot be written to {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The tool is one of the program, which needs no pin.
    #[error("the tool `{tool}` comes from no server, so there is nothing to pin")]
    NoServer {
        /// The name of the tool.
        tool: String,
    },
}
