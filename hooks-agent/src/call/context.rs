//! The context of a call, shared by hooks, tools and the agent.

use std::any::Any;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures::future::select;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::call::CallOptions;
use crate::call::values::Values;
use crate::error::AgentError;
use crate::message::{Msg, ToolResult};
use crate::run_id::RunId;
use crate::stream::{AgentEvent, AgentEventKind, EventSink};
use crate::usage::Usage;

/// The context of a call, shared by hooks, tools and the agent: its ids, its thread, the caller's
/// values, and the means to interrupt the call.
///
/// Each call has its own context, so one agent can serve many calls at once. A clone shares the
/// context.
#[derive(Clone)]
pub struct CallContext {
    call: Arc<Call>,
    events: Option<EventSink>,
}

struct Call {
    run: RunId,
    agent_id: Arc<str>,
    agent_name: Arc<str>,
    thread: Option<Arc<str>>,
    parent: Option<CallContext>,
    interrupt: Interrupt,
    /// What the caller confirmed, before it is checked.
    confirms: Vec<String>,
    queue_timeout: Option<Duration>,
    /// The tool call that runs the agent, if it is a tool.
    through: Option<Through>,
    state: Mutex<State>,
}

/// A tool call of an agent that runs another agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Through {
    /// The id of the agent.
    pub(crate) agent: Arc<str>,
    /// The id of the tool call.
    pub(crate) call: Arc<str>,
}

/// Whether the call is interrupted.
#[derive(Default)]
struct Interrupt {
    is_set: AtomicBool,
    set: Notify,
    /// The token of the caller.
    token: Option<CancellationToken>,
    /// Whether an interrupt drops the future of the call.
    drops_call: AtomicBool,
}

/// The mutable state of a call.
#[derive(Default)]
struct State {
    values: Values,
    usage: Usage,
    system: Option<Arc<Msg>>,
    /// The tool calls that may run, as long as they wait.
    confirmed: Vec<String>,
    /// The results for tool calls of sub-agents.
    answers: Vec<ToolResult>,
    /// Whether the tool calls that run waited since an earlier call.
    is_resuming: bool,
    /// The answer whose hooks have not all run.
    unfinished: Unfinished,
    /// What an interrupted call returns.
    partial: Option<Arc<Msg>>,
    /// The event hooks of the agent, for agents that it calls.
    hooks: Option<Arc<dyn Any + Send + Sync>>,
    /// Whether hooks review replies, so that nobody else sees one before them.
    has_reviewers: bool,
    /// Whether error hooks received the error of the call where it happened.
    is_told: bool,
}

/// An answer whose hooks have not all run.
#[derive(Default)]
pub(crate) enum Unfinished {
    /// The model has not answered.
    #[default]
    Nothing,
    /// The answer up to where the model was dropped.
    Partial(Arc<Msg>),
    /// The answer is complete; hooks hold it.
    Whole,
}

impl CallContext {
    /// The id of the thread of calls that name none.
    pub const DEFAULT_THREAD: &str = "default";

    pub(crate) fn new(
        agent_id: Arc<str>,
        agent_name: Arc<str>,
        system: Option<Arc<Msg>>,
        options: CallOptions,
    ) -> Self {
        let CallOptions {
            thread,
            interrupt,
            values,
            confirmed,
            queue_timeout,
            parent,
            through,
            events,
        } = options;
        let inherited = parent.as_ref().and_then(|parent| parent.call.thread.clone());
        let thread = thread.or(inherited).filter(|id| **id != *Self::DEFAULT_THREAD);
        let events = events.or_else(|| parent.as_ref().and_then(|parent| parent.events.clone()));
        let parent_id = parent.as_ref().map(|parent| parent.call.agent_id.clone());
        let call = Call {
            run: RunId::random(),
            agent_id,
            agent_name,
            thread,
            parent,
            interrupt: Interrupt { token: interrupt, ..Interrupt::default() },
            confirms: confirmed,
            queue_timeout,
            through: through.zip(parent_id).map(|(call, agent)| Through { agent, call }),
            state: Mutex::new(State { values, system, ..State::default() }),
        };
        Self { call: Arc::new(call), events }
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

    /// Returns the value of this type, from this call or else from the call that it is part of.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let own = self.state().values.get();
        own.or_else(|| self.parent().and_then(Self::get))
    }

