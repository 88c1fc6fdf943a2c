//! One hook, and the call in which it runs.

use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock};

use crate::agent::{Agent, AgentExt};
use crate::call::{CallContext, CallOptions, Resumed};
use crate::event::{EventKind, EventMask, HookEvent};
use crate::hook::{AgentHook, AroundMask};
use crate::memory::Confirmed;
use crate::message::Messages;
use crate::model::{ModelError, ScriptedAnswer, ScriptedModel};
use crate::react::ReActAgent;
use crate::testing::probe::MODEL;
use crate::testing::probe::watch::Watch;

/// Runs one hook against one event, without a model.
///
/// The hook runs as a hook of a [`ReActAgent`]: sync handlers by
/// [`sync_events`](AgentHook::sync_events), its flow applied by the agent. A panic counts as a
/// failure. All events of a probe belong to one call, so that a hook finds at a later event what it
/// stored in the context at an earlier one. No other hook runs, except those of the agent's type;
/// if one of these keeps the event from the hook, the probe panics.
///
/// [`around_model`](Probe::around_model) and [`around_tool`](Probe::around_tool) are for hooks that
/// run around calls.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::testing::Probe;
///
/// struct User(&'static str);
///
/// struct Greet;
///
/// #[agent_hook]
/// impl Greet {
///     fn greet(&self, event: &mut PreCall<'_>) {
///         if let Some(user) = event.context().get::<User>() {
///             event.append_system(format!("The user is {}.", user.0));
///         }
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let probe = Probe::new(Greet).thread("t").value(User("ada"));
/// let seen = probe.pre_call("Hello").await?;
/// assert_eq!(seen.event.system.map(|msg| msg.text()).as_deref(), Some("The user is ada."));
/// # Ok::<(), hooks_agent::testing::NotInterested>(())
/// # }).unwrap();
/// ```
#[must_use = "a probe runs its hook when one of its events is awaited"]
pub struct Probe<H> {
    pub(super) hook: Arc<H>,
    agent: Arc<str>,
    options: CallOptions,
    confirmed: Vec<String>,
    history: Messages,
    call: OnceLock<(ReActAgent, CallContext)>,
}

/// The error of an event, or of calls to run around, that the hook does not receive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hook `{hook}` does not receive {event}, it receives {}", received.join(", "))]
#[non_exhaustive]
pub struct NotInterested {
    /// The name of the hook.
    pub hook: String,
    /// The name of the event, or `model calls` or `tool calls`.
    pub event: &'static str,
    /// The names of the events that the hook receives.
    pub received: Vec<&'static str>,
}

impl<H: AgentHook> Probe<H> {
    /// Creates a probe of the hook, with a call of an agent `probe` on the default thread.
    pub fn new(hook: H) -> Self {
        Self {
            hook: Arc::new(hook),
            agent: "probe".into(),
            options: CallOptions::new(),
            confirmed: Vec::new(),
            history: Messages::new(),
            call: OnceLock::new(),
        }
    }

    /// Sets the name of the agent.
    pub fn agent(self, name: impl Into<Arc<str>>) -> Self {
        Self { agent: name.into(), ..self.fresh() }
    }

    /// Sets the thread of the call.
    pub fn thread(self, id: impl Into<Arc<str>>) -> Self {
        self.with(|options| options.thread(id))
    }

    /// Makes the call part of another, whose values and thread it shares. Hooks of the other call
    /// do not run.
    pub fn parent(self, parent: &CallContext) -> Self {
        self.with(|options| options.child_of(parent))
    }

    /// Adds a value that the hook can [get](CallContext::get), one of each type.
    pub fn value<T: Any + Send + Sync>(self, value: T) -> Self {
        self.with(|options| options.value(value))
    }

    /// Confirms the tool call of this id: it waited, and the caller said that it may run.
    pub fn confirm(self, tool_call_id: impl Into<String>) -> Self {
        let mut this = self.fresh();
        this.confirmed.push(tool_call_id.into());
        this
    }

    /// Sets the messages in the memory of the thread.
    pub fn history(self, messages: impl Into<Messages>) -> Self {
        Self { history: messages.into(), ..self.fresh() }
    }

    /// Returns the context of the call, which all events of the probe share.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        &self.call().1
    }

    /// Returns the messages in memory, then these.
    pub(super) fn after_history(&self, messages: Messages) -> Messages {
        self.history.clone().into_iter().chain(messages).collect()
    }

    /// Returns an agent of the call without hooks, and the call.
    pub(super) fn call_without_hooks(&self) -> (ReActAgent, CallContext) {
        let (agent, cx) = self.call();
        (agent.fork(), cx.clone())
    }

    /// Returns an agent whose hook receives events of this kind alone.
    pub(super) fn watch<T>(
        &self,
        kind: EventKind,
        read: fn(&HookEvent<'_>) -> Option<T>,
    ) -> Result<Watch<H, T>, NotInterested>
    where
        T: Clone + Debug + PartialEq + Send + 'static,
    {
        if !self.hook.events().contains(kind) {
            return Err(self.not_interested(kind.name()));
        }
        let (agent, cx) = self.call_without_hooks();
        Ok(Watch::new(agent, cx, self.hook.clone(), kind, read))
    }

    pub(super) fn not_interested(&self, event: &'static str) -> NotInterested {
        let events: EventMask = self.hook.events();
        let received = EventKind::ALL.into_iter().filter(|kind| events.contains(*kind));
        let mut received: Vec<_> = received.map(EventKind::name).collect();
        let arounds =
            [(AroundMask::MODEL_CALL, "model calls"), (AroundMask::TOOL_CALL, "tool calls")];
        let around = self.hook.around();
        received.extend(arounds.iter().filter(|(calls, _)| around.contains(*calls)).map(|it| it.1));
        NotInterested { hook: self.hook.name(), event, received }
    }

    fn with(self, change: impl FnOnce(CallOptions) -> CallOptions) -> Self {
        let mut this = self.fresh();
        this.options = change(this.options);
        this
    }

    /// Returns the probe without the call that it may have begun.
    fn fresh(mut self) -> Self {
        self.call = OnceLock::new();
        self
    }

    fn call(&self) -> &(ReActAgent, CallContext) {
        self.call.get_or_init(|| {
            let agent = ReActAgent::builder(self.agent.clone()).model(no_model()).build();
            let agent = agent.expect("the agent has a model and no tools");
            let cx = agent.context(self.options.clone());
            let calls = self.confirmed.clone();
            let confirmed = calls.iter().cloned().map(Confirmed::begun).collect();
            cx.set_resumed(Resumed { calls, confirmed, answers: Vec::new() });
            if let Some(memory) = agent.memory_of(&cx) {
                memory.replace(self.history.clone());
            }
            (agent, cx)
        })
    }
}

/// The model of the agent, for hooks that call the agent.
fn no_model() -> ScriptedModel {
    let model = MODEL.to_owned();
    let reason = "a probe has no model, test a hook that calls one in an agent with a `Script`";
    let error = ModelError::Failed { model, reason: reason.to_owned() };
    ScriptedModel::new(MODEL, move |_| ScriptedAnswer::from(error.clone()))
}

impl<H: AgentHook> Debug for Probe<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe")
            .field("hook", &self.hook.name())
            .field("agent", &self.agent)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
