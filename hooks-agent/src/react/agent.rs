//! The agent and its parts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::{Hookable, Hooks, hookable};

use crate::agent::{Agent, AgentState, CallOutcome, Printer};
use crate::call::CallContext;
use crate::error::{AgentError, InputError};
use crate::hook::{HookList, SharedHooks};
use crate::memory::Memory;
use crate::message::{Messages, Msg};
use crate::model::{ChatModel, ModelOptions, ToolSpec};
use crate::react::compression::{CompressContext, ContextConfig};
use crate::react::limits::Limits;
use crate::react::threads::Threads;
use crate::tool::Tool;

/// An agent that reasons with a model and acts with tools until it has an answer.
///
/// Create an agent with a [`builder`](ReActAgent::builder) and call it through
/// [`AgentExt`](crate::AgentExt). Its methods are hook points: `reply`, `observe` and `print` of
/// every [`Agent`], and those below. A call runs `reply`. Each round runs `compress_context`,
/// `system_prompt` and `reasoning`, which runs `model_call`; then, for each tool call, `acting`,
/// which runs `check_permission` and `tool_call`. Event hooks are hooks of these methods.
///
/// When a call is over, each tool call of the model has exactly one result in the memory of the
/// thread, also after an error, a failed hook, an interrupt or a dropped future. Only a call that a
/// hook stopped, or that asks for permission, leaves tool calls waiting for a result;
/// [`Msg::pending`] of its reply and [`Memory::pending`] list them. The next call then depends on
/// its messages:
///
/// | tool calls wait | messages of the next call | what the agent does |
/// |---|---|---|
/// | no | any or none; results only with their tool calls | stores them, calls the model |
/// | yes | none | runs the tools, calls the model |
/// | yes | results of all, with or without other messages | stores them, calls the model |
/// | yes | results of some, nothing else | stores them, runs the other tools |
/// | yes | anything else | fails with an [`InputError`] |
///
/// A system message fails the call in every case. With
/// [`recover_pending`](crate::ReActAgentBuilder::recover_pending), messages without results do
/// not fail: the agent stores an error as result of each waiting tool call, then the messages, and
/// calls the model.
///
/// A call that fails before the model has answered leaves its messages in memory. Calling again with
/// the same messages does not store them twice; [`resume`](crate::AgentExt::resume) calls the model
/// without new messages.
///
/// An answer of the model is unfinished until all hooks of its event have run. Memory keeps nothing of
/// an unfinished answer if the call fails or panics. If the call is interrupted or dropped, memory
/// keeps the text if no hook was to see it, otherwise only the note that there was an answer.
///
/// One agent serves many conversations at once. Each conversation is a thread with its own memory.
#[derive(Hookable)]
pub struct ReActAgent {
    pub(super) core: Arc<Core>,
    pub(super) event_hooks: Arc<SharedHooks<Self>>,
    hooks: Hooks,
}

/// The parts of an agent, without its hooks.
pub(super) struct Core {
    pub(super) state: Arc<AgentState>,
    pub(super) threads: Arc<Threads>,
    pub(super) system: Option<Arc<Msg>>,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) model_name: Arc<str>,
    pub(super) options: Arc<ModelOptions>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) specs: Arc<[ToolSpec]>,
    pub(super) compressor: Option<Arc<dyn CompressContext>>,
    pub(super) context: ContextConfig,
    pub(super) limits: Limits,
    pub(super) max_iters: usize,
    pub(super) max_jumps: usize,
    pub(super) tool_timeout: Option<Duration>,
    pub(super) runs_tools_at_once: bool,
    pub(super) recovers_pending: bool,
    pub(super) printer: Option<Printer>,
}

impl ReActAgent {
    /// Creates an agent from its parts and registers its hooks.
    pub(super) fn assemble(core: Core, hooks: HookList<Self>) -> Self {
        let event_hooks = Arc::new(SharedHooks::new(hooks));
        let agent = Self { core: Arc::new(core), event_hooks, hooks: Hooks::new() };
        agent.event_hooks.lock().install(&agent);
        agent
    }

    /// Returns the same agent with its own set of hooks.
    pub(super) fn fork(&self) -> Self {
        let event_hooks = Arc::new(SharedHooks::new(self.event_hooks.lock().clone()));
        Self { core: self.core.clone(), event_hooks, hooks: self.hooks.clone() }
    }

