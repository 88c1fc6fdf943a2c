//! The state that a call leaves behind if it has no answer.

use std::sync::Arc;

use crate::memory::asking::{Answer, Asking, Confirmed, ConfirmedBy, is_within};
use crate::memory::conversation::{Conversation, Memory};
use crate::message::{Messages, Role, open_calls};
use crate::run_id::RunId;
use crate::store::Waiting;

/// What a call left that did not come to an answer.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// The call that left tool calls waiting, and what is known of them.
    pub(super) asking: Option<Asking>,
    /// How many messages at the end of the conversation are those of a call that failed.
    pub(super) unanswered: usize,
    /// The questions to people.
    pub(super) questions: Vec<Waiting>,
    /// What people decided about tool calls that are to run and have no result yet.
    pub(super) confirmed: Vec<Confirmed>,
    /// The results that people gave for tool calls of sub-agents.
    pub(super) answers: Vec<Answer>,
    /// What the caller said while tool calls had no result.
    pub(super) later: Messages,
    /// The keys under which tool calls that wait have reserved of quotas, by their ids.
    pub(super) reserved: Vec<(Arc<str>, Arc<str>)>,
}

impl Left {
    /// Returns whether something here ends when tool calls have a result.
    fn rests_on_calls(&self) -> bool {
        !self.confirmed.is_empty()
            || !self.answers.is_empty()
            || !self.later.is_empty()
            || !self.reserved.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.asking.is_none()
            && self.unanswered == 0
            && self.questions.is_empty()
            && !self.rests_on_calls()
    }
}

impl Memory {
    /// Keeps messages that the caller gives while tool calls have no result: they follow the results.
    pub(crate) fn extend_later(&self, messages: Messages) {
        let mut conversation = self.lock();
        conversation.left.get_or_insert_default().later.extend(messages);
        conversation.note_answered();
    }

    /// Returns whether the last call failed with these messages while tool calls had no result.
    pub(crate) fn has_later(&self, messages: &Messages) -> bool {
        let conversation = self.lock();
        conversation
            .left
            .as_ref()
            .is_some_and(|left| left.unanswered == messages.len() && left.later.ends_with(messages))
    }

    /// Keeps the key under which a tool call that waits has reserved of quotas: it goes on under it.
    pub(crate) fn keep_reserved(&self, id: &Arc<str>, key: Arc<str>) {
        let mut conversation = self.lock();
        let left = conversation.left.get_or_insert_default();
        left.reserved.retain(|(known, _)| known != id);
        left.reserved.push((id.clone(), key));
    }

    /// Returns the key under which a tool call that waited has reserved of quotas, if it has.
    pub(crate) fn reserved_as(&self, id: &str) -> Option<Arc<str>> {
        let conversation = self.lock();
        let mut reserved = conversation.left.iter().flat_map(|left| &left.reserved);
        reserved.find(|(known, _)| **known == *id).map(|(_, key)| key.clone())
    }

    /// Returns whether nothing is left to go on with: no call was cut off or failed, no tool call waits, and
    /// no message has no answer.
    pub(crate) fn is_finished(&self) -> bool {
        let conversation = self.lock();
        let is_cut_off = || conversation.journal.as_ref().is_some_and(|it| it.running.is_some());
        let messages = &conversation.messages;
        conversation.left.as_deref().is_none_or(Left::is_empty)
            && !is_cut_off()
            && messages.last().is_none_or(|last| last.role == Role::Assistant)
            && open_calls(messages).is_empty()
    }

    /// Returns the question that a call left, if its tool calls still wait.
    pub(crate) fn asking(&self) -> Option<Asking> {
        self.lock().asking().cloned()
    }

    /// Records the question of a call. What was decided about these tool calls before is over.
    pub(crate) fn ask(&self, asking: Asking) {
        let mut conversation = self.lock();
        let left = conversation.left.get_or_insert_default();
        let is_asked = |id: &str| asking.calls.iter().any(|pending| pending.id == *id);
        left.confirmed.retain(|it| it.asked.is_none() || !is_asked(&it.id));
        left.answers.retain(|answer| !is_asked(&answer.result.id));
        left.asking = Some(asking);
    }

    /// Sets the call of the agent that runs this one, which asks the question of this one again.
    pub(crate) fn set_caller(&self, caller: Option<RunId>) {
        if let Some(asking) = self.lock().left.as_mut().and_then(|left| left.asking.as_mut()) {
            asking.caller = caller;
        }
    }

    /// Removes the question.
    pub(crate) fn settle(&self) {
        if let Some(left) = &mut self.lock().left {
            left.asking = None;
            left.confirmed.clear();
            left.answers.clear();
            left.close_questions();
        }
    }

    /// Keeps what people decided about tool calls until these have a result, so that a decision
    /// outlives the process that was to follow it: which ones may run, also of sub-agents, and the
    /// results of those of sub-agents.
    pub(crate) fn keep_decided(&self, confirmed: Vec<Confirmed>, answers: Vec<Answer>) {
        let mut conversation = self.lock();
        if !confirmed.is_empty() || !answers.is_empty() || conversation.left.is_some() {
            let left = conversation.left.get_or_insert_default();
            (left.confirmed, left.answers) = (confirmed, answers);
            conversation.note_answered();
        }
    }

    /// Returns what people decided about tool calls that have no result.
    pub(crate) fn confirmed(&self) -> Vec<Confirmed> {
        let conversation = self.lock();
        let kept = conversation.left.iter().flat_map(|left| &left.confirmed);
        kept.map(|confirmed| Confirmed { by: ConfirmedBy::Kept, ..confirmed.clone() }).collect()
    }

    /// Returns the results for tool calls of sub-agents that may not have come there.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        let conversation = self.lock();
        conversation.left.iter().flat_map(|left| &left.answers).cloned().collect()
    }

    /// Sets how many messages at the end are those of a call that failed, which the next call may
    /// repeat.
    pub(crate) fn set_unanswered(&self, count: usize) {
        let mut conversation = self.lock();
        if count > 0 || conversation.left.is_some() {
            conversation.left.get_or_insert_default().unanswered = count;
        }
    }

    /// Returns whether the last call failed with these messages.
    pub(crate) fn is_unanswered(&self, messages: &Messages) -> bool {
        let conversation = self.lock();
        let count = conversation.left.as_ref().map_or(0, |left| left.unanswered);
        count == messages.len() && conversation.messages.ends_with(messages)
    }
}

impl Conversation {
    pub(super) fn asking(&self) -> Option<&Asking> {
        self.left.as_ref()?.asking.as_ref()
    }

    /// Drops what was decided about tool calls that have a result: the model may use their ids again. Once
    /// none waits, what the caller said meanwhile follows.
    pub(super) fn note_answered(&mut self) {
        let Self { messages, left, .. } = self;
        let Some(left) = left.as_mut().filter(|left| left.rests_on_calls()) else { return };
        let open = open_calls(messages);
        let is_open = |path: &str| open.iter().any(|call| is_within(path, &call.id));
        left.confirmed.retain(|confirmed| is_open(&confirmed.id));
        left.answers.retain(|answer| is_open(&answer.result.id));
        left.reserved.retain(|(id, _)| is_open(id));
        if open.is_empty() {
            messages.extend(std::mem::take(&mut left.later));
        }
    }
}
