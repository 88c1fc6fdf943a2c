//! A recorded call of an agent.

use crate::drift::Decided;
use crate::format::Place;

/// A call of an agent in a [`Recording`](crate::Recording).
#[derive(Clone, Debug)]
pub struct RecordedCall {
    pub(super) run: String,
    pub(super) agent: String,
    pub(super) thread: String,
    pub(super) parent: Option<String>,
    pub(super) tool_call: Option<String>,
    pub(super) confirmed: Vec<String>,
    pub(super) decisions: Vec<Decided>,
    pub(super) outcome: Option<String>,
    /// Why it ended, of its reply.
    pub(super) reason: Option<String>,
    pub(super) error: Option<String>,
    pub(super) place: Place,
    pub(super) end: Option<Place>,
    /// The indexes of its entries.
    pub(super) entries: Vec<usize>,
}

/// What a hook did in a recorded call: it directed the call, or changed what an event held.
#[derive(Clone, Copy, Debug)]
pub struct RecordedDecision<'a>(&'a Decided);

impl RecordedCall {
    /// Returns its id on the tape: `r1`, `r2`, .. in the order in which the calls began.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the name of the agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the id of the thread.
    #[must_use]
    pub fn thread(&self) -> &str {
        &self.thread
    }

    /// Returns the [id](Self::run) of the call that it is part of.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Returns the id of the tool call that runs the agent, if it is a tool of its parent.
    #[must_use]
    pub fn tool_call(&self) -> Option<&str> {
        self.tool_call.as_deref()
    }

    /// Returns the ids of the waiting tool calls that the caller confirmed.
    #[must_use]
    pub fn confirmed(&self) -> &[String] {
        &self.confirmed
    }

    /// Returns what hooks did, in order.
    pub fn decisions(&self) -> impl Iterator<Item = RecordedDecision<'_>> {
        self.decisions.iter().map(RecordedDecision)
    }

    /// Returns how it ended: `finished`, `failed`, `interrupted`, `cancelled`, `panicked`, or
    /// `unfinished` if the recording ended before it.
    #[must_use]
    pub fn outcome(&self) -> &str {
        self.outcome.as_deref().unwrap_or("unfinished")
    }

    /// Returns the text of the error with which it failed.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the number of its first line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.place.line
    }

    pub(crate) fn decided(&self) -> &[Decided] {
        &self.decisions
    }

    pub(crate) fn entries(&self) -> &[usize] {
        &self.entries
    }
}

impl<'a> RecordedDecision<'a> {
    /// Returns the name of the hook.
    #[must_use]
    pub fn hook(self) -> &'a str {
        &self.0.hook
    }

    /// Returns where it ran, such as `PRE_ACTING` or `TOOL_CALL`.
    #[must_use]
    pub fn event(self) -> &'a str {
        &self.0.event
    }

    /// Returns the id of the tool call that the event is about.
    #[must_use]
    pub fn tool_call(self) -> Option<&'a str> {
        self.0.tool_call.as_deref()
    }

    /// Returns how it ended, the text of a [`HookFlow`](hooks_agent_core::hook::HookFlow).
    #[must_use]
    pub fn flow(self) -> &'a str {
        &self.0.flow
    }

    /// Returns the places that it changed, such as `tool_use.input.path`.
    #[must_use]
    pub fn changed(self) -> &'a [String] {
        &self.0.changed
    }
}
