//! The messages of a conversation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::memory::ThreadValues;
use crate::memory::asking::{Asking, Confirmed};
use crate::memory::journal::Journal;
use crate::message::{Messages, Msg, PendingCall, PendingReason, ToolResult, open_calls};
use crate::store::Waiting;

/// The messages of one conversation, the tool calls in it that wait for a result, and the
/// [values](crate::call::CallContext::thread_value) that hooks keep with it.
#[derive(Debug, Default)]
pub struct Memory {
    conversation: Mutex<Conversation>,
    values: ThreadValues,
}

#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) messages: Messages,
    /// How many times all messages were replaced.
    pub(super) replaced: u64,
    /// Rare, so that most conversations stay small.
    pub(super) left: Option<Box<Left>>,
    /// What the store has, if the thread is in one.
    pub(super) journal: Option<Box<Journal>>,
}

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
}

impl Left {
    pub(super) fn is_empty(&self) -> bool {
        self.asking.is_none()
            && self.unanswered == 0
            && self.questions.is_empty()
            && self.confirmed.is_empty()
    }
}

impl Memory {
    /// Creates an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message.
    pub fn add(&self, msg: impl Into<Arc<Msg>>) {
        let mut conversation = self.lock();
        conversation.messages.push(msg);
        conversation.drop_answered();
    }

