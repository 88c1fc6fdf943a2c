//! The events at the start and the end of a call.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::agent::{Agent, CallOutcome};
use crate::call::CallContext;
use crate::event::accessors::of_an_event;
use crate::event::flow::{Decided, Flow};
use crate::event::system;
use crate::message::{ContentBlock, Messages, Msg, ToolResult, ToolUse, open_calls};

/// The event before a call; memory is unchanged at this point.
///
/// Fires once for each call, of every kind of agent.
///
/// A hook that trims the input:
///
/// ```
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let trim = on(|event: &mut PreCall<'_>| {
///     for block in event.messages_mut().iter_mut().flat_map(|msg| &mut msg.content) {
///         if let ContentBlock::Text { text } = block {
///             *text = text.trim().to_owned();
///         }
///     }
/// });
/// let model = ScriptedModel::new("echo", |request| request.last_text());
/// let agent = ReActAgent::builder("assistant").model(model).hook(trim).build()?;
/// assert_eq!(agent.call("  hello \n").await?.text(), "hello");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PreCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    messages: &'a mut Messages,
    /// Where the system message is, if not with the call.
    system: Option<&'a mut Option<Arc<Msg>>>,
}

impl<'a> PreCall<'a> {
    /// Creates the event, for unit tests of hooks.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, messages: &'a mut Messages) -> Self {
        Self { agent, cx, messages, system: None }
    }

    /// Keeps the system message there, and leaves that of the call as it is.
    pub(crate) fn keep_system_in(&mut self, system: &'a mut Option<Arc<Msg>>) {
        self.system = Some(system);
    }

    of_an_event!();

    /// Returns the messages of the caller, without the messages in memory.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        self.messages
    }

    /// Returns a mutable reference to the messages of the caller. A
    /// [`ReActAgent`](crate::react::ReActAgent) fails the call if one of them is a system message.
    pub fn messages_mut(&mut self) -> &mut Messages {
        self.messages
    }

    /// Replaces the messages of the caller.
    pub fn set_messages(&mut self, messages: impl Into<Messages>) {
        *self.messages = messages.into();
    }

    /// Returns the results of tools that the caller brings, such as those of a front end, each with the
    /// tool call that it answers: the [door](crate::call::Door::CallerResult) of foreign text at this
    /// event. The tool call is that of the thread, whatever the caller says.
    pub fn caller_results_mut(&mut self) -> impl Iterator<Item = (ToolUse, &mut ToolResult)> {
        let has_results = self.messages.iter().any(|msg| msg.tool_results().next().is_some());
        let memory = if has_results { self.agent.memory_of(self.cx) } else { None };
        let open = memory.map(|memory| open_calls(&memory.messages())).unwrap_or_default();
        let with_results = |msg: &&mut Arc<Msg>| msg.tool_results().next().is_some();
        let messages = self.messages.shared_mut().filter(with_results);
        let blocks = messages.flat_map(|msg| &mut Arc::make_mut(msg).content);
        blocks.filter_map(move |block| {
            let ContentBlock::ToolResult(result) = block else { return None };
            let call = open.iter().find(|call| call.id == result.id).cloned();
            let said = || ToolUse::new(&result.id, &result.name, Value::Null);
            Some((call.unwrap_or_else(said), result))
        })
    }

    /// Returns the system message of this call. Every round starts with it as the last hook of this
    /// event left it.
    #[must_use]
    pub fn system_message(&self) -> Option<Arc<Msg>> {
        self.system.as_deref().map_or_else(|| self.cx.system(), Clone::clone)
    }

    /// Replaces the system message for this call; `None` removes it.
    pub fn set_system_message(&mut self, system: impl Into<Option<Msg>>) {
        self.set_system(system.into().map(Arc::new));
    }

    /// Appends text to the system message for this call.
    pub fn append_system(&mut self, text: impl Into<String>) {
        self.append_system_block(ContentBlock::text(text));
    }

    /// Appends a block to the system message for this call.
    pub fn append_system_block(&mut self, block: ContentBlock) {
        let mut system = self.system_message();
        system::append(&mut system, block);
        self.set_system(system);
    }

    fn set_system(&mut self, system: Option<Arc<Msg>>) {
        match &mut self.system {
            Some(own) => **own = system,
            None => self.cx.set_system(system),
        }
    }

    /// Returns whether the call goes on with the run before it: tool calls of the thread wait for a
    /// result, and the caller sends no messages or answers one of them. A call that gives them up, by
    /// another message, is a new run.
    #[must_use]
    pub fn resumes(&self) -> bool {
        let waits = || self.agent.memory_of(self.cx).is_some_and(|memory| memory.is_waiting());
        let answers = |msg: &Msg| msg.tool_results().next().is_some();
        self.cx.is_recovery()
            || (self.messages.is_empty() || self.messages.iter().any(answers)) && waits()
    }

    /// Answers with this message instead of running the agent; memory stays unchanged. `PostCall`
    /// follows.
    pub fn answer(&self, msg: Msg) -> Flow {
        Flow::then(Decided::Answer(msg))
    }
}

