//! The agent: what it is made of.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::{Hookable, Hooks, RegistryError, hookable};

use crate::agent::{Agent, AgentState, CallOutcome, Printer};
use crate::context::CallContext;
use crate::error::AgentError;
use crate::event::{AgentHook, EventKind, EventPoints, HookList, Place};
use crate::memory::Memory;
use crate::message::{Messages, Msg};
use crate::model::{ChatModel, ModelOptions, ToolSpec};
use crate::react::batch::Batch;
use crate::react::context::{CompressContext, ContextConfig};
use crate::react::install::EVENT_POINTS;
use crate::react::resume::pending;
use crate::react::threads::Threads;
use crate::tool::Tool;

/// An agent that reasons with a model and acts with tools until it has an answer.
///
/// It is called through [`AgentExt`](crate::AgentExt) and made by a
/// [`builder`](ReActAgent::builder). Its methods are hook points: `reply`, `observe` and `print` of
/// every [`Agent`], and those below. A call runs `reply`; in it, round by round, `compress_context`,
/// `system_prompt` and `reasoning`, inside of which is `model_call`, then for each tool call `acting`,
/// inside of which are `check_permission` and `tool_call`. Event hooks are hooks of these methods.
///
/// Whatever happens in a call - an error, a failing hook, an interrupt, a dropped future - each tool
/// call of the model has exactly one result in the memory of the thread once the call is over. Only a
/// call that a hook stopped, or that asks for permission, leaves tool calls waiting:
///
/// | tool calls wait | messages of the next call | what happens |
/// |---|---|---|
/// | no | any, or none; results only together with their calls | they are remembered, the model is asked |
/// | yes | none | the tools run, the model is asked |
/// | yes | results of all | they are remembered, the model is asked |
/// | yes | results of some, nothing else | they are remembered, the other tools run |
/// | yes | anything else | the call fails with an [`InputError`](crate::InputError), unless [`recover_pending`](crate::ReActAgentBuilder::recover_pending) is on and there is no result among them: then errors are remembered as results |
///
/// One agent serves many conversations at once, each a thread with a memory of its own.
#[derive(Hookable)]
pub struct ReActAgent {
    pub(super) core: Arc<Core>,
    hooks: Hooks,
}

/// What an agent is made of, besides its hooks.
#[derive(Clone)]
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
    pub(super) max_iters: usize,
    pub(super) max_jumps: usize,
    pub(super) tool_timeout: Option<Duration>,
    pub(super) runs_tools_at_once: bool,
    pub(super) recovers_pending: bool,
    pub(super) printer: Option<Printer>,
}

impl ReActAgent {
    /// An agent of these parts, with its hooks.
    pub(super) fn assemble(core: Core, hooks: &HookList<Self>) -> Self {
        let agent = Self { core: Arc::new(core), hooks: Hooks::new() };
        hooks.install(&agent);
        agent
    }

    /// The same agent with hooks of its own, and perhaps other tools.
    pub(super) fn fork(&self, tools: Vec<Arc<dyn Tool>>, hooks: &HookList<Self>) -> Self {
        let core = Core { tools, ..Core::clone(&self.core) };
        let agent = Self { core: Arc::new(core), hooks: self.hooks.clone() };
        hooks.install(&agent);
        agent
    }

    /// What the agent remembers of the thread that calls are on which name none.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        self.core.threads.unnamed()
    }

    /// What the agent remembers of a thread that calls have named.
    #[must_use]
    pub fn thread_memory(&self, id: &str) -> Option<Arc<Memory>> {
        self.core.threads.get(id)
    }

    /// Forgets a thread that calls have named; says whether there was one. A call that runs on it goes
    /// on with the memory that it has.
    pub fn forget_thread(&self, id: &str) -> bool {
        self.core.threads.forget(id)
    }

    /// Adds an event hook while calls run; its tools are not added. Calls see it from their next event
    /// on. One of the same name is replaced.
    #[track_caller]
    pub fn register_agent_hook(&self, hook: impl AgentHook) {
        let place = Place::of(&hook, hook.name(), Location::caller());
        self.install(&Arc::new(hook), &place);
        // What the one before wanted and this one does not.
        self.remove_events(&place.name, |event| !place.events.contains(event));
    }

    /// Removes an event hook, by its name, from all events.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`] if there is none of that name.
    pub fn remove_agent_hook(&self, name: &str) -> Result<(), RegistryError> {
        match self.remove_events(name, |_| true) {
            0 => self.remove_instance_hook(Self::PRE_REPLY, name),
            _ => Ok(()),
        }
    }

    fn remove_events(&self, name: &str, is_meant: impl Fn(EventKind) -> bool) -> usize {
        let meant = EVENT_POINTS.iter().filter(|(kind, _)| is_meant(*kind));
        let removed = meant.filter(|(_, point)| self.remove_instance_hook(*point, name).is_ok());
        removed.count()
    }

    /// Answers the tool calls that wait, with an error.
    pub(super) fn give_up_calls(&self, cx: &CallContext) {
        let memory = self.core.threads.memory(cx.named_thread());
        drop(Batch::new(cx, &memory, pending(&memory.messages())));
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

    /// Reasons and acts in turns until the model asks for no more tools.
    ///
    /// # Errors
    /// Those of the model and of hooks; [`AgentError::Input`] if the messages are not what the agent
    /// waits for; [`AgentError::TooManyJumps`]. A tool that fails is no error of the call: the model
    /// gets to read what went wrong.
    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.run(cx, messages).await
    }

    async fn observe(&self, cx: CallContext, msg: Msg) -> Result<(), AgentError> {
        self.core.threads.memory(cx.named_thread()).add(msg);
        Ok(())
    }

    fn print(&self, text: &str) {
        if let Some(printer) = &self.core.printer {
            printer(text);
        }
    }

    /// Answers the tool calls that were to wait, if the call came to another end after all.
    #[hook]
    fn settled(&self, cx: CallContext, outcome: CallOutcome) {
        if cx.leaves_calls() && !matches!(outcome, CallOutcome::Finished(_)) {
            self.give_up_calls(&cx);
        }
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
