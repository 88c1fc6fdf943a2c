//! The messages of a conversation.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::memory::journal::{Journal, Served};
use crate::memory::left::Left;
use crate::memory::place::place_message;
use crate::memory::values::ThreadValues;
use crate::message::{Messages, Msg, PendingCall, PendingReason, ToolResult, open_calls};
use crate::store::InboxMessage;

/// The messages of one conversation, the tool calls in it that wait for a result, and the
/// [values](crate::call::CallContext::thread_value) that hooks keep with it.
#[derive(Debug, Default)]
pub struct Memory {
    conversation: Mutex<Conversation>,
    /// Whether the thread has a user, so that a call which names none need not look.
    pub(super) has_owner: AtomicBool,
    values: ThreadValues,
}

#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) messages: Messages,
    /// How many times all messages were replaced.
    pub(super) replaced: u64,
    /// The user of the thread, if a call named one.
    pub(super) user: Option<Arc<str>>,
    /// Rare, so that most conversations stay small.
    pub(super) left: Option<Box<Left>>,
    /// What the store has, if the thread is in one.
    pub(super) journal: Option<Box<Journal>>,
    /// What users say to the call that runs, if the thread is in the process.
    pub(super) inbox: Option<Box<Inbox>>,
    /// The name of the conversation, once approvals are remembered for its thread.
    pub(super) name: Option<Arc<str>>,
}

/// What a rewind removed.
#[derive(Debug)]
pub(crate) struct Rewound {
    kept: usize,
    gone: Vec<Arc<Msg>>,
    left: Option<Box<Left>>,
    served: Option<Served>,
}

