//! Errors of the proxy.

use std::io;

/// Why a proxy cannot be set up or served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The URL of an upstream is none of `http` or `https`, or has a user, a query or a fragment.
    #[error("the URL of the upstream `{upstream}` is not of the form `https://api.example.org/v1`")]
    Url {
        /// The name of the provider.
        upstream: &'static str,
    },
    /// The URL is one of `https`, and the program is built without TLS.
    #[error(
        "the URL of the upstream `{upstream}` is one of `https`: build the program with the feature `tls` or `tls-ring` \
         of hooks-agent"
    )]
    NoTls {
        /// The name of the provider.
        upstream: &'static str,
    },
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built")]
    Client(#[source] reqwest::Error),
    /// A proxy that other machines reach has no token.
    #[error("`{address}` is not an address of this machine alone: it needs a token")]
    NoToken {
        /// The address.
        address: std::net::SocketAddr,
    },
    /// No host is known by which a proxy at all addresses is called.
    #[error("`{address}` has no name of its own: say by which hosts it is called")]
    NoHost {
        /// The address.
        address: std::net::SocketAddr,
    },
    /// A glob of tools is none.
    #[error("`{glob}` is no glob of tool names: {reason}")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The random numbers of the system cannot be read.
    #[error("the system gives no random numbers")]
    Random(#[source] io::Error),
    /// The listener failed.
    #[error("the listener failed")]
    Listener(#[from] io::Error),
}
