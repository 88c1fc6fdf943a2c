//! The errors of a studio.

use std::io;
use std::net::SocketAddr;

/// Why a studio cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudioError {
    /// The address cannot be bound, or is none.
    #[error("the studio cannot be bound to {address}")]
    Bind {
        /// The address.
        address: String,
        /// The cause.
        source: io::Error,
    },
    /// Other machines can reach the address, and no token was given.
    #[error(
        "{address} can be reached by other machines: give the studio a token, or bind it to 127.0.0.1"
    )]
    TokenRequired {
        /// The address.
        address: SocketAddr,
    },
    /// The token is too short, or has other characters than letters, digits, `-`, `.`, `_` and `~`.
    #[error("the token of the studio needs at least {least} letters, digits or `-._~`")]
    WeakToken {
        /// How many characters it needs.
        least: usize,
    },
    /// The key by which workers join is too short, or has other characters than letters, digits, `-`, `.`, `_` and `~`.
    #[error("the key by which workers join needs at least {least} letters, digits or `-._~`")]
    WeakKey {
        /// How many characters it needs.
        least: usize,
    },
    /// The studio cannot be joined at this URL.
    #[error("the studio cannot be joined: {reason}")]
    Join {
        /// What is wrong with the URL.
        reason: String,
    },
    /// There are no random numbers for a token.
    #[error("the system has no random numbers for the token of the studio")]
    NoRandom(#[source] io::Error),
    /// A hook of an agent decides by who a user is, and the studio authenticates nobody.
    #[error(
        "the hook `{hook}` of agent `{agent}` lets some users answer its questions, and the studio knows \
         nobody: say who decides by `Studio::authenticate` or `Studio::decided_by`, or that these \
         questions are decided elsewhere by `Studio::decided_elsewhere(true)`"
    )]
    NobodyDecides {
        /// The name of the agent.
        agent: String,
        /// The name of the hook.
        hook: String,
    },
    /// A part of the page is for some roles, and the studio authenticates nobody.
    #[error(
        "the part `{part}` of the studio is for some roles, and the studio knows nobody: say who asks by \
         `Studio::authenticate`"
    )]
    NobodyKnown {
        /// The name of the part.
        part: &'static str,
    },
    /// The store of the history keeps no runs.
    #[error(
        "the store of the studio's history keeps no runs: give it a `SqliteStore` or a `PostgresStore`"
    )]
    NoHistory,
    /// Two agents have one name.
    #[error("two agents of the studio are named `{agent}`")]
    DuplicateAgent {
        /// The name.
        agent: String,
    },
}
