//! The flow of a call after a hook.

use hooks_core::{BoxError, HookResult};

use crate::event::error::Substitute;
use crate::event::table::EventKind;
use crate::message::{Asker, Msg, Question, ToolResult};
use crate::round::{AskedPeople, Jump, JumpTo};

/// How a call continues after an event hook.
///
/// Every event accepts [`Continue`](Flow::Continue). The other flows are created by methods of the
/// events that accept them, as [the table of events](crate#events) lists, so a flow that an event
/// does not have fails to compile.
///
/// An answer ends its event: later hooks of the event do not run. After a stop or a jump, later
/// hooks do run. A later jump replaces an earlier one, and a stop by any hook overrides all jumps.
///
/// ```
/// use hooks_agent::message::GenerateReason;
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// struct Careful;
///
/// #[agent_hook]
/// impl Careful {
///     fn deny(&self, event: &mut PreActing<'_>) -> Flow {
///         if event.tool_use().name == "delete" { event.refuse("never") } else { Flow::Continue }
///     }
///
///     fn end(&self, event: &mut PostActing<'_>) -> Flow {
///         if event.tool_result().is_error { event.jump_to_end() } else { Flow::Continue }
///     }
/// }
///
/// # futures::executor::block_on(async {
/// // The model would call the tool in every round.
/// let model = ScriptedModel::new("stubborn", |_| ToolUse::new("1", "delete", json!({})));
/// let delete = FunctionTool::new("delete", "Deletes a file.", async |_: Value| "deleted");
/// let agent = ReActAgent::builder("assistant").model(model).tool(delete).hook(Careful).build()?;
/// let reply = agent.call("Delete it").await?;
/// assert_eq!(reply.reason, Some(GenerateReason::HookEnded));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
///
/// A chunk has no flows:
///
/// ```compile_fail
/// # use hooks_agent::event::{Flow, ReasoningChunk};
/// fn stop(event: &mut ReasoningChunk<'_>) -> Flow {
///     event.stop()
/// }
/// ```
#[derive(Debug, Default)]
#[must_use = "a hook returns its flow"]
#[non_exhaustive]
pub enum Flow {
    /// Continues with the next hook, then with the step after the event.
    #[default]
    Continue,
    /// Applies a decision that a method of the event created.
    Then(Decision),
}

/// A decision that a method of an event created.
#[derive(Debug)]
pub struct Decision(pub(crate) Box<Decided>);

#[derive(Debug)]
pub(crate) enum Decided {
    /// Stops the call, by the hook of this name.
    Stop(Option<String>),
    /// Asks for permission.
    Ask(Asker, Option<Box<Question>>),
    /// Asks people about tool calls.
    AskPeople(Vec<AskedPeople>),
    Jump(Jump),
    Answer(Msg),
    /// Answers a tool call, by the hook of this name.
    AnswerTool(ToolResult, Option<String>),
    Recover(Substitute),
}

impl Flow {
    pub(crate) fn then(decided: Decided) -> Self {
        Self::Then(Decision(Box::new(decided)))
    }

    pub(crate) fn jump(to: JumpTo) -> Self {
        Self::then(Decided::Jump(Jump { to, messages: crate::message::Messages::new() }))
    }

    pub(crate) fn stop() -> Self {
        Self::then(Decided::Stop(None))
    }

    /// Names the hook that stops the call, asks, or answers a tool call.
    /// It asks by the name `asks_as`.
    pub(crate) fn by(mut self, hook: impl FnOnce() -> String, asks_as: &str) -> Self {
        if let Self::Then(Decision(decided)) = &mut self {
            match &mut **decided {
                Decided::Stop(name) | Decided::AnswerTool(_, name) => *name = Some(hook()),
                Decided::AskPeople(asked) => {
                    for asked in asked {
                        asked.hook = Some(asks_as.to_owned());
                    }
                }
                Decided::Ask(asker, _) => asker.hook = Some(asks_as.to_owned()),
                _ => {}
            }
        }
        self
    }

    /// Returns the decision, if there is one.
    pub(crate) fn decision(&self) -> Option<&Decided> {
        match self {
            Self::Continue => None,
            Self::Then(Decision(decided)) => Some(decided),
        }
    }

    /// Takes the decision, if there is one.
    pub(crate) fn decided(self) -> Option<Decided> {
        match self {
            Self::Continue => None,
            Self::Then(Decision(decided)) => Some(*decided),
        }
    }
}

impl Decided {
    /// The error of a flow that a hook returns at another event than the one that created it.
    pub(crate) fn misplaced(kind: EventKind) -> BoxError {
        format!("the flow returned at {kind} was made by another event").into()
    }
}

/// The return types of handlers of [`#[agent_hook]`](macro@crate::agent_hook): `()`, [`Flow`], or a
/// [`HookResult`] of either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a hook returns",
    note = "return `()`, `hooks_agent::event::Flow`, or a `hooks_core::HookResult` of either"
)]
pub trait IntoFlow {
    /// Whether it may be another flow than [`Flow::Continue`].
    #[doc(hidden)]
    const DECIDES: bool = true;

    /// Converts the value into the result of a hook.
    ///
    /// # Errors
    /// The error of the hook.
    fn into_flow(self) -> HookResult<Flow>;
}

impl IntoFlow for () {
    const DECIDES: bool = false;

    fn into_flow(self) -> HookResult<Flow> {
        Ok(Flow::Continue)
    }
}

impl IntoFlow for Flow {
    const DECIDES: bool = true;

    fn into_flow(self) -> HookResult<Flow> {
        Ok(self)
    }
}

impl<T: IntoFlow> IntoFlow for HookResult<T> {
    const DECIDES: bool = T::DECIDES;

    fn into_flow(self) -> HookResult<Flow> {
        self?.into_flow()
    }
}
