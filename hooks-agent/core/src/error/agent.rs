//! The error of a call.

use std::time::Duration;

use hooks_core::{BoxError, HookError, RegistryError};

use crate::error::build::BuildError;
use crate::message::input::InputError;
use crate::model::ModelError;
use crate::report::ErrorReport;
use crate::store::StoreError;

/// The error of a call of an agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A hook failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// The registry of hooks refused a change.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The agent could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The messages of the call are invalid. Memory is unchanged.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The store failed, or refused a decision.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Hooks jumped to the model or to the tools too many times in a row.
    #[error("hooks jumped {limit} times in a row, raise `max_jumps` or return `Flow::Continue`")]
    TooManyJumps {
        /// The limit.
        limit: usize,
    },
    /// A call would wait for itself.
    #[error(
        "agent `{agent}` is called on thread `{thread}` from inside its own call on that thread, \
         which would wait for itself; use another thread"
    )]
    CallsItself {
        /// The name of the agent.
        agent: String,
        /// The thread.
        thread: String,
    },
    /// Calls would wait for each other for ever: agents that call each other on the same threads. The
    /// call that came last fails, so that the others go on.
    #[error(
        "calls would wait for each other for ever: {}; use another thread for one of them",
        cycle.join(", which waits for ")
    )]
    WaitsInCycle {
        /// The calls, each by its agent and thread. The first one is the last one too.
        cycle: Vec<String>,
    },
    /// The call waited for its turn for longer than
    /// [`CallOptions::queue_timeout`](crate::call::CallOptions::queue_timeout).
    #[error("the call of agent `{agent}` waited {after:?} for earlier calls on thread `{thread}`")]
    QueueTimeout {
        /// The name of the agent.
        agent: String,
        /// The thread.
        thread: String,
        /// The timeout.
        after: Duration,
    },
    /// The agent [shuts down](crate::agent::AgentExt::shutdown): the call did not begin, or it ended
    /// after a step and waits for another process to [go on](crate::agent::AgentExt::resume) with it.
    #[error("agent `{agent}` shuts down; the call goes on by `resume` in another process")]
    ShutDown {
        /// The name of the agent.
        agent: String,
    },
    /// The call before on the thread was cut off too often: each time its process ended. Its messages are
    /// set aside, and this call has done nothing; the next one goes on without them.
    #[error(
        "the last message on thread `{thread}` of agent `{agent}` is set aside: its call was cut off \
         {times} times (`max_cut_offs`); call again to go on without it"
    )]
    SetAside {
        /// The name of the agent.
        agent: String,
        /// The thread.
        thread: String,
        /// How many times the process of the call ended.
        times: u32,
    },
    /// The context of the call is interrupted. Only methods that are called on their own fail with
    /// it: a call by [`AgentExt`](crate::agent::AgentExt) returns a reply.
    #[error("the call is interrupted")]
    Interrupted,
    /// Who the user of the call is could not be found out, by the function that
    /// [finds users](crate::agent::AgentState::with_users). Nothing was changed.
    #[error("the user of the call could not be found")]
    User(#[source] BoxError),
    /// The conversation could not be compressed.
    #[error("the context could not be compressed")]
    Compression(#[source] BoxError),
    /// The input of the user could not be read.
    #[error("the input of user `{user}` could not be read")]
    Read {
        /// The name of the user.
        user: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The input of the user has ended.
    #[error("the input of user `{user}` has ended")]
    EndOfInput {
        /// The name of the user.
        user: String,
    },
    /// The call failed in an earlier process, which recorded the error; made by
    /// `AgentError::from` of an [`ErrorReport`]. Its [kind](Self::kind) is that of the error.
    #[error(transparent)]
    Recorded(ErrorReport),
    /// An agent of your own failed.
    #[error(transparent)]
    Other(BoxError),
}

impl AgentError {
    /// Creates the error of an agent of your own.
    ///
    /// ```
    /// use hooks_agent::error::AgentError;
    ///
    /// let error = std::fs::read("/no/such/file").map_err(AgentError::other).unwrap_err();
    /// assert!(error.to_string().starts_with("No such file"));
    /// ```
    pub fn other(error: impl Into<BoxError>) -> Self {
        Self::Other(error.into())
    }
}
