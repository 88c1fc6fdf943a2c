//! The events of a whole call.

use std::fmt;
use std::sync::Arc;

use crate::agent::{Agent, CallOutcome};
use crate::context::CallContext;
use crate::event::accessors::of_a_call;
use crate::event::{Decided, Flow, system};
use crate::message::{ContentBlock, Messages, Msg};

/// A call begins; nothing is remembered yet.
///
/// Fired once for each call, of every kind of agent.
pub struct PreCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    messages: &'a mut Messages,
}

impl<'a> PreCall<'a> {
    /// The event, for trying a hook out.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, messages: &'a mut Messages) -> Self {
        Self { agent, cx, messages }
    }

    of_a_call!();

    /// The messages of the caller; what is remembered of earlier calls is not among them.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        self.messages
    }

    /// The messages of the caller, to be changed. A system message among them fails the call of a
    /// [`ReActAgent`](crate::ReActAgent).
    pub fn messages_mut(&mut self) -> &mut Messages {
        self.messages
    }

    /// Puts other messages in their place.
    pub fn set_messages(&mut self, messages: impl Into<Messages>) {
        *self.messages = messages.into();
    }

    /// The instructions of this call. What they are after the last hook of this event, they are in
    /// every round.
    #[must_use]
    pub fn system_message(&self) -> Option<Arc<Msg>> {
        self.cx.system()
    }

    /// Puts other instructions in their place, for this call; `None` takes them away.
    pub fn set_system_message(&mut self, system: impl Into<Option<Msg>>) {
        self.cx.set_system(system.into().map(Arc::new));
    }

    /// Adds to the instructions, for this call.
    pub fn append_system(&mut self, text: impl Into<String>) {
        self.append_system_block(ContentBlock::text(text));
    }

    /// Adds a block to the instructions, for this call.
    pub fn append_system_block(&mut self, block: ContentBlock) {
        let mut system = self.cx.system();
        system::append(&mut system, block);
        self.cx.set_system(system);
    }

    /// Answers in place of the agent: nothing runs and nothing is remembered; `PostCall` follows.
    pub fn answer(&self, msg: Msg) -> Flow {
        Flow::then(Decided::Answer(msg))
    }
}

/// A call has its reply; the caller gets what the hooks make of it, and so do subscribers.
///
/// Fired once for each call that did not fail and was not interrupted, a stopped one too. What is
/// remembered was remembered before.
pub struct PostCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    reply: &'a mut Msg,
}

impl<'a> PostCall<'a> {
    /// The event, for trying a hook out.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, reply: &'a mut Msg) -> Self {
        Self { agent, cx, reply }
    }

    of_a_call!();

    /// The reply.
    #[must_use]
    pub fn final_message(&self) -> &Msg {
        self.reply
    }

    /// The reply, to be changed.
    pub fn final_message_mut(&mut self) -> &mut Msg {
        self.reply
    }

    /// Puts another reply in its place.
    pub fn set_final_message(&mut self, reply: Msg) {
        *self.reply = reply;
    }
}

/// A call is over, whatever its end: a reply, an error, an interrupt, a dropped future, a panic.
///
/// Fired once for each call, and nothing can skip it.
pub struct Settled<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    outcome: &'a CallOutcome,
}

impl<'a> Settled<'a> {
    /// The event, for trying a hook out.
    #[must_use]
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, outcome: &'a CallOutcome) -> Self {
        Self { agent, cx, outcome }
    }

    of_a_call!();

    /// How the call ended.
    #[must_use]
    pub fn outcome(&self) -> &'a CallOutcome {
        self.outcome
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