    /// Stores a value for the rest of this call and returns the previous value of this type.
    pub fn insert<T: Any + Send + Sync>(&self, value: T) -> Option<Arc<T>> {
        self.state().values.insert(value)
    }

    /// Removes the value of this type from this call and returns it.
    #[must_use]
    pub fn remove<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.state().values.remove()
    }

    /// Interrupts the call: it ends with the partial message and the reason
    /// [`Interrupted`](crate::GenerateReason::Interrupted). Nothing in the call can catch the
    /// interrupt.
    pub fn interrupt(&self) {
        self.call.interrupt.is_set.store(true, Ordering::Release);
        self.call.interrupt.set.notify_waiters();
    }

    /// Returns whether the call is interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let Interrupt { is_set, token, .. } = &self.call.interrupt;
        is_set.load(Ordering::Acquire)
            || token.as_ref().is_some_and(CancellationToken::is_cancelled)
            || self.parent().is_some_and(Self::is_interrupted)
    }

    /// Waits until the call is interrupted.
    pub async fn interrupted(&self) {
        let Interrupt { is_set, set, token, .. } = &self.call.interrupt;
        let own = async {
            let mut waits = pin!(set.notified());
            waits.as_mut().enable();
            if !is_set.load(Ordering::Acquire) {
                waits.await;
            }
        };
        if token.is_none() && self.parent().is_none() {
            return own.await;
        }
        let token = async {
            match token {
                Some(token) => token.cancelled().await,
                None => pending().await,
            }
        };
        let parent = async {
            match self.parent() {
                Some(parent) => Box::pin(parent.interrupted()).await,
                None => pending().await,
            }
        };
        select(pin!(own), select(pin!(token), pin!(parent))).await;
    }

    /// Returns whether the caller has [confirmed](CallOptions::confirm) the tool call, which waited
    /// for a result when this call began.
    #[must_use]
    pub fn is_confirmed(&self, tool_call_id: &str) -> bool {
        self.state().confirmed.iter().any(|id| id == tool_call_id)
    }

    /// Returns the token usage of this call so far, including its sub-agents.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.state().usage
    }

    /// Returns the same context with a filter on the events of its stream: the closure changes an
    /// event, or drops it by returning `None`.
    ///
    /// An around hook of `reply` that replaces `args.cx` with it receives the events of the call,
    /// an inner hook before an outer one. The first and the last event of the call are sent outside
    /// of `reply`, so the hook does not receive them.
    #[must_use]
    pub fn map_events(
        &self,
        map: impl Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync + 'static,
    ) -> Self {
        let mapped = |sink: EventSink| EventSink::Mapped(Arc::new(map), Arc::new(sink));
        Self { call: self.call.clone(), events: self.events.clone().map(mapped) }
    }

    /// Sends an event to the stream. `kind` runs only if the call has one.
    pub(crate) async fn emit(&self, kind: impl FnOnce() -> AgentEventKind) {
        if let Some(events) = &self.events {
            let Call { run, agent_name, parent, .. } = &*self.call;
            let parent = parent.as_ref().map(CallContext::run_id);
            events
                .send(AgentEvent { agent: agent_name.clone(), run: *run, parent, kind: kind() })
                .await;
        }
    }

    /// Returns whether the call has a stream.
    pub(crate) fn is_watched(&self) -> bool {
        self.events.is_some()
    }

    /// Ends the call here if it is interrupted, so that nothing new starts.
    ///
    /// A call by [`AgentExt`](crate::AgentExt) is dropped; a method that is called on its own fails.
    pub(crate) async fn checkpoint(&self) -> Result<(), AgentError> {
        if !self.is_interrupted() {
            return Ok(());
        }
        if self.call.interrupt.drops_call.load(Ordering::Relaxed) {
            pending::<()>().await;
        }
        Err(AgentError::Interrupted)
    }

    /// Polls the future of the call until it is ready, or the call is interrupted.
    pub(crate) async fn run_until_interrupted<T>(
        &self,
        call: impl Future<Output = T>,
    ) -> Option<T> {
        self.call.interrupt.drops_call.store(true, Ordering::Relaxed);
        let (mut call, mut interrupted) = (pin!(call), pin!(self.interrupted()));
        poll_fn(|cx| {
            // An interrupted call may have a reply ready too.
            if self.is_interrupted() {
                return Poll::Ready(None);
            }
            match call.as_mut().poll(cx) {
                Poll::Ready(reply) => Poll::Ready(Some(reply)),
                Poll::Pending => interrupted.as_mut().poll(cx).map(|()| None),
            }
        })
        .await
    }

    /// Returns how long the call may wait for its turn.
    pub(crate) fn queue_timeout(&self) -> Option<Duration> {
        self.call.queue_timeout
    }

    pub(crate) fn add_usage(&self, usage: Usage) {
        self.state().usage += usage;
        if let Some(parent) = self.parent() {
            parent.add_usage(usage);
        }
    }

    pub(crate) fn system(&self) -> Option<Arc<Msg>> {
        self.state().system.clone()
    }

    pub(crate) fn set_system(&self, system: Option<Arc<Msg>>) {
        self.state().system = system;
    }

    /// Records whether error hooks received the error of the call where it happened.
    pub(crate) fn set_told(&self, is_told: bool) {
        self.state().is_told = is_told;
    }

    /// Returns whether error hooks received the error of the call where it happened.
    pub(crate) fn is_told(&self) -> bool {
        self.state().is_told
    }

    /// Returns the tool call that runs the agent, if it is a tool.
    pub(crate) fn through(&self) -> Option<&Through> {
        self.call.through.as_ref()
    }

    /// Sets the event hooks of the agent, for agents that it calls.
    pub(crate) fn set_hooks(&self, hooks: Arc<dyn Any + Send + Sync>) {
        self.state().hooks = Some(hooks);
    }

    /// Returns the event hooks of the agent, for agents that it calls.
    pub(crate) fn hooks(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.state().hooks.clone()
    }

    /// Returns the ids that the caller confirmed, before they are checked.
    pub(crate) fn confirms(&self) -> &[String] {
        &self.call.confirms
    }

    /// Sets the tool calls that may run, by id.
    pub(crate) fn set_confirmed(&self, ids: Vec<String>) {
        self.state().confirmed = ids;
    }

    /// Records whether the tool calls that run waited since an earlier call.
    pub(crate) fn set_resuming(&self, is_resuming: bool) {
        self.state().is_resuming = is_resuming;
    }

    /// Returns whether the tool calls that run waited since an earlier call.
    pub(crate) fn is_resuming(&self) -> bool {
        self.state().is_resuming
    }

    /// Sets the results for tool calls of sub-agents.
    pub(crate) fn set_answers(&self, answers: Vec<ToolResult>) {
        self.state().answers = answers;
    }

    /// Returns what the caller confirmed and answered of the sub-agent that a tool call runs, by the
    /// ids that the sub-agent knows.
    pub(crate) fn decisions_below(&self, id: &str) -> (Vec<String>, Vec<ToolResult>) {
        fn below<'a>(id: &str, path: &'a str) -> Option<&'a str> {
            path.strip_prefix(id)?.strip_prefix('/')
        }
        let state = self.state();
        let confirmed = state.confirmed.iter().filter_map(|path| below(id, path));
        let answers = state.answers.iter().filter_map(|answer| {
            Some(ToolResult { id: below(id, &answer.id)?.to_owned(), ..answer.clone() })
        });
        (confirmed.map(str::to_owned).collect(), answers.collect())
    }

    /// Sets the answer whose hooks have not all run.
    pub(crate) fn set_unfinished(&self, unfinished: Unfinished) {
        self.state().unfinished = unfinished;
    }

    /// Takes the answer whose hooks have not all run.
    pub(crate) fn take_unfinished(&self) -> Unfinished {
        std::mem::take(&mut self.state().unfinished)
    }

    /// Sets what the call returns if it is interrupted.
    pub(crate) fn set_partial(&self, partial: Arc<Msg>) {
        self.state().partial = Some(partial);
    }

    /// Takes what an interrupted call returns, unless hooks review replies and have not seen it.
    pub(crate) fn take_partial(&self) -> Option<Arc<Msg>> {
        let mut state = self.state();
        let partial = state.partial.take();
        partial.filter(|_| !state.has_reviewers)
    }

    /// Records whether hooks review the replies of the call.
    pub(crate) fn set_has_reviewers(&self, has_reviewers: bool) {
        self.state().has_reviewers |= has_reviewers;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.call.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates the context of a call without an agent, on the thread `default`.
impl Default for CallContext {
    fn default() -> Self {
        Self::new("".into(), "".into(), None, CallOptions::default())
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
