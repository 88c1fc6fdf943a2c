//! The context of a call, shared by hooks, tools and the agent.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::call::foreign::ForeignGuards;
use crate::call::interrupt::Interrupts;
use crate::call::marks::Marks;
use crate::call::options::{CallOptions, RunMode};
use crate::call::owner::HookOwner;
use crate::call::state::{HookFailure, State};
use crate::call::stream::EventSink;
use crate::call::thread::Kept;
use crate::call::tool::CheckedCall;
use crate::error::InputError;
use crate::identity::User;
use crate::journal::JournalScope;
use crate::memory::{Confirmed, FindMemory, Memory, Through};
use crate::message::{Msg, ToolUse};
use crate::run_id::RunId;
use crate::store::{Ledger, Verdict};
use crate::usage::Usage;

/// The context of a call, shared by hooks, tools and the agent: its ids, its thread, the caller's
/// values, and the means to interrupt the call.
///
/// Each call has its own context, so one agent can serve many calls at once. A clone shares the
/// context.
#[derive(Clone)]
pub struct CallContext {
    pub(super) call: Arc<Call>,
    pub(super) events: Option<EventSink>,
    /// The tool call that runs on it.
    pub(super) checked: Option<Arc<CheckedCall>>,
    /// Whose hook it is given to, if not one of the agent.
    pub(super) owner: Option<Arc<HookOwner>>,
}

pub(super) struct Call {
    pub(super) run: RunId,
    pub(super) agent_id: Arc<str>,
    pub(super) agent_name: Arc<str>,
    pub(super) thread: Option<Arc<str>>,
    pub(super) parent: Option<CallContext>,
    pub(super) interrupt: Interrupts,
    /// What the caller confirmed, before it is checked.
    pub(super) confirms: Vec<Confirmed>,
    pub(super) queue_timeout: Option<Duration>,
    /// The tool call that runs the agent, if it is a tool.
    pub(super) through: Option<Through>,
    /// The memories of the agent's threads.
    pub(super) threads: Option<Arc<dyn FindMemory>>,
    /// Where quotas are counted, if it is in the process.
    pub(super) ledger: Option<Arc<Ledger>>,
    /// What people decided, before it is checked.
    pub(super) verdicts: Vec<Verdict>,
    /// The user whom the caller named.
    pub(super) user: Option<User>,
    /// Who the user is, once it is known: the one whom the caller named, or that of the thread.
    pub(super) identity: OnceLock<User>,
    pub(super) takes_over: bool,
    pub(super) mode: RunMode,
    /// Cancelled when the agent shuts down.
    pub(super) shutdown: CancellationToken,
    /// Where the call is kept, if anywhere: a journal from the beginning, the store of the thread once it
    /// is leased.
    pub(super) kept: OnceLock<Kept>,
    /// Who watches the event hooks.
    pub(super) watchers: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// What guards foreign text.
    pub(super) foreign_guards: OnceLock<ForeignGuards>,
    /// The most rounds that hooks allow.
    pub(super) max_iters: AtomicUsize,
    /// The call that a hook in shadow sees in this one.
    pub(super) shadow_of: Option<Weak<Call>>,
    /// How often its model was asked.
    pub(super) asked: AtomicU64,
    /// What each step asks.
    pub(super) marks: Marks,
    pub(super) state: Mutex<State>,
}

impl CallContext {
    /// The id of the thread of calls that name none.
    pub const DEFAULT_THREAD: &str = "default";

