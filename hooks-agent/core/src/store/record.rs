//! Records of threads in a store.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::{Messages, Msg, ToolResult};
use crate::store::error::StoreError;
use crate::store::key::ThreadKey;
use crate::store::people::Waiting;
use crate::store::step::Step;

/// The largest number of an imported message or version, from which the thread goes on: every reader of
/// JSON keeps it as it is.
const LARGEST: u64 = (1 << 53) - 1;

/// The name of the thread value that lists the threads of sub-agents. Stores forget and export them with
/// the thread.
pub const SUB_THREADS: &str = "hooks_agent/sub_threads";

/// What a call reads of a thread when it begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ThreadRecord {
    /// The version: how many steps were written.
    pub version: u64,
    /// The messages that are not archived, by place.
    pub messages: Vec<StoredMessage>,
    /// The sequence number of the next message.
    pub next: u64,
    /// The values of hooks, by name.
    pub values: Map<String, Value>,
    /// The tool calls that are not [closed](CallState::Answered).
    pub calls: Vec<CallRecord>,
    /// What the agent keeps of the call in progress or of the question that the last call left, as
    /// JSON of its own.
    pub state: Value,
    /// The questions that are not closed, oldest first.
    pub waiting: Vec<Waiting>,
    /// The [user](crate::call::CallOptions::user), where records are kept whole; databases tell it with
    /// the [lease](crate::store::Acquired::Granted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Arc<str>>,
}

impl ThreadRecord {
    /// Applies a step, as a store does that keeps records whole. What the step archives is dropped.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::{Step, StoredMessage, ThreadRecord};
    ///
    /// let mut step = Step::default();
    /// step.messages.push(StoredMessage::new(0, 0, Msg::user("Hello").into()));
    /// let mut record = ThreadRecord::default();
    /// record.apply(&step);
    /// assert_eq!((record.version, record.next, record.messages.len()), (1, 1, 1));
    /// ```
    pub fn apply(&mut self, step: &Step) {
        self.version = step.version + 1;
        self.messages.retain(|row| !step.archived.contains(&row.seq));
        self.messages.extend(step.messages.iter().cloned());
        self.messages.sort_by_key(|row| (row.place, row.seq));
        self.next =
            step.messages.iter().fold(self.next, |next, row| next.max(row.seq.saturating_add(1)));
        for (name, value) in &step.values {
            match value {
                Some(value) => self.values.insert(name.clone(), value.clone()),
                None => self.values.remove(name),
            };
        }
        for call in &step.calls {
            self.calls.retain(|known| known.key != call.key);
            self.calls.push(call.clone());
        }
        self.calls.retain(|call| call.state != CallState::Answered || call.held.is_some());
        self.state = step.state.clone();
        self.waiting.retain(|question| !step.closed.contains(&question.id));
        self.waiting.extend(step.asked.iter().cloned());
        self.user = step.user.clone().or_else(|| self.user.take());
    }
}

/// A message of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredMessage {
    /// The sequence number: 0 for the first message of the thread, and never used again.
    pub seq: u64,
    /// Where the message stands in the conversation: its sequence number, or the place of a message
    /// that it replaces.
    pub place: u64,
    /// The message.
    pub msg: Arc<Msg>,
}

impl StoredMessage {
    /// Creates the record of a message.
    #[must_use]
    pub fn new(seq: u64, place: u64, msg: Arc<Msg>) -> Self {
        Self { seq, place, msg }
    }
}

/// A message of a thread as it is stored, also one that was replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryRow {
    /// The sequence number.
    pub seq: u64,
    /// Where the message stands in the conversation.
    pub place: u64,
    /// The version of the thread that replaced the message, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<u64>,
    /// The message as JSON, with fields that this program does not know.
    pub message: Value,
}

impl HistoryRow {
    /// Creates a row.
    #[must_use]
    pub fn new(seq: u64, place: u64, archived: Option<u64>, message: Value) -> Self {
        Self { seq, place, archived, message }
    }

    /// Checks the numbers: a thread goes on from the largest ones.
    ///
    /// # Errors
    /// What the message has, to be read after "a message".
    pub fn check(&self) -> Result<(), String> {
        let archived = self.archived.unwrap_or_default();
        for (field, number) in [("seq", self.seq), ("place", self.place), ("archived", archived)] {
            if number > LARGEST {
                return Err(format!("has a `{field}` that is larger than {LARGEST}"));
            }
        }
        Ok(())
    }

    /// Reads the messages of a thread that are not archived, by place.
    pub(crate) fn read_live(
        mut rows: Vec<Self>,
        thread: &ThreadKey,
    ) -> Result<Messages, StoreError> {
        rows.retain(|row| row.archived.is_none());
        rows.sort_by_key(|row| row.place);
        rows.iter().map(|row| row.read(thread)).collect()
    }

    /// Reads the message. Fields that this program does not know are ignored.
    pub(crate) fn read(&self, thread: &ThreadKey) -> Result<Msg, StoreError> {
        // The error of the JSON may quote the message.
        Msg::deserialize(&self.message).map_err(|_| StoreError::Unreadable {
            what: format!("message {} of {thread}", self.seq),
            source: "it is no message that this program knows".into(),
        })
    }
}

/// A tool call of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// The idempotency key of the tool call, unique in the store.
    pub key: Arc<str>,
    /// The id that the model gave it. It may come again in a later round.
    pub id: Arc<str>,
    /// The name of the tool.
    pub tool: Arc<str>,
    /// What is known of it.
    pub state: CallState,
    /// The result, while earlier tool calls of the same answer have none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Arc<ToolResult>>,
}

impl CallRecord {
    /// Creates the record of a tool call that has not started.
    #[must_use]
    pub fn new(
        key: impl Into<Arc<str>>,
        id: impl Into<Arc<str>>,
        tool: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            key: key.into(),
            id: id.into(),
            tool: tool.into(),
            state: CallState::Open,
            held: None,
        }
    }
}

/// What a store knows of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// The tool has not started, or may be started again.
    Open,
    /// The tool has started.
    Started,
    /// The tool call has a result.
    Answered,
}

/// A thread as a list shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// The name of the thread.
    pub key: ThreadKey,
    /// The [user](crate::call::CallOptions::user), if a call named one.
    pub user: Option<Arc<str>>,
    /// The version: how many steps were written.
    pub version: u64,
    /// The number of messages that are not archived.
    pub messages: u64,
    /// The number of questions that wait for a decision.
    pub waiting: u64,
    /// Whether a call is in progress, or was cut off.
    pub in_call: bool,
    /// Whether a call owns the thread now. A thread that is in a call that nobody owns was cut off.
    pub is_owned: bool,
    /// When the thread was last written, in milliseconds since 1970 by the store's clock.
    pub changed: u64,
}

impl ThreadInfo {
    /// Creates the entry of a thread, with nothing else known.
    #[must_use]
    pub fn new(key: ThreadKey) -> Self {
        Self {
            key,
            user: None,
            version: 0,
            messages: 0,
            waiting: 0,
            in_call: false,
            is_owned: false,
            changed: 0,
        }
    }

    /// Returns whether the last call on the thread was cut off: the next call or
    /// [`resume`](crate::agent::AgentExt::resume) goes on with it.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.in_call && !self.is_owned
    }
}
