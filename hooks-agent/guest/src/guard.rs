//! Decides about the events of another agent.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::model::{ChatStream, ModelAnswer};
use hooks_agent_core::react::HookSource;
use hooks_agent_policy::command::{CommandEvent, HookDecision, Input, Output};
use hooks_core::HookRole;

use crate::contract::output;
use crate::decided::Decided;
use crate::event::Event;
use crate::prompt::Screened;
use crate::thread::GuestThread;
use crate::{answer, prompt, stop, tool_result, tool_use};

/// Decides about the events of an agent that is written elsewhere, by the event hooks of a
/// [source](HookSource).
///
/// Each event runs the hooks that are meant for it, in a call of an agent that has no model and no
/// tools. Events at which nothing can be decided have an empty answer. An event that is of another
/// contract, such as `BeforeTool` or one with a `turn_id`, is not served: its answer ends the run or
/// blocks.
///
/// | event | hooks run at | answer |
/// |---|---|---|
/// | `SessionStart` | `PreCall`, `PreReasoning` | what they add to the system message, as context |
/// | `UserPromptSubmit`, `PRE_CALL` | `PreCall`, `PreReasoning`, `model_call` of hooks that redact | `block` if they answer, fail, or would change the text |
/// | `PreToolUse`, `PRE_ACTING` | `PostReasoning`, `PreActing`, the permission check, around the tool | `deny`, `ask`, new arguments, or nothing |
/// | `PostToolUse`, `POST_ACTING` | `PostActing`, around the tool for hooks that redact | the result as they leave it |
/// | `Stop`, `SubagentStop` | `PostReasoning` | `block` if they send the model on, the end of the run if they fail |
///
/// Hooks that fail or panic block the event, and what they would remove from a result is removed. At
/// `SessionStart`, which nothing can block, people are warned, and the prompts that come are decided.
/// Nothing is ever allowed on behalf of the user: a tool call that passes has no decision.
///
/// Where a hook asks, the others run as if people had let the call run, and one that refuses it then denies it: no event
/// comes after the question. What hooks keep with the thread in that second run is not kept, but what they do elsewhere is
/// done: a command may run twice.
///
/// ```
/// use hooks_agent::command::{Input, PermissionDecision};
/// use hooks_agent::guest::{GuestThread, Guard};
/// use hooks_agent::prelude::*;
/// use hooks_agent::react::{HookSet, HookSource};
/// use serde_json::json;
///
/// struct NoShell(HookSet);
///
/// impl HookSource for NoShell {
///     fn hooks(&self, _: &CallContext) -> HookSet {
///         self.0.clone()
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let refuse = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
///     "Bash" => event.refuse("no shell here"),
///     _ => Flow::Continue,
/// });
/// let guard = Guard::new(NoShell(HookSet::of(refuse)));
/// let mut input = Input::new("PreToolUse");
/// (input.tool_name, input.tool_input) = (Some("Bash".into()), Some(json!({ "command": "ls" })));
/// let output = guard.decide(&input, &mut GuestThread::default()).await;
/// let specific = output.hook_specific_output.unwrap();
/// assert_eq!(specific.permission_decision, Some(PermissionDecision::Deny));
/// assert_eq!(specific.permission_decision_reason.as_deref(), Some("no shell here"));
/// # });
/// ```
#[derive(Clone)]
pub struct Guard {
    source: Arc<dyn HookSource>,
    agent: Arc<str>,
}

impl Guard {
    /// The name of the agent for hooks, if it is not set.
    pub const DEFAULT_AGENT: &str = "coding-agent";

    /// Creates the guard with the hooks of a source.
    #[must_use]
    pub fn new(source: impl HookSource) -> Self {
        Self { source: Arc::new(source), agent: Self::DEFAULT_AGENT.into() }
    }

    /// Sets the name of the agent for hooks. A sub-agent has the name that the event says: it runs the
    /// hooks that are meant for this name, and those of the agent that go on into sub-agents.
    #[must_use]
    pub fn agent(self, name: impl Into<Arc<str>>) -> Self {
        Self { agent: name.into(), ..self }
    }

    /// Runs the hooks of an event, with what they kept with the thread, and returns the answer. What they
    /// keep now is in `thread`, also if they block the event.
    pub async fn decide(&self, input: &Input, thread: &mut GuestThread) -> Output {
        let kind = input.hook_event_name.parse::<CommandEvent>();
        let not_served = not_served(input);
        match (kind, not_served) {
            (Ok(kind), Some(reason)) => output(undecided(kind, &reason), input),
            (Ok(kind), None) => output(self.decided(kind, input, thread).await, input),
            (Err(_), None) => Output::default(),
            (Err(_), Some(reason)) => {
                let mut both = output(Decided::ends(reason.clone()), input);
                (both.decision, both.reason) = (Some(HookDecision::Block), Some(reason));
                both
            }
        }
    }