/// What users say to the call that runs.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    last: u64,
    messages: Vec<InboxMessage>,
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
        conversation.push(msg.into());
        conversation.note_answered();
    }

    /// Returns all messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.lock().messages.clone()
    }

    /// Puts a message into the inbox, for the call that runs.
    pub(crate) fn steer(&self, message: Arc<Msg>, said_by: Option<Arc<str>>) {
        let mut conversation = self.lock();
        let inbox = conversation.inbox.get_or_insert_default();
        inbox.last += 1;
        inbox.messages.push(InboxMessage::new(inbox.last, message, said_by));
    }

    /// Returns the messages of the inbox in the process.
    pub(crate) fn inbox(&self) -> Vec<InboxMessage> {
        self.lock().inbox.as_ref().map(|inbox| inbox.messages.clone()).unwrap_or_default()
    }

    /// Returns the number of the last message that calls have taken out of the inbox in the store, and of the last
    /// one that the store has as taken.
    pub(crate) fn heard(&self) -> (u64, u64) {
        self.lock()
            .journal
            .as_ref()
            .map_or((0, 0), |journal| (journal.heard, journal.stored_heard()))
    }

    /// Returns whether the messages at the end are those of a call that has no answer yet.
    pub(crate) fn has_unanswered(&self) -> bool {
        self.lock().left.as_ref().is_some_and(|left| left.unanswered > 0)
    }

    /// Appends messages of the inbox, and notes that they are taken up to this number.
    pub(crate) fn hear(&self, messages: Messages, until: u64) {
        let mut conversation = self.lock();
        for message in messages {
            conversation.push(message);
        }
        if let Some(journal) = &mut conversation.journal {
            journal.heard = journal.heard.max(until);
        } else if let Some(inbox) = &mut conversation.inbox {
            inbox.messages.retain(|it| it.seq > until);
        }
        conversation.note_answered();
    }

    /// Begins another conversation: what was said to its calls and what was approved for them is over.
    pub(crate) fn begin_anew(&self) {
        let mut conversation = self.lock();
        (conversation.inbox, conversation.name) = (None, None);
    }

    /// Takes what was said to the calls of another memory of the thread.
    pub(crate) fn take_inbox_of(&self, other: &Self) {
        let inbox = other.lock().inbox.take();
        self.lock().inbox = inbox;
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

    /// Replaces one message in its place: the one that is `before`. Returns whether it is there. What waits, and
    /// what was observed meanwhile, stays. A changed message has its role, its tool calls and its results.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_agent::memory::Memory;
    /// use hooks_agent::message::Msg;
    ///
    /// let memory = Memory::new();
    /// let said = Arc::new(Msg::user("my code is 1234"));
    /// memory.add(said.clone());
    /// assert!(memory.replace_message(&said, Msg::user("my code is ***")));
    /// assert_eq!(memory.messages().last().unwrap().text(), "my code is ***");
    /// ```
    pub fn replace_message(&self, before: &Arc<Msg>, after: impl Into<Arc<Msg>>) -> bool {
        let mut conversation = self.lock();
        let mut messages = conversation.messages.shared_mut().rev();
        let Some(place) = messages.find(|msg| Arc::ptr_eq(msg, before)) else { return false };
        *place = after.into();
        drop(messages);
        conversation.note_rewrite();
        true
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

    /// Returns whether nothing was said, and no value is kept.
    pub(crate) fn is_unused(&self) -> bool {
        self.is_empty() && self.values().is_empty()
    }

    /// Returns the values that hooks keep with the thread, one by one.
    #[must_use]
    pub fn thread_values(&self) -> &ThreadValues {
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
            conversation.push(Arc::new(Msg::tool_result(result)));
            conversation.note_answered();
        }
    }

    /// Appends messages at once.
    pub(crate) fn extend(&self, messages: impl IntoIterator<Item = Arc<Msg>>) {
        let mut conversation = self.lock();
        for msg in messages {
            conversation.push(msg);
        }
        conversation.note_answered();
    }

    /// Replaces the messages by a shorter conversation of the same content. Returns whether it did: not
    /// if these messages were replaced meanwhile.
    pub(crate) fn compress(&self, before: &Messages, compressed: Messages) -> bool {
        let mut conversation = self.lock();
        let is_same = |(now, before): (&Arc<Msg>, &Arc<Msg>)| Arc::ptr_eq(now, before);
        let now = conversation.messages.shared();
        if now.len() < before.len() || !now.clone().zip(before.shared()).all(is_same) {
            return false;
        }
        // Messages observed meanwhile stay.
        let observed: Vec<_> = now.skip(before.len()).cloned().collect();
        conversation.messages = compressed;
        conversation.messages.extend(observed);
        conversation.note_answered();
        conversation.note_rewrite();
        true
    }

    /// Removes the messages from this number on, of those that are `known`: what was observed since stays. What waits
    /// is given up. Nothing if the messages are others by now.
    pub(crate) fn rewind(&self, known: &Messages, kept: usize) -> Option<Rewound> {
        let mut conversation = self.lock();
        let mut all: Vec<_> = conversation.messages.shared().cloned().collect();
        let is_same = |(now, known): (&Arc<Msg>, &Arc<Msg>)| Arc::ptr_eq(now, known);
        if all.len() < known.len() || !all.iter().zip(known.shared()).all(is_same) {
            return None;
        }
        let observed = all.split_off(known.len());
        let gone = all.split_off(kept);
        all.extend(observed);
        conversation.set_all(all);
        let left = conversation.left.take();
        let served = conversation.journal.as_mut().and_then(|journal| journal.served.take());
        Some(Rewound { kept, gone, left, served })
    }

    /// Puts back what a rewind removed.
    pub(crate) fn undo(&self, rewound: Rewound) {
        let Rewound { kept, gone, left, served } = rewound;
        let mut conversation = self.lock();
        let mut all: Vec<_> = conversation.messages.shared().cloned().collect();
        let observed = all.split_off(kept.min(all.len()));
        all.extend(gone.into_iter().chain(observed));
        conversation.set_all(all);
        conversation.left = left;
        if let Some(journal) = &mut conversation.journal {
            journal.served = served;
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rewound {
    /// How many messages are gone.
    pub(crate) fn count(&self) -> usize {
        self.gone.len()
    }
}

impl Conversation {
    fn set_all(&mut self, messages: Vec<Arc<Msg>>) {
        self.messages = messages.into();
        self.replaced += 1;
        self.note_rewrite();
    }

    fn note_rewrite(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.rewrite();
        }
    }

    /// Appends a message; results go where they belong.
    fn push(&mut self, msg: Arc<Msg>) {
        if place_message(&mut self.messages, msg) {
            self.note_rewrite();
        }
    }
}
