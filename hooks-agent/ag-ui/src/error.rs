//! Why a server does not start.

/// Why a server does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgUiError {
    /// A hook of the agent decides by who a user is, and the server authenticates nobody.
    #[error(
        "the hook `{hook}` of agent `{agent}` lets some users answer its questions, and the server knows \
         nobody: say who asks by `AgUi::authenticate`, or that these questions are decided elsewhere by \
         `AgUi::decided_elsewhere(true)`"
    )]
    NobodyDecides {
        /// The name of the agent.
        agent: String,
        /// The name of the hook.
        hook: String,
    },
}