    pub(crate) fn new(
        agent_id: Arc<str>,
        agent_name: Arc<str>,
        system: Option<Arc<Msg>>,
        threads: Option<Arc<dyn FindMemory>>,
        options: CallOptions,
    ) -> Self {
        let CallOptions {
            run,
            thread,
            interrupt,
            values,
            confirmed,
            queue_timeout,
            parent,
            through,
            key,
            events,
            verdicts,
            user,
            takes_over,
            mode,
            only_unfinished,
            journal,
            is_call,
            shutdown,
            ledger,
        } = options;
        let inherited = parent.as_ref().and_then(|parent| parent.call.thread.clone());
        let thread = thread.or(inherited).filter(|id| **id != *Self::DEFAULT_THREAD);
        let events = events.or_else(|| parent.as_ref().and_then(|parent| parent.events.clone()));
        let takes_over = takes_over
            || user.is_none() && parent.as_ref().is_some_and(|parent| parent.call.takes_over);
        let mode = match (mode, parent.as_ref().map(|parent| &parent.call.mode)) {
            (_, Some(RunMode::Plan)) => RunMode::Plan,
            (Some(mode), _) => mode,
            (None, above) => above.cloned().unwrap_or_default(),
        };
        // Who the user of the caller is, it has found out, or asks nobody.
        let above = parent.as_ref().filter(|_| user.is_none()).and_then(|parent| parent.identity());
        let identity = above.cloned().map(OnceLock::from).unwrap_or_default();
        let parent_id = parent.as_ref().map(|parent| parent.call.agent_id.clone());
        let journal = match (journal, parent.as_ref().and_then(CallContext::journal)) {
            (Some(journal), _) => {
                Some(Arc::new(JournalScope::new(journal, run.unwrap_or_else(RunId::random))))
            }
            (None, Some(outer)) if is_call => {
                let parent = parent.as_ref().and_then(CallContext::checked);
                let tool_call = through.as_deref().or(parent.map(|call| &**call.id()));
                Some(Arc::new(outer.inside(&agent_name, tool_call)))
            }
            _ => None,
        };
        let run = journal.as_ref().map(|journal| journal.run_id()).or(run);
        let marks = Marks::default();
        marks.has_system.set(system.is_some());
        marks.only_unfinished.set(only_unfinished);
        let call = Call {
            run: run.unwrap_or_else(RunId::random),
            agent_id,
            agent_name,
            thread,
            parent,
            interrupt: Interrupts::new(interrupt),
            confirms: confirmed,
            queue_timeout,
            through: through.zip(parent_id).map(|(call, agent)| Through { agent, call, key }),
            threads,
            ledger,
            verdicts,
            user,
            identity,
            shutdown,
            takes_over,
            mode,
            kept: journal.map(Kept::Journal).map(OnceLock::from).unwrap_or_default(),
            watchers: OnceLock::new(),
            foreign_guards: OnceLock::new(),
            max_iters: AtomicUsize::new(usize::MAX),
            asked: AtomicU64::new(0),
            shadow_of: None,
            marks,
            state: Mutex::new(State { values, system, ..State::default() }),
        };
        Self { call: Arc::new(call), events, checked: None, owner: None }
    }

    /// Returns the id of this call.
    #[must_use]
    pub fn run_id(&self) -> RunId {
        self.call.run
    }

    /// Returns the call that this one is part of, if the agent runs as a tool of another.
    #[must_use]
    pub fn parent(&self) -> Option<&CallContext> {
        self.call.parent.as_ref()
    }

    /// Returns the outermost call that this one is part of: itself, unless the agent runs as a tool of
    /// another.
    #[must_use]
    pub fn outermost(&self) -> &CallContext {
        let mut outermost = self;
        while let Some(parent) = outermost.parent() {
            outermost = parent;
        }
        outermost
    }

    /// Returns the id of the thread of the call.
    #[must_use]
    pub fn thread_id(&self) -> &str {
        self.call.thread.as_deref().unwrap_or(Self::DEFAULT_THREAD)
    }

    /// Returns the thread, if the caller named one.
    pub(crate) fn named_thread(&self) -> Option<&Arc<str>> {
        self.call.thread.as_ref()
    }

    /// Returns the id of the agent.
    #[must_use]
    pub fn agent_id(&self) -> &str {
        &self.call.agent_id
    }

    /// Returns the name of the agent.
    #[must_use]
    pub fn agent_name(&self) -> &str {
        &self.call.agent_name
    }

    pub(crate) fn shared_agent_name(&self) -> Arc<str> {
        self.call.agent_name.clone()
    }

    /// Returns whether the caller has [confirmed](CallOptions::confirm) the tool call, which waited
    /// for a result when this call began. A tool call that runs a sub-agent is confirmed while tool
    /// calls of the sub-agent wait: it began before.
    #[must_use]
    pub fn is_confirmed(&self, tool_call_id: &str) -> bool {
        self.call.marks.is_resuming.is_set()
            && self.state().resumed.confirmed.iter().any(|it| it.id == tool_call_id)
    }

