//! The state of the hook for one call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::event::EventKind;
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::model::ChatRequest;
use hooks_core::plan::HooksVersion;

use crate::entry::Failure;
use crate::hook::draft::Draft;
use crate::hook::order::Order;
use crate::hook::other_hooks::pending::Pending;
use crate::ring::Log;
use crate::shared::Shows;

/// What the hook keeps of a call.
#[derive(Default)]
pub(super) struct Run(Mutex<Kept>);

#[derive(Default)]
pub(super) struct Kept {
    /// The hook that writes of this call: the first one that saw it.
    owner: Option<u64>,
    pub(super) log: Option<Arc<Log>>,
    /// The order of the hooks, once an event was seen.
    pub(super) order: Option<Order>,
    /// The hooks that the order is of.
    pub(super) version: Option<HooksVersion>,
    /// Tool calls that have not ended, as redactors left them.
    pub(super) calls: Vec<Arc<ToolUse>>,
    /// The last error.
    pub(super) error: Option<Failure>,
    /// How often the model was asked in this round.
    pub(super) attempts: u32,
    /// The model that was asked last.
    pub(super) model: Option<Arc<str>>,
    /// How many requests were written, and the last one, if it is whole.
    pub(super) asked: (u64, Option<ChatRequest>),
    /// Whether tool calls of the reply wait.
    pub(super) is_waiting: bool,
    pub(super) draft: Draft,
    /// The last event that the hook saw, of the call and of each tool call.
    seen: Vec<(Option<Box<str>>, &'static str)>,
    pub(super) pending: Pending,
    /// What is shown, as it was set when the call began.
    pub(super) shows: Shows,
}

impl Kept {
    /// Claims the call for a hook. Returns whether the hook writes of it.
    pub(super) fn claim(&mut self, number: u64) -> bool {
        *self.owner.get_or_insert(number) == number
    }

    /// Notes the last event that the hook saw.
    pub(super) fn last_seen(&mut self, event: &'static str, tool_call: Option<&str>) {
        match tool_call {
            // Tool calls are over.
            None => self.seen.clear(),
            Some(_) => self.forget_seen(tool_call),
        }
        self.seen.push((tool_call.map(Into::into), event));
    }

    /// Returns whether another hook ran at an event that this hook has not received.
    pub(super) fn is_to_see(&mut self, event: &str, tool_call: Option<&str>) -> bool {
        let is_event = EventKind::ALL.iter().any(|kind| kind.name() == event);
        let last = self.seen.iter().find(|(of, _)| of.as_deref() == tool_call);
        let has_seen = last.is_some_and(|(_, last)| *last == event);
        if !has_seen {
            self.forget_seen(tool_call);
        }
        is_event && !has_seen
    }

    fn forget_seen(&mut self, tool_call: Option<&str>) {
        self.seen.retain(|(of, _)| of.as_deref() != tool_call);
    }

    /// Returns whether content may be shown.
    pub(super) fn is_shown(&self) -> bool {
        self.shows.content && self.order.is_some_and(|order| !order.is_unredacted)
    }

    /// Returns whether whole requests may be shown.
    pub(super) fn is_request_shown(&self) -> bool {
        self.is_shown() && self.order.is_some_and(|order| !order.is_request_unredacted)
    }

    /// Returns whether the chunks of an answer may be shown before hooks have seen all of it.
    pub(super) fn is_draft_shown(&self) -> bool {
        let is_reviewed = self.order.is_none_or(|order| order.reviews_answers);
        self.is_shown() && (self.shows.drafts || !is_reviewed)
    }

    /// Returns a tool call that has not ended, as redactors left it.
    pub(super) fn call(&self, id: &str, name: &str) -> Arc<ToolUse> {
        let known = self.calls.iter().find(|call| call.id == id).cloned();
        known.unwrap_or_else(|| Arc::new(ToolUse::new(id, name, serde_json::Value::Null)))
    }

    /// Keeps a tool call until it ends.
    pub(super) fn keep_call(&mut self, call: ToolUse) {
        self.end_call(&call.id);
        self.calls.push(Arc::new(call));
    }

    pub(super) fn end_call(&mut self, id: &str) {
        self.calls.retain(|call| call.id != id);
    }
}

impl Run {
    pub(super) fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
