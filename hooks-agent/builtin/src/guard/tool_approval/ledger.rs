//! The ledger of approvals, from the decision until the tool call has a result.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::message::ToolUse;

/// How many approved tool calls that wait are kept. The decider is asked again about older ones.
const MOST_WAITING: usize = 1024;

/// A decision that lets a tool call run.
#[derive(Clone)]
pub(super) struct Approval {
    /// The tool call about which the decider was asked.
    asked: ToolUse,
    /// The tool call that may run.
    pub(super) approved: ToolUse,
}

impl Approval {
    pub(super) fn new(asked: ToolUse, approved: ToolUse) -> Self {
        Self { asked, approved }
    }
}

/// The approvals of all calls that share the hook.
#[derive(Default)]
pub(super) struct Ledger(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    /// Of running calls, by the id of the tool call.
    running: HashMap<RunId, HashMap<String, Approval>>,
    /// Of tool calls that wait after the end of their call.
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    agent: String,
    thread: String,
    approval: Approval,
}

impl Ledger {
    pub(super) fn approve(&self, cx: &CallContext, approval: Approval) {
        let mut entries = self.lock();
        let id = approval.asked.id.clone();
        entries.running.entry(cx.run_id()).or_default().insert(id, approval);
    }

    /// Returns what was approved of a tool call of this call.
    pub(super) fn approved(&self, cx: &CallContext, id: &str) -> Option<Approval> {
        self.lock().running.get(&cx.run_id())?.get(id).cloned()
    }

    /// Removes the approval of a tool call that has a result.
    pub(super) fn forget(&self, cx: &CallContext, id: &str) {
        if let Some(running) = self.lock().running.get_mut(&cx.run_id()) {
            running.remove(id);
        }
    }

    /// Ends a call: keeps the approvals of its tool calls without a result if they wait.
    pub(super) fn settle(&self, cx: &CallContext, waits: bool) {
        let mut entries = self.lock();
        let left = entries.running.remove(&cx.run_id()).unwrap_or_default();
        for approval in left.into_values().filter(|_| waits) {
            let (agent, thread) = (cx.agent_id().to_owned(), cx.thread_id().to_owned());
            entries.waiting.push_back(Waiting { agent, thread, approval });
            if entries.waiting.len() > MOST_WAITING {
                entries.waiting.pop_front();
            }
        }
    }

    /// Takes the approval of a tool call that waited, if it is the same tool call.
    pub(super) fn resume(&self, cx: &CallContext, call: &ToolUse) -> Option<Approval> {
        let mut entries = self.lock();
        let is_it = |waiting: &Waiting| {
            let id = &waiting.approval.asked.id;
            waiting.agent == cx.agent_id() && waiting.thread == cx.thread_id() && *id == call.id
        };
        let index = entries.waiting.iter().rposition(is_it)?;
        let approval = entries.waiting.remove(index)?.approval;
        is_same(&approval.asked, call).then_some(approval)
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether both run the same tool with the same arguments, except for those that are hidden in
/// either.
pub(super) fn is_same(approved: &ToolUse, running: &ToolUse) -> bool {
    let public = |call: &ToolUse| {
        let mut input = call.input.clone();
        if let Value::Object(fields) = &mut input {
            fields.retain(|name, _| !approved.is_hidden(name) && !running.is_hidden(name));
        }
        input
    };
    approved.name == running.name
        && approved.invalid_input == running.invalid_input
        && public(approved) == public(running)
}