    /// Limits the rounds of this call to this number, if it is below the limits set before: those of
    /// other hooks, and the one of the [agent](crate::react::ReActAgentBuilder::max_iters). A call that
    /// reaches the limit asks the model for a summary.
    ///
    /// ```
    /// use hooks_agent::message::GenerateReason;
    /// use hooks_agent::prelude::*;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// let limit = on(|event: &mut PreCall<'_>| event.context().limit_iters(2));
    /// let again = FunctionTool::new("again", "Has more to say.", async |_: Value| "call it again");
    /// // `model` calls the tool in each round.
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.tools.is_empty() {
    /// #         true => "Nothing yet.".into(),
    /// #         false => ToolUse::new("1", "again", json!({})).into(),
    /// #     }
    /// # });
    /// let agent = ReActAgent::builder("assistant").model(model).tool(again).hook(limit).build()?;
    /// let reply = agent.call("Go").await?;
    /// assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn limit_iters(&self, max_iters: usize) {
        self.call.max_iters.fetch_min(max_iters, Ordering::Relaxed);
    }

    /// Returns the most rounds that hooks allow.
    pub(crate) fn max_iters(&self) -> usize {
        self.call.max_iters.load(Ordering::Relaxed)
    }

    /// Returns the token usage of this call so far, including its sub-agents.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.state().usage
    }

    /// Returns the first 64 failures of error hooks in this call, oldest first; a sub-agent's call has
    /// its own. The call fails with the error
    /// that these hooks handled; their own failures are reported here, to hooks of `Settled`, and
    /// through `tracing`.
    #[must_use]
    pub fn hook_failures(&self) -> Vec<HookFailure> {
        self.state().hook_failures.clone()
    }

    /// Returns whether the call is at what an earlier run of it has recorded in its
    /// [journal](crate::call::CallOptions::journal): what happens now happened before. Its stream has
    /// no events of it, and hooks that are [once](crate::hook::AgentHook::once) do not receive it.
    ///
    /// False for a call without a journal.
    #[must_use]
    pub fn is_replaying(&self) -> bool {
        self.replays(self.checked().map(|checked| &**checked.id()))
    }

    /// Returns the same context for running a tool call.
    pub(crate) fn of_checked(&self, checked: &Arc<CheckedCall>) -> Self {
        Self { checked: Some(checked.clone()), ..self.clone() }
    }

    /// Returns the tool call that runs on this context.
    pub(crate) fn checked(&self) -> Option<&Arc<CheckedCall>> {
        self.checked.as_ref()
    }

    /// Returns the tool call that ran, while hooks [around](crate::hook::NextTool) the tool call have its
    /// result: a hook further in may run another one than a hook further out was given. `None` before one
    /// ran, and outside of a tool call.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// struct Ran;
    ///
    /// #[agent_hook]
    /// impl Ran {
    ///     async fn log(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
    ///         let cx = call.context().clone();
    ///         let result = next.run(call.into_tool_use()).await;
    ///         if let Some(ran) = cx.ran_tool_use() {
    ///             println!("{} ran", ran.name);
    ///         }
    ///         result
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn ran_tool_use(&self) -> Option<Arc<ToolUse>> {
        self.checked()?.ran()
    }

    /// Returns the memory of the thread: always the same one, also if the thread is forgotten
    /// meanwhile. `None` if the agent keeps no threads.
    #[must_use]
    pub fn memory(&self) -> Option<Arc<Memory>> {
        if let Some(memory) = &self.state().memory {
            return Some(memory.clone());
        }
        let found = self.call.threads.as_ref()?.memory_of(self.named_thread());
        Some(self.state().memory.get_or_insert(found).clone())
    }

    /// Returns the memory of the thread, if the call has come to use it.
    pub(crate) fn begun_memory(&self) -> Option<Arc<Memory>> {
        self.state().memory.clone()
    }

    pub(crate) fn is_only_unfinished(&self) -> bool {
        self.call.marks.only_unfinished.is_set()
    }

    /// Refuses a call that is for unfinished threads alone, if its thread is finished.
    pub(crate) fn check_unfinished(&self, memory: &Memory) -> Result<(), InputError> {
        if self.is_only_unfinished() && memory.is_finished() {
            return Err(InputError::NothingToResume { thread: self.thread_id().to_owned() });
        }
        Ok(())
    }

    /// Returns how long the call may wait for its turn.
    pub(crate) fn queue_timeout(&self) -> Option<Duration> {
        self.call.queue_timeout
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.call.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates the context of a call without an agent, on a thread of its own.
impl Default for CallContext {
    fn default() -> Self {
        let cx = Self::new("".into(), "".into(), None, None, CallOptions::default());
        cx.set_memory(Arc::default());
        cx
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("run", &self.call.run)
            .field("agent", &self.call.agent_name)
            .field("thread", &self.thread_id())
            .finish_non_exhaustive()
    }
}
