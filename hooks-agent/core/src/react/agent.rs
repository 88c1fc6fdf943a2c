//! The agent and its parts.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hooks_core::{Hookable, Hooks};

use crate::agent::{Agent, AgentExt, AgentState, Printer};
use crate::call::CallOptions;
use crate::hook::{HookList, SharedHooks};
use crate::memory::Memory;
use crate::message::Msg;
use crate::model::{ChatModel, ModelOptions, ToolSpec};
use crate::react::compressor::{CompressContext, ContextConfig};
use crate::react::hook_source::{Chosen, HookSources};
use crate::react::limits::Limits;
use crate::store::{Store, StoreError};
use crate::thread::Threads;
use crate::tool::Tool;

/// An agent that reasons with a model and acts with tools until it has an answer.
///
/// ```
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("echo", |request| format!("you said: {}", request.last_text()));
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// assert_eq!(agent.call("hello").await?.text(), "you said: hello");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
///
/// Create an agent with a [`builder`](ReActAgent::builder). [`AgentExt`](crate::agent::AgentExt) has
/// the methods that call it: `call`, `call_with`, `stream`, `resume`. Its own methods are hook points:
/// `reply`, `observe` and `print` of every [`Agent`], and those below. A call runs `reply`. Each round runs
/// `compress_context`, `system_prompt` and `reasoning`, which runs `model_call`; then, for each
/// tool call, `acting`, which runs `check_permission` and `tool_call`. Event hooks are hooks of
/// these methods.
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
/// | yes | none | runs the tools, calls the model; waits again for [questions](crate::event::PostReasoning::ask) without a decision |
/// | yes | results of all, with or without other messages | stores them, calls the model |
/// | yes | results of some, nothing else | stores them, runs the other tools |
/// | yes | anything else | fails with an [`InputError`](crate::error::InputError) |
///
/// If a process ended in mid-call, a call with messages runs the tools that have no result first, as
/// [the guide] says. Its messages follow the results; while tool calls wait for people, they are kept beside
/// the conversation.
///
/// [the guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/stores/index.html
///
/// A system message fails the call in every case. With
/// [`recover_pending`](crate::react::ReActAgentBuilder::recover_pending), messages without results
/// do not fail: the agent stores an error as result of each waiting tool call, then the messages,
/// and calls the model.
///
/// A call that fails before the model has answered leaves its messages in memory. Calling again
/// with the same messages does not store them twice; [`resume`](crate::agent::AgentExt::resume)
/// calls the model without new messages.
///
/// An answer of the model is unfinished until all hooks of its event have run. Memory keeps nothing
/// of an unfinished answer if the call fails or panics. If the call is interrupted or dropped,
/// memory keeps the text if no hook was to see it, otherwise only the note that there was an
/// answer.
///
/// One agent serves many conversations at once. Each conversation is a thread with its own memory.
#[derive(Hookable)]
pub struct ReActAgent {
    pub(super) core: Arc<Core>,
    pub(super) event_hooks: Arc<SharedHooks>,
    pub(super) chosen: Arc<Chosen>,
    pub(super) hooks: Hooks,
}

/// The parts of an agent, without its hooks.
pub(super) struct Core {
    pub(super) state: Arc<AgentState>,
    pub(super) threads: Arc<Threads>,
    /// Where the threads are.
    pub(super) store: Arc<dyn Store>,
    pub(super) system: Option<Arc<Msg>>,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) model_name: Arc<str>,
    pub(super) options: Arc<ModelOptions>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) specs: Arc<[ToolSpec]>,
    pub(super) sources: HookSources,
    /// How many of the tools are not of hooks; they are the first ones.
    pub(super) own_tools: usize,
    pub(super) compressor: Option<Arc<dyn CompressContext>>,
    pub(super) context: ContextConfig,
    pub(super) context_window: Option<u64>,
    pub(super) limits: Limits,
    pub(super) max_iters: usize,
    pub(super) max_jumps: usize,
    pub(super) tool_timeout: Option<Duration>,
    pub(super) runs_tools_at_once: bool,
    pub(super) recovers_pending: bool,
    /// Whether calls take what users say while they run.
    pub(super) is_steered: bool,
    pub(super) printer: Option<Printer>,
    /// Whether it was reported that hooks lose with the process what they keep.
    pub(super) has_reported: AtomicBool,
}

impl ReActAgent {
    /// Creates an agent from its parts and registers its hooks.
    pub(super) fn assemble(core: Core, hooks: HookList) -> Self {
        let event_hooks = Arc::new(SharedHooks::new(hooks));
        let (core, chosen) = (Arc::new(core), Arc::default());
        let agent = Self { core, event_hooks, chosen, hooks: Hooks::new() };
        agent.event_hooks.install(&agent);
        agent
    }

    /// Returns the same agent with its own set of hooks.
    pub(crate) fn fork(&self) -> Self {
        let event_hooks = Arc::new(SharedHooks::new(self.event_hooks.lock().clone()));
        let (core, chosen) = (self.core.clone(), Arc::default());
        Self { core, event_hooks, chosen, hooks: self.hooks.clone() }
    }

    /// Returns the memory of the default thread.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        self.core.threads.unnamed()
    }

    /// Returns the conversations of the agent, by thread.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.core.threads
    }

    /// Returns the memory of a thread, up to date with the store; `None` if there is no such thread, or
    /// nothing was said on it and no value kept. While a call runs on the thread, here or in another
    /// process, memory is as this process knows it.
    ///
    /// For programs that show what waits before they call: [`Memory::pending`] and [`Memory::waiting`].
    /// [`Threads::history`] has the messages alone.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// assert!(agent.read_thread("ada").await?.is_none());
    /// agent.call_with(CallOptions::new().thread("ada"), "Go").await?;
    /// let memory = agent.read_thread("ada").await?.expect("the call began the thread");
    /// assert_eq!(memory.messages().len(), 2);
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StoreError`] of a store outside of the process.
    pub async fn read_thread(&self, thread: &str) -> Result<Option<Arc<Memory>>, StoreError> {
        let threads = &self.core.threads;
        let memory = match threads.stored() {
            None => threads.memory(thread),
            Some(durable) => {
                let cx = self.context(CallOptions::new().thread(thread));
                let memory = self.memory_of_call(&cx);
                Box::pin(durable.refresh(&cx, &memory)).await?;
                Some(memory)
            }
        };
        Ok(memory.filter(|memory| !memory.is_unused()))
    }

    /// Returns the [store](crate::react::ReActAgentBuilder::store) of the agent. One that was built without a
    /// store has its threads in the memory of the process; its store lists and decides their questions.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::Filter;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// // `model` calls the tool `pay`.
    /// # let model =
    /// #     ScriptedModel::new("script", |_| ScriptedAnswer::from(ToolUse::new("1", "pay", json!({}))));
    /// # let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    /// let ask = on(|event: &mut PreActing<'_>| event.ask("money leaves"));
    /// let agent = ReActAgent::builder("clerk").model(model).tool(pay).hook(ask).build()?;
    /// agent.call("Pay the baker").await?;
    /// let waiting = agent.store().waiting(Filter::agent("clerk")).await?;
    /// assert_eq!(waiting[0].tool, "pay");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.core.store
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

    /// Returns the identity of the tool of this name.
    pub(super) fn identity_of(&self, name: &str) -> Option<Arc<str>> {
        self.tool(name).map(|tool| tool.identity().into())
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.core.tools.iter().find(|tool| tool.name() == name)
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