    /// Returns all messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.lock().messages.clone()
    }

    /// Replaces all messages.
    pub fn replace(&self, messages: impl Into<Messages>) {
        let mut conversation = self.lock();
        conversation.replaced += 1;
        conversation.messages = messages.into();
        conversation.left = None;
        if let Some(journal) = &mut conversation.journal {
            journal.served = None;
        }
        conversation.note_rewrite();
    }

    /// Returns the values that hooks keep with the thread, by name, as JSON.
    #[must_use]
    pub fn values(&self) -> Map<String, Value> {
        self.values.all()
    }

    /// Replaces the values that hooks keep with the thread, as a program does that restores it.
    pub fn set_values(&self, values: Map<String, Value>) {
        self.values.replace(values);
    }

    /// Removes all messages. The values stay: a limit outlives what was said.
    pub fn clear(&self) {
        self.replace(Messages::new());
    }

    /// Returns the tool calls that wait for a result, in order; those of a sub-agent in place of
    /// the tool call that runs it.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingCall> {
        let (messages, asking) = {
            let conversation = self.lock();
            (conversation.messages.clone(), conversation.asking().cloned())
        };
        let mut known: HashMap<String, Vec<PendingCall>> = HashMap::new();
        for pending in asking.map(|asking| asking.calls).unwrap_or_default() {
            known.entry(pending.top_id().to_owned()).or_default().push(pending);
        }
        let open = open_calls(&messages).into_iter();
        let pending = open.flat_map(|call| {
            let own = known.remove(&call.id);
            own.unwrap_or_else(|| vec![PendingCall::new(call, PendingReason::NotRun)])
        });
        pending.collect()
    }

    /// Returns whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().messages.is_empty()
    }

    pub(crate) fn thread_values(&self) -> &ThreadValues {
        &self.values
    }

    /// Returns whether tool calls wait for a result.
    pub(crate) fn is_waiting(&self) -> bool {
        !open_calls(&self.lock().messages).is_empty()
    }

    /// Returns how many times all messages were replaced.
    pub(crate) fn replaced(&self) -> u64 {
        self.lock().replaced
    }

    /// Appends the result of a tool call that was in memory when all messages had been `replaced`
    /// this many times. Drops it if its tool call is gone since.
    pub(crate) fn answer(&self, result: ToolResult, replaced: u64) {
        let mut conversation = self.lock();
        let is_open = || open_calls(&conversation.messages).iter().any(|call| call.id == result.id);
        if conversation.replaced == replaced || is_open() {
            match conversation.place_of_result(&result.id) {
                None => conversation.messages.push(Msg::tool_result(result)),
                Some(place) => {
                    conversation.messages.insert(place, Msg::tool_result(result));
                    conversation.note_rewrite();
                }
            }
            conversation.drop_answered();
        }
    }

    /// Appends messages at once.
    pub(crate) fn extend(&self, messages: impl IntoIterator<Item = Arc<Msg>>) {
        let mut conversation = self.lock();
        conversation.messages.extend(messages);
        conversation.drop_answered();
    }

    /// Replaces the messages by a shorter conversation of the same content. Returns whether it did: not
    /// if these messages were replaced meanwhile.
    pub(crate) fn compress(&self, before: &Messages, compressed: Messages) -> bool {
        let mut conversation = self.lock();
        let is_same = |(now, before): (&Arc<Msg>, &Arc<Msg>)| Arc::ptr_eq(now, before);
        let now = conversation.messages.shared();
        if now.len() < before.len() || !now.iter().zip(before.shared()).all(is_same) {
            return false;
        }
        // Messages observed meanwhile stay.
        let observed = now[before.len()..].to_vec();
        conversation.messages = compressed;
        conversation.messages.extend(observed);
        conversation.drop_answered();
        conversation.note_rewrite();
        true
    }

    /// Returns the question that a call left, if its tool calls still wait.
    pub(crate) fn asking(&self) -> Option<Asking> {
        self.lock().asking().cloned()
    }

    /// Records the question of a call.
    pub(crate) fn ask(&self, asking: Asking) {
        self.lock().left.get_or_insert_default().asking = Some(asking);
    }

    /// Removes the question.
    pub(crate) fn settle(&self) {
        if let Some(left) = &mut self.lock().left {
            left.asking = None;
            left.confirmed.clear();
            left.close_questions();
        }
    }

    /// Keeps what people decided about tool calls until these have a result, so that a decision
    /// outlives the process that was to follow it.
    pub(crate) fn keep_confirmed(&self, confirmed: Vec<Confirmed>) {
        let mut conversation = self.lock();
        if !confirmed.is_empty() || conversation.left.is_some() {
            conversation.left.get_or_insert_default().confirmed = confirmed;
            conversation.drop_answered();
        }
    }

    /// Returns what people decided about tool calls that have no result.
    pub(crate) fn confirmed(&self) -> Vec<Confirmed> {
        let conversation = self.lock();
        let kept = conversation.left.iter().flat_map(|left| &left.confirmed);
        kept.map(|confirmed| Confirmed { is_kept: true, ..confirmed.clone() }).collect()
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
        count == messages.len() && conversation.messages.shared().ends_with(messages.shared())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversation {
    fn note_rewrite(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.rewrite();
        }
    }

    fn asking(&self) -> Option<&Asking> {
        self.left.as_ref()?.asking.as_ref()
    }

    /// Returns where the result of a tool call belongs, if it is not the end: messages came since, and
    /// results follow their tool calls directly.
    fn place_of_result(&self, id: &str) -> Option<usize> {
        let messages = self.messages.shared();
        let has_result = |msg: &Arc<Msg>| msg.tool_results().next().is_some();
        let last = messages.last()?;
        if has_result(last) || last.tool_uses().next().is_some() {
            return None;
        }
        let asks = messages.iter().rposition(|msg| msg.tool_uses().any(|call| call.id == id))?;
        let results = messages[asks + 1..].iter().take_while(|msg| has_result(msg)).count();
        Some(asks + 1 + results)
    }

    /// Drops decisions about tool calls that have a result: the model may use their ids again.
    fn drop_answered(&mut self) {
        let Some(left) = self.left.as_mut().filter(|left| !left.confirmed.is_empty()) else {
            return;
        };
        let open = open_calls(&self.messages);
        left.confirmed.retain(|confirmed| open.iter().any(|call| call.id == confirmed.id));
    }
}
