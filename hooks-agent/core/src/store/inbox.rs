//! Messages for the call that runs on a thread.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::Msg;

/// A message for the call that runs on a thread, in the inbox of the thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InboxMessage {
    /// Its number: larger than those of all before it.
    pub seq: u64,
    /// The message.
    pub message: Arc<Msg>,
    /// The id of the user who says it, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_by: Option<Arc<str>>,
}

impl InboxMessage {
    /// Creates the record of a message.
    #[must_use]
    pub fn new(seq: u64, message: Arc<Msg>, said_by: Option<Arc<str>>) -> Self {
        Self { seq, message, said_by }
    }
}

/// Who takes a message that is in the inbox of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Steered {
    /// A call runs on the thread: it takes the message, unless it ends before. Then the next one does.
    Running,
    /// No call runs: the next one takes the message.
    Waiting,
}
