//! What hooks, tools and the agent itself share in one call.

use std::any::Any;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::select;
use tokio_util::sync::CancellationToken;

use crate::context::event_queue::EventSink;
use crate::context::values::Values;
use crate::context::{AgentEvent, AgentEventKind, CallOptions, RunId};
use crate::message::{GenerateReason, Msg, Role};
use crate::usage::Usage;

/// What hooks, tools and the agent itself share in one call: who calls, in which conversation, values
/// of the caller's, and the means to interrupt it.
///
/// Each call has its own, so one agent can serve many at once. A clone is the same context.
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
    /// Of a call that is part of another: that of its own caller.
    own_interrupt: Option<CancellationToken>,
    confirmed: Vec<String>,
    state: Mutex<State>,
}

/// What changes while a call runs.
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
    /// The thread of calls that name none.
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

    /// The id of this call.
    #[must_use]
    pub fn run_id(&self) -> RunId {
        self.call.run
    }

    /// The call that this one is part of, where the agent is a tool of another.
    #[must_use]
    pub fn parent(&self) -> Option<&CallContext> {
        self.call.parent.as_ref()
    }

    /// The conversation that it belongs to.
    #[must_use]
    pub fn thread_id(&self) -> &str {
        self.call.thread.as_deref().unwrap_or(Self::DEFAULT_THREAD)
    }

    /// The thread, if the caller named one.
    pub(crate) fn named_thread(&self) -> Option<&Arc<str>> {
        self.call.thread.as_ref()
    }

    /// The id of the agent.
    #[must_use]
    pub fn agent_id(&self) -> &str {
        &self.call.agent_id
    }

    /// The name of the agent.
    #[must_use]
    pub fn agent_name(&self) -> &str {
        &self.call.agent_name
    }

    /// The value of that type, of this call or of the one that it is part of.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let own = self.state().values.get();
        own.or_else(|| self.parent().and_then(Self::get))
    }

    /// Keeps a value for the rest of this call, in place of the one of that type that was there.
    pub fn insert<T: Any + Send + Sync>(&self, value: T) -> Option<Arc<T>> {
        self.state().values.insert(value)
    }

    /// Removes the value of that type from this call.
    #[must_use]
    pub fn remove<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.state().values.remove()
    }

    /// Interrupts the call: it ends with what has been said until now, and
    /// [`Interrupted`](crate::GenerateReason::Interrupted). Nothing in the call can catch that.
    pub fn interrupt(&self) {
        self.call.interrupt.cancel();
    }

    /// Whether the call is interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let Call { interrupt, own_interrupt, .. } = &*self.call;
        interrupt.is_cancelled()
            || own_interrupt.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Ends when the call is interrupted.
    pub async fn interrupted(&self) {
        let Call { interrupt, own_interrupt, .. } = &*self.call;
        match own_interrupt {
            None => interrupt.cancelled().await,
            Some(own) => {
                select(pin!(interrupt.cancelled()), pin!(own.cancelled())).await;
            }
        }
    }

    /// Whether a person has said that the tool call may run.
    #[must_use]
    pub fn is_confirmed(&self, tool_call_id: &str) -> bool {
        self.call.confirmed.iter().any(|id| id == tool_call_id)
            && self.state().confirmable.iter().any(|id| id == tool_call_id)
    }

    /// What the models of this call have cost until now, those of its sub-agents included.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.state().usage
    }

    /// The same call, with something between it and whoever reads its stream: what the closure gives
    /// goes on, `None` goes no further.
    ///
    /// An around hook of `reply` that puts it in the place of `args.cx` sees the events of the call,
    /// an inner one before an outer one; its begin and its end are told outside of
    /// `reply`.
    #[must_use]
    pub fn map_events(
        &self,
        map: impl Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync + 'static,
    ) -> Self {
        let mapped = |sink: EventSink| EventSink::Mapped(Arc::new(map), Arc::new(sink));
        Self { call: self.call.clone(), events: self.events.clone().map(mapped) }
    }

    /// Tells whoever reads the stream; `kind` is made only if there is somebody.
    pub(crate) async fn emit(&self, kind: impl FnOnce() -> AgentEventKind) {
        if let Some(events) = &self.events {
            let Call { run, agent_name, parent, .. } = &*self.call;
            let parent = parent.as_ref().map(CallContext::run_id);
            events
                .send(AgentEvent { agent: agent_name.clone(), run: *run, parent, kind: kind() })
                .await;
        }
    }

    /// Whether somebody reads the stream.
    pub(crate) fn is_watched(&self) -> bool {
        self.events.is_some()
    }

    /// Lets an interrupt through where nothing else waits.
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

    /// Whether the error was told to error hooks where it happened.
    pub(crate) fn was_told(&self, error: &impl fmt::Display) -> bool {
        let error = error.to_string();
        self.state().told.contains(&error)
    }

    /// An error was told where it happened; one that was saved there is none.
    pub(crate) fn set_told(&self, error: &impl fmt::Display, is_told: bool) {
        let error = error.to_string();
        let mut state = self.state();
        state.told.retain(|told| *told != error);
        if is_told {
            state.told.push(error);
        }
    }

    /// The call ends while tool calls wait for an answer.
    pub(crate) fn leave_calls(&self) {
        self.state().leaves_calls = true;
    }

    /// Whether the call was to end while tool calls wait for an answer.
    pub(crate) fn leaves_calls(&self) -> bool {
        self.state().leaves_calls
    }

    /// The tool calls that waited when the call began: no others can have been confirmed.
    pub(crate) fn set_confirmable(&self, ids: Vec<String>) {
        self.state().confirmable = ids;
    }

    /// Why the loop ended, whatever becomes of its reply.
    pub(crate) fn set_reason(&self, reason: GenerateReason) {
        self.state().reason = Some(reason);
    }

    pub(crate) fn reason(&self) -> Option<GenerateReason> {
        self.state().reason
    }

    /// The model starts to answer.
    pub(crate) fn start_draft(&self) {
        let draft = Msg::from_blocks(Role::Assistant, self.agent_name(), Vec::new());
        self.state().draft = Some(Arc::new(draft));
    }

    /// Changes what the model has said until now. It is not copied unless somebody kept it.
    pub(crate) fn edit_draft<T>(&self, edit: impl FnOnce(&mut Msg) -> T) -> Option<T> {
        self.state().draft.as_mut().map(|draft| edit(Arc::make_mut(draft)))
    }

    /// What the model says is something else now.
    pub(crate) fn replace_draft(&self, draft: Arc<Msg>) {
        if let Some(current) = &mut self.state().draft {
            *current = draft;
        }
    }

    /// What the model has said until now.
    pub(crate) fn draft(&self) -> Option<Arc<Msg>> {
        self.state().draft.clone()
    }

    /// What the model says is remembered, or given up.
    pub(crate) fn take_draft(&self) -> Option<Arc<Msg>> {
        self.state().draft.take()
    }

    /// What was remembered last of what the model said, whole or broken off.
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

/// A call of no agent, on the thread `default`.
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
