//! The tool calls of a thread that wait.

use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::{PendingCall, PendingReason};
use hooks_agent_core::store::Waiting;

use crate::protocol::InputMessage;
use crate::request::kept::{Kept, KeptCall};
use crate::transcript::Replay;

/// A tool call that waits.
pub(super) struct Open {
    pub(super) pending: PendingCall,
    pub(super) kept: KeptCall,
    /// The question to people, if there is one that nobody has decided.
    pub(super) question: Option<Waiting>,
}

impl Open {
    /// Returns whether people are to decide: not about calls of tools of the client, nor about what somebody
    /// decided already.
    pub(super) fn is_asked(&self) -> bool {
        let is_decided = self.question.is_none() && self.pending.why != PendingReason::NotRun;
        !self.kept.is_frontend && !is_decided
    }

    /// Returns whether a message of the client is the result of the tool call.
    pub(super) fn is_answered_by(&self, message: &InputMessage) -> bool {
        message.role() == "tool" && message.text("toolCallId") == self.kept.wire
    }
}

/// Returns what waits on a thread; nothing, if a process ended in mid-call: the next call goes on by itself.
pub(super) fn open_calls(memory: &Memory, kept: &Kept, replay: &Replay) -> Vec<Open> {
    let pending = memory.pending();
    let was_cut_off = pending.iter().all(|pending| {
        pending.why == PendingReason::NotRun && !kept.pending.contains_key(&pending.id)
    });
    if was_cut_off {
        return Vec::new();
    }
    let mut questions = memory.waiting();
    let open = pending.into_iter().map(|pending| {
        let before = kept.pending.get(&pending.id);
        let is_frontend = before.is_some_and(|it| it.is_frontend && it.is_of(&pending.call));
        let wire = match before {
            Some(before) => before.wire.clone(),
            None => wire_of(&pending, replay),
        };
        let kept = match before.filter(|before| before.is_of(&pending.call)) {
            Some(before) => before.clone(),
            None => KeptCall::new(wire, &pending.call, is_frontend, kept.next_asked()),
        };
        let at = questions.iter().position(|question| question.call_id == pending.id);
        Open { kept, question: at.map(|at| questions.swap_remove(at)), pending }
    });
    open.collect()
}

/// Returns the id on the wire of a tool call that no run of a client left.
fn wire_of(pending: &PendingCall, replay: &Replay) -> String {
    let below = if pending.agents.is_empty() { None } else { pending.id.split_once('/') };
    let top = below.map_or(&*pending.id, |(top, _)| top);
    match replay.last_calls.get(top) {
        Some(wire) => format!("{wire}{}", &pending.id[top.len()..]),
        None => pending.id.clone(),
    }
}