    /// Runs the hooks of an event. A hook that panics blocks it.
    pub(crate) async fn decided(
        &self,
        kind: CommandEvent,
        input: &Input,
        thread: &mut GuestThread,
    ) -> Decided {
        let decided = AssertUnwindSafe(self.run_hooks(kind, input, thread)).catch_unwind().await;
        decided.unwrap_or_else(|_| undecided(kind, "a hook could not check this call"))
    }

    /// Returns what hooks make of what the user writes, for an agent that can take another text: those of
    /// `UserPromptSubmit`, which [`decide`](Self::decide) blocks if it would change. `input` says whose session it is.
    pub async fn screen_prompt(
        &self,
        input: &Input,
        thread: &mut GuestThread,
        text: impl Into<String>,
    ) -> Screened {
        let event = self.event(CommandEvent::UserPromptSubmit, input, thread);
        contained(prompt::prompt(event, text.into())).await
    }

    /// Returns what hooks make of the text that the agent is about to reply with: those of `PostReasoning` and
    /// `PostCall`, and those around the model call that redact.
    pub async fn screen_reply(
        &self,
        input: &Input,
        thread: &mut GuestThread,
        text: impl Into<String>,
    ) -> Screened {
        let event = self.event(CommandEvent::Stop, input, thread);
        contained(prompt::reply(event, text.into())).await
    }

    /// Returns whether hooks that limit model calls allow the next one, which they count:
    /// [`Same`](Screened::Same), or why not.
    pub async fn count_model_call(&self, input: &Input, thread: &mut GuestThread) -> Screened {
        contained(prompt::model_call(self.event(CommandEvent::Stop, input, thread))).await
    }

    /// Returns the answer of a model as hooks around the model call that redact leave it: what they release, as soon
    /// as they release it, and nothing else. A model of this crate that they are around has the same answer.
    ///
    /// An item that is an error ends the answer; what was held back is not in it. A hook that panics while the answer is
    /// read panics there.
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use hooks_agent::builtin::guard::PiiDetection;
    /// use hooks_agent::command::Input;
    /// use hooks_agent::guest::{Guard, GuestThread};
    /// use hooks_agent::message::Usage;
    /// use hooks_agent::model::ChatChunk;
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::react::{HookSet, HookSource};
    ///
    /// struct Always(HookSet);
    ///
    /// impl HookSource for Always {
    ///     fn hooks(&self, _: &CallContext) -> HookSet {
    ///         self.0.clone()
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let guard = Guard::new(Always(HookSet::of(PiiDetection::all().output(true))));
    /// let text = |text: &str| Ok(ChatChunk::Text(text.to_owned()));
    /// let said = [text("Ask ann@exam"), text("ple.com now."), Ok(ChatChunk::end(Usage::default()))];
    /// let (input, mut thread) = (Input::new("Stop"), GuestThread::default());
    /// let answer = Box::pin(futures::stream::iter(said));
    /// let answer = guard.screen_answer(&input, &mut thread, answer).await.unwrap();
    /// let chunks: Vec<_> = answer.try_collect().await?;
    /// let texts = chunks.iter().filter_map(|chunk| match chunk {
    ///     ChatChunk::Text(text) => Some(text.as_str()),
    ///     _ => None,
    /// });
    /// assert_eq!(texts.collect::<String>(), "Ask [REDACTED_EMAIL] now.");
    /// # Ok::<(), hooks_agent::model::ModelError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The reason, if a hook fails or panics before there is an answer.
    pub async fn screen_answer(
        &self,
        input: &Input,
        thread: &mut GuestThread,
        answer: ChatStream,
    ) -> Result<ModelAnswer, String> {
        let event = self.event(CommandEvent::Stop, input, thread);
        let screened = AssertUnwindSafe(answer::stream(event, answer)).catch_unwind().await;
        screened.unwrap_or_else(|_| Err("a hook could not check the answer".to_owned()))
    }

    /// Returns whether there are hooks for [`screen_answer`](Self::screen_answer): those around the model call that
    /// redact. Without, an answer stays as it is.
    #[must_use]
    pub fn redacts_answers(&self, input: &Input) -> bool {
        self.any(input, |role, _, around| {
            answer::redacts(role).intersection(around) != AroundMask::NONE
        })
    }

    /// Returns whether there are hooks that may change a reply once it is complete, and do not run around the model call:
    /// at `PostReasoning` or `PostCall`, of a role that changes content.
    #[must_use]
    pub fn screens_replies(&self, input: &Input) -> bool {
        const EVENTS: EventMask = EventMask::of(&[EventKind::PostReasoning, EventKind::PostCall]);
        self.any(input, |role, events, around| {
            changes_content(role)
                && events.intersection(EVENTS) != EventMask::NONE
                && answer::redacts(role).intersection(around) == AroundMask::NONE
        })
    }

