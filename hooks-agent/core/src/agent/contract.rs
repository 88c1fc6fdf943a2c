//! The `Agent` trait.

use std::fmt;
use std::sync::Arc;

use hooks_core::{BoxFuture, Hookable, hookable};

use crate::agent::journaled::write_stored;
use crate::agent::state::AgentState;
use crate::call::CallContext;
use crate::call::tool::Tool;
use crate::error::AgentError;
use crate::memory::{FindMemory, Memory};
use crate::message::{GenerateReason, Messages, Msg};
use crate::model::ToolSpec;
use crate::store::{Step, StoreError, ThreadKey};

/// An agent: answers messages. Use `dyn Agent` for an agent of any kind.
///
/// The methods are hook points, of every agent as `<dyn Agent>::PRE_REPLY` and of one kind of agent
/// as `ReActAgent::PRE_REPLY`. Call an agent through [`AgentExt`](crate::agent::AgentExt): it
/// queues the calls of a thread, handles interrupts, and runs `settled` and the subscribers at the
/// end of a call.
///
/// ```
/// use hooks_agent::prelude::*;
///
/// #[derive(Hookable)]
/// struct Parrot {
///     state: AgentState,
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Agent for Parrot {
///     fn state(&self) -> &AgentState {
///         &self.state
///     }
///
///     async fn reply(&self, _: CallContext, messages: Messages) -> Result<Msg, AgentError> {
///         let text = messages.last().map(|msg| msg.text()).unwrap_or_default();
///         Ok(Msg::assistant(self.name(), text))
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let parrot = Parrot { state: AgentState::new("parrot"), hooks: Hooks::new() };
/// assert_eq!(parrot.call(Msg::user("hello")).await?.text(), "hello");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[hookable]
pub trait Agent: Hookable {
    /// Returns the state of the agent: its name, its id, its subscribers and the queues of its
    /// calls.
    fn state(&self) -> &AgentState;

    /// Answers messages. Pre hooks receive the messages, post hooks the reply. To call an agent,
    /// use [`call`](crate::agent::AgentExt::call).
    ///
    /// # Errors
    /// The errors of the agent and of hooks.
    #[hook(reentry = "run")]
    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError>;

    /// Receives a message without answering it. The default ignores it.
    ///
    /// # Errors
    /// The errors of the agent and of hooks.
    #[hook(reentry = "run")]
    async fn observe(&self, cx: CallContext, msg: Msg) -> Result<(), AgentError> {
        let _ = (cx, msg);
        Ok(())
    }

    /// Prints text for the user. The default prints nothing.
    #[hook(reentry = "run")]
    fn print(&self, text: &str) {
        let _ = text;
    }

    /// Receives the outcome of a call. Runs once for each call, also when its future is dropped, so
    /// it cannot wait. The default does nothing.
    #[hook(reentry = "run")]
    fn settled(&self, cx: CallContext, outcome: CallOutcome) {
        let _ = (cx, outcome);
    }

    /// Returns the tool of this name, if the agent has one, as hooks find it by
    /// [`event.agent()`](crate::event::PreActing::agent). The default is none.
    fn find_tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let _ = name;
        None
    }

    /// Returns whether tool calls of one answer may run at once: what a hook sees of those before a tool call may not
    /// be all then. The default is `true`, for agents that do not say.
    fn runs_tools_at_once(&self) -> bool {
        true
    }

    /// Begins a call of the agent. Returns the agent to run it on, if hooks of a parent call apply
    /// to it.
    #[doc(hidden)]
    fn begin(&self, _cx: &CallContext) -> Option<Arc<dyn Agent>> {
        None
    }

    /// Returns whether hooks run around whole calls of the agent.
    #[doc(hidden)]
    fn has_whole_call(&self) -> bool {
        false
    }

    /// Answers messages inside of the hooks around whole calls.
    #[doc(hidden)]
    fn run_whole_call(
        &self,
        cx: CallContext,
        messages: Messages,
    ) -> BoxFuture<'_, Result<Msg, AgentError>> {
        Box::pin(async move { self.reply(cx, messages).await })
    }

    /// Returns what the agent keeps as it is while a call runs, or waits for its turn.
    #[doc(hidden)]
    fn hold(&self, _cx: &CallContext) -> Option<Arc<Memory>> {
        None
    }

    /// Returns the memories of the threads of the agent.
    #[doc(hidden)]
    fn threads_by_id(&self) -> Option<Arc<dyn FindMemory>> {
        None
    }

    /// Returns the names of all tools of the agent, those that its hooks bring too; with `below`, also
    /// those of its sub-agents. `None` if they are not known.
    #[doc(hidden)]
    fn tool_names(&self, _below: bool) -> Option<Vec<String>> {
        None
    }

    /// Returns whether the threads of the agent are in a store outside of the process; with `below`, also
    /// whether those of a sub-agent are.
    #[doc(hidden)]
    fn is_stored(&self, _below: bool) -> bool {
        false
    }

    /// Returns whether hooks see the replies of the agent before its callers do.
    #[doc(hidden)]
    fn has_reviewers(&self) -> bool {
        false
    }

    /// Writes what a call with a journal adds to a thread of this agent, or of one below it, that is in a
    /// store.
    #[doc(hidden)]
    fn write_thread<'a>(
        &'a self,
        key: &'a ThreadKey,
        step: &'a Step,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        write_stored(self, key, step)
    }

    /// Returns the name of the agent, which is the name on its messages.
    fn name(&self) -> &str {
        self.state().name()
    }

    /// Returns the globally unique id of the agent.
    fn id(&self) -> &str {
        self.state().id()
    }

    /// Returns the system message that each call starts with. Hooks may change it for one call.
    fn system_message(&self) -> Option<Arc<Msg>> {
        None
    }

    /// Returns the descriptions of the tools that the agent was given, without those that its hooks bring.
    /// Each round begins with both; hooks may send the model others.
    fn tool_specs(&self) -> &[ToolSpec] {
        &[]
    }

    /// Returns the memory of the thread of a call, or `None` if the agent has no memory.
    fn memory_of(&self, _cx: &CallContext) -> Option<Arc<Memory>> {
        None
    }
}

/// The outcome of a call of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The call returned a reply, for this reason.
    Finished(Option<GenerateReason>),
    /// The call failed; this is the text of the error.
    Failed(Arc<str>),
    /// The call was interrupted.
    Interrupted,
    /// The future of the call was dropped.
    Cancelled,
    /// The call panicked.
    Panicked,
}

impl CallOutcome {
    /// Returns the name of the outcome, for logs and metrics: `finished`, `failed`, `interrupted`, `cancelled` or
    /// `panicked`.
    ///
    /// ```
    /// use hooks_agent::agent::CallOutcome;
    ///
    /// assert_eq!(CallOutcome::Failed("no such model".into()).name(), "failed");
    /// ```
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Finished(_) => "finished",
            Self::Failed(_) => "failed",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
        }
    }

    /// Returns the text of the error, if the call failed.
    #[must_use]
    pub fn error(&self) -> Option<&Arc<str>> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.error().map_or(Ok(()), |error| write!(f, ": {error}"))
    }
}
