//! Why a server does not start.

use std::io;
use std::path::PathBuf;

use hooks_agent_guest::GuestThreadsError;
use hooks_core::BoxError;

/// Why a guard cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The file of threads cannot be used, or another process has it.
    #[error("the file of threads `{}` cannot be used by this process alone", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// Why.
        source: GuestThreadsError,
    },
    /// The policy has limits that would not hold.
    #[error("the policy has limits that would not hold")]
    Policy(#[source] BoxError),
    /// Another process serves this socket.
    #[error("`{}` is served already: stop that process, or name another socket", .0.display())]
    IsServed(PathBuf),
    /// A socket or an address cannot be listened on.
    #[error("cannot listen on `{at}`")]
    Listen {
        /// The socket or address.
        at: String,
        /// Why.
        source: io::Error,
    },
    /// An address that others reach, or a file of a token that others read.
    #[error("{0}")]
    Open(String),
    /// The server failed.
    #[error("the server failed")]
    Server(#[source] io::Error),
}