    /// Returns whether there are hooks that may change the result of a tool: at `PostActing`, of a role that changes
    /// content, or around the tool call.
    #[must_use]
    pub fn screens_results(&self, input: &Input) -> bool {
        self.any(input, |role, events, around| {
            changes_content(role) && events.contains(EventKind::PostActing)
                || role == Some(HookRole::Redacts) && around.contains(AroundMask::TOOL_CALL)
        })
    }

    fn any(
        &self,
        input: &Input,
        is: impl FnMut(Option<HookRole>, EventMask, AroundMask) -> bool,
    ) -> bool {
        let mut nobody = GuestThread::default();
        let event = self.event(CommandEvent::Stop, input, &mut nobody);
        // What cannot be known is taken for what is stricter.
        event.hooks().is_none_or(|hooks| hooks.any(is))
    }

    fn event<'a>(
        &'a self,
        kind: CommandEvent,
        input: &'a Input,
        thread: &'a mut GuestThread,
    ) -> Event<'a> {
        Event { source: &self.source, agent: &self.agent, kind, input, thread }
    }

    async fn run_hooks(
        &self,
        kind: CommandEvent,
        input: &Input,
        thread: &mut GuestThread,
    ) -> Decided {
        let event = self.event(kind, input, thread);
        match kind {
            CommandEvent::SessionStart => prompt::session_start(event).await,
            // A call that resumes another has no prompt.
            CommandEvent::Own(EventKind::PreCall) if input.prompt.is_none() => Decided::Passes,
            CommandEvent::UserPromptSubmit | CommandEvent::Own(EventKind::PreCall) => {
                prompt::submitted(event).await
            }
            CommandEvent::PreToolUse | CommandEvent::Own(EventKind::PreActing) => {
                tool_use::asked(event).await
            }
            CommandEvent::PostToolUse | CommandEvent::Own(EventKind::PostActing) => {
                tool_result::returned(event).await
            }
            CommandEvent::Stop | CommandEvent::SubagentStop => stop::stopped(event).await,
            CommandEvent::Own(_) if kind.can_block() => Decided::Blocks(format!(
                "a guard decides nothing at `{kind}`: write it at `PRE_ACTING` or `PreToolUse`"
            )),
            _ => Decided::Passes,
        }
    }
}

/// Returns whether hooks of a role may change content.
fn changes_content(role: Option<HookRole>) -> bool {
    matches!(role, None | Some(HookRole::Redacts))
}

/// A hook that panics blocks.
async fn contained(screened: impl Future<Output = Screened>) -> Screened {
    let screened = AssertUnwindSafe(screened).catch_unwind().await;
    screened.unwrap_or_else(|_| Screened::Blocked("a hook could not check this text".to_owned()))
}

/// Returns what is made of an event about which nothing can be decided.
pub(crate) fn undecided(kind: CommandEvent, reason: &str) -> Decided {
    let reason = reason.to_owned();
    match kind {
        CommandEvent::PreToolUse | CommandEvent::Own(EventKind::PreActing) => {
            Decided::Denies(reason)
        }
        CommandEvent::PostToolUse | CommandEvent::Own(EventKind::PostActing) => {
            Decided::Withholds(reason)
        }
        CommandEvent::Stop | CommandEvent::SubagentStop => Decided::ends(reason),
        CommandEvent::UserPromptSubmit | CommandEvent::Own(_) if kind.can_block() => {
            Decided::Blocks(reason)
        }
        _ => Decided::Warns(reason),
    }
}

/// Returns why nothing is decided about an event: it is of an agent with another contract, in which an
/// answer of this one may count as none.
fn not_served(input: &Input) -> Option<String> {
    let name = input.hook_event_name.as_str();
    match name.parse::<CommandEvent>() {
        // Codex takes neither a question nor other arguments, and runs the tool then.
        Ok(event) if event.can_block() && input.other.contains_key("turn_id") => Some(format!(
            "a guard does not answer this agent by the contract of commands: `{name}` has a `turn_id`, and \
             agents that write it take other answers; run the program `hooks-agent guard`"
        )),
        Err(unknown) if !CommandEvent::OF_CODING_AGENTS.contains(&name) => {
            let near = unknown.near().map(|near| format!(", did you mean `{near}`?"));
            Some(format!(
                "a guard does not serve the event `{}`{}",
                name.escape_debug(),
                near.unwrap_or_default()
            ))
        }
        _ => None,
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("agent", &self.agent).finish_non_exhaustive()
    }
}
