//! What a caller says about a call besides the messages.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::context::CallContext;
use crate::context::event_queue::EventSink;
use crate::context::values::Values;

/// What a caller says about a call besides the messages.
///
/// ```
/// use hooks_agent::{AgentExt, CallOptions, Msg, ReActAgent, ScriptedModel};
///
/// struct User(&'static str);
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("counter", |request| request.messages.len().to_string());
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let on = |thread: &str| CallOptions::new().thread(thread).value(User("ada"));
/// assert_eq!(agent.call_with(on("a"), Msg::user("hi")).await?.text(), "1");
/// assert_eq!(agent.call_with(on("b"), Msg::user("hi")).await?.text(), "1");
/// assert_eq!(agent.call_with(on("a"), Msg::user("hi")).await?.text(), "3");
/// # Ok::<(), hooks_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct CallOptions {
    pub(super) thread: Option<Arc<str>>,
    pub(super) interrupt: Option<CancellationToken>,
    pub(super) values: Values,
    pub(super) confirmed: Vec<String>,
    pub(super) parent: Option<CallContext>,
    pub(super) events: Option<EventSink>,
}

impl CallOptions {
    /// The thread `default`, and nothing else.
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation that the call belongs to. Each has a memory of its own; calls on one thread
    /// queue, calls on several run at once.
    pub fn thread(mut self, id: impl Into<Arc<str>>) -> Self {
        self.thread = Some(id.into());
        self
    }

    /// A value that hooks and tools of this call can [get](CallContext::get), one of each type: an
    /// `Arc<User>` is got as `Arc<User>`, a `User` as `User`.
    pub fn value<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.values.insert(value);
        self
    }

    /// What interrupts the call when it is cancelled.
    pub fn interrupt(mut self, token: CancellationToken) -> Self {
        self.interrupt = Some(token);
        self
    }

    /// A person says that the tool call of that id, which waits, may run: a tool that
    /// [asks](crate::Permission::Ask) runs, and hooks see it by
    /// [`is_confirmed`](CallContext::is_confirmed). It is good for that call alone.
    pub fn confirm(mut self, tool_call_id: impl Into<String>) -> Self {
        self.confirmed.push(tool_call_id.into());
        self
    }

    /// The call is part of another: its values and its interrupt apply here too, its stream gets the
    /// events of both. What [`as_tool`](crate::ReActAgent::as_tool) calls with.
    pub fn child_of(mut self, parent: &CallContext) -> Self {
        self.parent = Some(parent.clone());
        self
    }

    pub(crate) fn events(mut self, events: EventSink) -> Self {
        self.events = Some(events);
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("thread", &self.thread)
            .field("confirmed", &self.confirmed)
            .field("parent", &self.parent)
            .finish_non_exhaustive()
    }
}
