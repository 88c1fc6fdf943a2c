//! A compression of the conversation, for a hook around it.

use std::fmt;

use hooks_core::BoxError;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::of_a_call;
use crate::hook::around::Inner;
use crate::message::Messages;

/// A compression of the conversation to the context window of the model, by the
/// [compressor](crate::react::ReActAgentBuilder::compressor) of the agent, for a hook around it. An
/// agent without a compressor has none.
///
/// A hook that keeps conversations as they are:
///
/// ```
/// use hooks_agent::message::Messages;
/// use hooks_agent::prelude::*;
///
/// struct KeepAll;
///
/// #[agent_hook]
/// impl KeepAll {
///     async fn keep(
///         &self,
///         compression: Compression<'_>,
///         _: NextCompression<'_>,
///     ) -> Result<Messages, AgentError> {
///         Ok(compression.into_messages())
///     }
/// }
/// # let _ = KeepAll;
/// ```
pub struct Compression<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    messages: Messages,
    instructions: Option<&'a str>,
}

impl<'a> Compression<'a> {
    pub(crate) fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        messages: Messages,
        instructions: Option<&'a str>,
    ) -> Self {
        Self { agent, cx, messages, instructions }
    }

    of_a_call!();

    /// Returns the messages of the conversation.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Returns what the compressor is to keep, if the caller of `compress_context` said so.
    #[must_use]
    pub fn instructions(&self) -> Option<&'a str> {
        self.instructions
    }

    /// Returns the messages, to pass them on, or to keep them as they are.
    #[must_use]
    pub fn into_messages(self) -> Messages {
        self.messages
    }
}

/// The rest of a compression: the hooks further in, then the compressor.
#[derive(Clone, Copy)]
pub struct NextCompression<'a>(&'a dyn Inner<Messages, Messages, AgentError>);

impl<'a> NextCompression<'a> {
    pub(crate) fn new(inner: &'a dyn Inner<Messages, Messages, AgentError>) -> Self {
        Self(inner)
    }

    /// Compresses the messages.
    ///
    /// # Errors
    /// The errors of the compressor and of the hooks further in.
    pub async fn run(&self, messages: impl Into<Messages>) -> Result<Messages, AgentError> {
        let compressing = self.0.run(messages.into());
        compressing.await
    }

    /// Creates the error of a call that this hook fails, with the name of the hook.
    pub fn fail(&self, cause: impl Into<BoxError>) -> AgentError {
        self.0.fail(cause.into())
    }
}

impl fmt::Debug for Compression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compression").field("messages", &self.messages).finish_non_exhaustive()
    }
}

impl fmt::Debug for NextCompression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextCompression").finish_non_exhaustive()
    }
}
