//! The context of a call, shared by hooks, tools and the agent.

use std::any::Any;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::select;
use tokio_util::sync::CancellationToken;

use crate::call::CallOptions;
use crate::call::values::Values;
use crate::message::{GenerateReason, Msg, Role};
use crate::run_id::RunId;
use crate::stream::EventSink;
use crate::stream::{AgentEvent, AgentEventKind};
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
    interrupt: CancellationToken,
    /// The token from the call's own options, if the call is part of another.
    own_interrupt: Option<CancellationToken>,
    confirmed: Vec<String>,
    state: Mutex<State>,
}

/// The mutable state of a call.
#[derive(Default)]
struct State {
    values: Values,
    usage: Usage,
    system: Option<Arc<Msg>>,
    draft: Option<Arc<Msg>>,
    partial: Option<Arc<Msg>>,
    told: Vec<String>,
    leaves_calls: bool,
    reason: Option<GenerateReason>,
    confirmable: Vec<String>,
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
        let CallOptions { thread, interrupt, values, confirmed, parent, events } = options;
        let inherited = parent.as_ref().map(|parent| &parent.call);
        let thread = thread.or_else(|| inherited.and_then(|call| call.thread.clone()));
        let (interrupt, own_interrupt) = match inherited {
            Some(call) => (call.interrupt.child_token(), interrupt),
            None => (interrupt.unwrap_or_default(), None),
        };
        let events = events.or_else(|| parent.as_ref().and_then(|parent| parent.events.clone()));
        let state = Mutex::new(State { values, system, ..State::default() });
        let run = RunId::random();
        let call = Call {
            run,
            agent_id,
            agent_name,
            thread,
            parent,
            interrupt,
            own_interrupt,
            confirmed,
            state,
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
        self.call.interrupt.cancel();
    }

    /// Returns whether the call is interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let Call { interrupt, own_interrupt, .. } = &*self.call;
        interrupt.is_cancelled()
            || own_interrupt.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Waits until the call is interrupted.
    pub async fn interrupted(&self) {
        let Call { interrupt, own_interrupt, .. } = &*self.call;
        match own_interrupt {
            None => interrupt.cancelled().await,
            Some(own) => {
                select(pin!(interrupt.cancelled()), pin!(own.cancelled())).await;
            }
        }
    }

    /// Returns whether the caller has [confirmed](CallOptions::confirm) the tool call, which waited
    /// for a result when this call began.
    #[must_use]
    pub fn is_confirmed(&self, tool_call_id: &str) -> bool {
        self.call.confirmed.iter().any(|id| id == tool_call_id)
            && self.state().confirmable.iter().any(|id| id == tool_call_id)
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

    /// Yields if the call is interrupted, so that the interrupt takes effect.
    pub(crate) async fn checkpoint(&self) {
        if self.is_interrupted() {
            tokio::task::yield_now().await;
        }
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

    /// Returns whether error hooks received the error where it happened.
    pub(crate) fn was_told(&self, error: &impl fmt::Display) -> bool {
        let error = error.to_string();
        self.state().told.contains(&error)
    }

    /// Records whether error hooks received the error where it happened; a recovered error does not
    /// count.
    pub(crate) fn set_told(&self, error: &impl fmt::Display, is_told: bool) {
        let error = error.to_string();
        let mut state = self.state();
        state.told.retain(|told| *told != error);
        if is_told {
            state.told.push(error);
        }
    }

    /// Records that the call ends while tool calls wait for a result.
    pub(crate) fn leave_calls(&self) {
        self.state().leaves_calls = true;
    }

    /// Returns whether the call was to end while tool calls wait for a result.
    pub(crate) fn leaves_calls(&self) -> bool {
        self.state().leaves_calls
    }

    /// Sets the tool calls that waited when the call began; no others can be confirmed.
    pub(crate) fn set_confirmable(&self, ids: Vec<String>) {
        self.state().confirmable = ids;
    }

    /// Sets the reason why the loop ended, independent of its reply.
    pub(crate) fn set_reason(&self, reason: GenerateReason) {
        self.state().reason = Some(reason);
    }

    pub(crate) fn reason(&self) -> Option<GenerateReason> {
        self.state().reason
    }

    /// Starts the partial message of the model.
    pub(crate) fn start_draft(&self) {
        let draft = Msg::from_blocks(Role::Assistant, self.agent_name(), Vec::new());
        self.state().draft = Some(Arc::new(draft));
    }

    /// Changes the partial message of the model. Copies it only if it is shared.
    pub(crate) fn edit_draft<T>(&self, edit: impl FnOnce(&mut Msg) -> T) -> Option<T> {
        self.state().draft.as_mut().map(|draft| edit(Arc::make_mut(draft)))
    }

    /// Replaces the partial message of the model.
    pub(crate) fn replace_draft(&self, draft: Arc<Msg>) {
        if let Some(current) = &mut self.state().draft {
            *current = draft;
        }
    }

    /// Returns the partial message of the model.
    pub(crate) fn draft(&self) -> Option<Arc<Msg>> {
        self.state().draft.clone()
    }

    /// Takes the partial message of the model, to store or discard it.
    pub(crate) fn take_draft(&self) -> Option<Arc<Msg>> {
        self.state().draft.take()
    }

    /// Sets the model's message that was last added to memory, complete or partial.
    pub(crate) fn set_partial(&self, partial: Arc<Msg>) {
        self.state().partial = Some(partial);
    }

    pub(crate) fn take_partial(&self) -> Option<Arc<Msg>> {
        self.state().partial.take()
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
