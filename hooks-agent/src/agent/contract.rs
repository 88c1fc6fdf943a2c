//! The contract of an agent.

use std::fmt;
use std::sync::Arc;

use hooks_core::{Hookable, hookable};

use crate::agent::AgentState;
use crate::context::CallContext;
use crate::error::AgentError;
use crate::memory::Memory;
use crate::message::{GenerateReason, Messages, Msg};

/// Anything that answers messages; use it as `dyn Agent` where the kind does not matter.
///
/// Its methods are hook points of every agent: `<dyn Agent>::PRE_REPLY`, and of one kind of agent:
/// `ReActAgent::PRE_REPLY`. Agents are called through [`AgentExt`](crate::AgentExt): that queues the
/// calls of a thread, lets interrupts through, and tells subscribers and observers of the end.
///
/// ```
/// use hooks_agent::{
///     Agent, AgentError, AgentExt, AgentState, CallContext, CallOutcome, Messages, Msg,
/// };
/// use hooks_core::{Hookable, Hooks, hookable};
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
///
///     async fn observe(&self, _: CallContext, _: Msg) -> Result<(), AgentError> {
///         Ok(())
///     }
///
///     fn print(&self, text: &str) {
///         println!("{text}");
///     }
///
///     #[hook]
///     fn settled(&self, _: CallContext, _: CallOutcome) {}
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
    /// Its name, its subscribers, and the queues of its calls.
    fn state(&self) -> &AgentState;

    /// Answers messages. Hooks see the messages before and the answer after; callers use
    /// [`call`](crate::AgentExt::call).
    ///
    /// # Errors
    /// Those of the agent and of hooks.
    #[hook(reentry = "run")]
    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError>;

    /// Takes note of a message without answering it.
    ///
    /// # Errors
    /// Those of the agent and of hooks.
    #[hook(reentry = "run")]
    async fn observe(&self, cx: CallContext, msg: Msg) -> Result<(), AgentError>;

    /// Shows text to a person.
    fn print(&self, text: &str);

    /// Takes note of the end of a call, whatever it was. Runs once for each call, also for one whose
    /// future is dropped, so it must not wait.
    #[hook]
    fn settled(&self, cx: CallContext, outcome: CallOutcome);

    /// The name of the agent, which its messages carry.
    fn name(&self) -> &str {
        self.state().name()
    }

    /// The id of the agent, unique everywhere.
    fn id(&self) -> &str {
        self.state().id()
    }

    /// The instructions that calls start with; hooks may change them for their call.
    fn system_message(&self) -> Option<Arc<Msg>> {
        None
    }

    /// What the agent remembers of the conversation of a call; `None` if it has no memory.
    fn memory_of(&self, _cx: &CallContext) -> Option<Arc<Memory>> {
        None
    }
}

/// How a call of an agent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// It gave a reply, for this reason.
    Finished(Option<GenerateReason>),
    /// It failed with the error of this text.
    Failed(Arc<str>),
    /// It was interrupted.
    Interrupted,
    /// Its future was dropped.
    Cancelled,
    /// Something in it panicked.
    Panicked,
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished(_) => f.write_str("finished"),
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Panicked => f.write_str("panicked"),
        }
    }
}