    /// Returns the memory of the default thread.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        self.core.threads.unnamed()
    }

    /// Returns the memory of a named thread, or `None` if there is no such thread.
    #[must_use]
    pub fn thread_memory(&self, id: &str) -> Option<Arc<Memory>> {
        self.core.threads.get(id)
    }

    /// Removes a named thread and returns whether there was one. A call that runs on the thread
    /// continues with its memory.
    pub fn forget_thread(&self, id: &str) -> bool {
        self.core.threads.forget(id)
    }

    /// Prints the text of an answer, if there is somebody to see it.
    pub(super) fn print_answer(&self, answer: &Msg) {
        if self.core.printer.is_none() && !self.is_hooked(Self::PRE_PRINT) {
            return;
        }
        let text = answer.text();
        if !text.is_empty() {
            self.print(&text);
        }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.core.tools.iter().find(|tool| tool.name() == name)
    }
}

#[hookable]
impl Agent for ReActAgent {
    fn state(&self) -> &AgentState {
        &self.core.state
    }

    /// Reasons and acts in turns until the model answers without tool calls.
    ///
    /// # Errors
    /// The errors of the model and of hooks. [`AgentError::Input`] if the messages are invalid, as
    /// the table of [`ReActAgent`] lists. [`AgentError::TooManyJumps`] if hooks jump too many times
    /// in a row. A failed tool does not fail the call: the model reads its error.
    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.run(cx, messages).await
    }

    /// Appends the message to the memory of the thread.
    ///
    /// # Errors
    /// [`AgentError::Input`] for a system message, and for a message with tool calls or results:
    /// these belong to the agent that called.
    async fn observe(&self, cx: CallContext, msg: Msg) -> Result<(), AgentError> {
        let messages = [Arc::new(msg)];
        InputError::check_appended(&[], &messages)?;
        self.core.threads.memory(cx.named_thread()).extend(messages);
        Ok(())
    }

    fn print(&self, text: &str) {
        if let Some(printer) = &self.core.printer {
            printer(text);
        }
    }

    /// Answers the tool calls that were to wait, if the call did not finish.
    #[hook]
    fn settled(&self, cx: CallContext, outcome: CallOutcome) {
        if matches!(outcome, CallOutcome::Finished(_)) {
            return;
        }
        let asking = self.core.threads.existing(cx.named_thread()).and_then(|it| it.asking());
        if asking.is_some_and(|asking| asking.run == cx.run_id()) {
            self.give_up_calls(&cx);
        }
    }

    fn begin(&self, cx: &CallContext) -> Option<Box<dyn Agent>> {
        let callers = std::iter::successors(cx.parent(), |caller| caller.parent());
        let mut inherited = HookList::default();
        for hooks in callers.filter_map(CallContext::hooks) {
            if let Ok(hooks) = hooks.downcast::<SharedHooks<Self>>() {
                inherited.inherit(&hooks.lock());
            }
        }
        let governed = (!inherited.is_empty()).then(|| {
            let (core, event_hooks) = (self.core.clone(), self.event_hooks.clone());
            let agent = Self { core, event_hooks, hooks: self.hooks.clone() };
            inherited.install(&agent);
            Box::new(agent)
        });
        let agent = governed.as_deref().unwrap_or(self);
        cx.set_hooks(agent.event_hooks.clone());
        cx.set_has_reviewers(agent.has_reviewers());
        governed.map(|agent| -> Box<dyn Agent> { agent })
    }

    fn has_reviewers(&self) -> bool {
        self.has_hooks(Self::POST_REPLY) || self.has_hooks(Self::AROUND_REPLY)
    }

    fn system_message(&self) -> Option<Arc<Msg>> {
        self.core.system.clone()
    }

    fn memory_of(&self, cx: &CallContext) -> Option<Arc<Memory>> {
        Some(self.core.threads.memory(cx.named_thread()))
    }
}

impl fmt::Debug for ReActAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReActAgent")
            .field("name", &self.core.state.name())
            .field("model", &self.core.model_name)
            .field("tools", &self.core.tools)
            .field("max_iters", &self.core.max_iters)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}
