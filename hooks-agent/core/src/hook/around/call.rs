//! A whole call of an agent, for a hook around it.

use std::fmt;

use hooks_core::{BoxError, BoxFuture};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::of_a_call;
use crate::hook::around::Inner;
use crate::message::{Messages, Msg};
use crate::stream::AgentEvent;

/// Changes an event of the stream of a call, or drops it by returning `None`.
pub(crate) type MapEvent = Box<dyn Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync>;

/// A whole call, for a hook around it: outside of the hooks of `PreCall`, `PostCall` and `ErrorEvent`, so
/// that what it receives is what the caller sent, and what it returns is what the caller gets. The thread
/// is read by then, and is written afterwards.
///
/// An interrupt, and the caller, may drop the call, and the hook with it.
///
/// A hook that waits at the end of each call, however its hooks and its model ended it:
///
/// ```
/// use hooks_agent::prelude::*;
///
/// struct Flush;
///
/// #[agent_hook]
/// impl Flush {
///     async fn at_the_end(&self, call: AgentCall<'_>, next: NextCall<'_>) -> Result<Msg, AgentError> {
///         let ended = next.run(call.into_messages()).await;
///         // A file, a queue ..
///         tokio::task::yield_now().await;
///         ended
///     }
/// }
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(Flush).build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct AgentCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    messages: Messages,
}

impl<'a> AgentCall<'a> {
    pub(crate) fn new(agent: &'a dyn Agent, cx: &'a CallContext, messages: Messages) -> Self {
        Self { agent, cx, messages }
    }

    of_a_call!();

    /// Returns the messages of the caller, without the messages in memory.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Returns a mutable reference to the messages of the caller.
    pub fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    /// Returns the messages of the caller, to pass them on.
    #[must_use]
    pub fn into_messages(self) -> Messages {
        self.messages
    }
}

/// The rest of a whole call.
pub(crate) trait InnerCall: Inner<Messages, Msg, AgentError> {
    /// Runs it with a map of its events.
    fn run_mapped(
        &self,
        messages: Messages,
        map: MapEvent,
    ) -> BoxFuture<'_, Result<Msg, AgentError>>;
}

/// The rest of a whole call: the hooks further in, then the agent with the hooks of its events.
#[derive(Clone, Copy)]
pub struct NextCall<'a>(&'a dyn InnerCall);

impl<'a> NextCall<'a> {
    pub(crate) fn new(inner: &'a dyn InnerCall) -> Self {
        Self(inner)
    }

    /// Runs the call.
    ///
    /// # Errors
    /// The errors of the agent and of the hooks further in.
    pub async fn run(&self, messages: Messages) -> Result<Msg, AgentError> {
        self.0.run(messages).await
    }

    /// Runs the call like [`run`](Self::run), with a closure that changes each event of its stream before it
    /// is read, or drops it by returning `None`: also those of its sub-agents, which
    /// [`AgentEvent::run`](crate::stream::AgentEvent::run) tells apart. The closures of hooks further in run
    /// first. The first and the last event of the call are sent outside of it.
    ///
    /// [`send_event`](CallContext::send_event) of the context that the hook has sends what it held back.
    ///
    /// # Errors
    /// The same as for `run`.
    pub async fn run_with_events(
        &self,
        messages: Messages,
        map: impl Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync + 'static,
    ) -> Result<Msg, AgentError> {
        self.0.run_mapped(messages, Box::new(map)).await
    }

    /// Creates the error of a call that this hook fails, with the name of the hook.
    pub fn fail(&self, cause: impl Into<BoxError>) -> AgentError {
        self.0.fail(cause.into())
    }
}

impl fmt::Debug for AgentCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentCall").field("messages", &self.messages).finish_non_exhaustive()
    }
}

impl fmt::Debug for NextCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextCall").finish_non_exhaustive()
    }
}