/// The event after a call, with its reply. The caller and the subscribers get the reply as hooks
/// changed it.
///
/// Fires once for each call that neither failed nor was interrupted, including a stopped one.
/// Memory is written before this event; changes of the reply do not affect it.
///
/// A hook that signs the reply:
///
/// ```
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(sign).build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done. - A.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PostCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    reply: &'a mut Msg,
}

impl<'a> PostCall<'a> {
    /// Creates the event, for unit tests of hooks.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, reply: &'a mut Msg) -> Self {
        Self { agent, cx, reply }
    }

    of_an_event!();

    /// Returns the reply.
    #[must_use]
    pub fn final_message(&self) -> &Msg {
        self.reply
    }

    /// Returns a mutable reference to the reply.
    pub fn final_message_mut(&mut self) -> &mut Msg {
        self.reply
    }

    /// Replaces the reply. The reason, the usage and the tool calls that wait stay, if `reply` has
    /// none.
    pub fn set_final_message(&mut self, reply: Msg) {
        let old = std::mem::replace(self.reply, reply);
        self.reply.reason = self.reply.reason.or(old.reason);
        self.reply.usage = self.reply.usage.or(old.usage);
        if self.reply.pending.is_empty() {
            self.reply.pending = old.pending;
        }
    }
}

/// The event at the end of a call, whatever its outcome: a reply, an error, an interrupt, a dropped
/// future or a panic.
///
/// Fires once for each call; nothing skips it.
///
/// A hook that counts the calls that failed:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use hooks_agent::agent::CallOutcome;
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let failed = Arc::new(AtomicUsize::new(0));
/// let count = failed.clone();
/// let counter = on(move |event: &mut Settled<'_>| {
///     if matches!(event.outcome(), CallOutcome::Failed(_)) {
///         count.fetch_add(1, Ordering::Relaxed);
///     }
/// });
/// let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
/// let agent = ReActAgent::builder("assistant").model(model).hook(counter).build()?;
/// assert!(agent.call("Are you there?").await.is_err());
/// assert_eq!(failed.load(Ordering::Relaxed), 1);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct Settled<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    outcome: &'a CallOutcome,
}

impl<'a> Settled<'a> {
    /// Creates the event, for unit tests of hooks.
    #[must_use]
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, outcome: &'a CallOutcome) -> Self {
        Self { agent, cx, outcome }
    }

    of_an_event!();

    /// Returns how the call ended.
    #[must_use]
    pub fn outcome(&self) -> &'a CallOutcome {
        self.outcome
    }

    /// Returns the reply that a hook supplied after a failure, as the caller gets it. If a hook of
    /// `PostCall` failed, none of them has seen it. `None` for other replies.
    ///
    /// ```
    /// use hooks_agent::model::ModelError;
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let recover = on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("bot", "Sorry.")));
    /// let notice = on(|event: &mut Settled<'_>| {
    ///     assert_eq!(event.recovered_reply().unwrap().text(), "Sorry.");
    /// });
    /// let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
    /// let builder = ReActAgent::builder("bot").model(model).hook(recover);
    /// assert_eq!(builder.hook(notice).build()?.call("Hello").await?.text(), "Sorry.");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn recovered_reply(&self) -> Option<Arc<Msg>> {
        self.cx.recovered_reply()
    }
}

impl fmt::Debug for PreCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreCall").field("messages", &self.messages).finish_non_exhaustive()
    }
}

impl fmt::Debug for PostCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostCall").field("reply", &self.reply).finish_non_exhaustive()
    }
}

impl fmt::Debug for Settled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settled").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}
