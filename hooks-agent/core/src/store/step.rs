//! The step that one commit writes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::people::Waiting;
use crate::store::quota::Reservation;
use crate::store::record::{CallRecord, StoredMessage};

/// What one commit writes to a thread, in one transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Step {
    /// The version that the step was made from. The thread has the next one afterwards.
    pub version: u64,
    /// The sequence numbers of messages that are replaced. They stay as history.
    pub archived: Vec<u64>,
    /// New messages.
    pub messages: Vec<StoredMessage>,
    /// Changed values of hooks, by name; `None` removes one.
    pub values: Vec<(String, Option<Value>)>,
    /// New and changed tool calls, by key.
    pub calls: Vec<CallRecord>,
    /// What the agent keeps of the call, as JSON of its own. Replaces what there was.
    pub state: Value,
    /// Whether a call is in progress afterwards.
    pub in_call: bool,
    /// New questions. The store sets when they begin to wait, and when they expire.
    pub asked: Vec<Waiting>,
    /// The ids of questions that are closed: their decision was applied, or they were given up.
    pub closed: Vec<Arc<str>>,
    /// The user of the thread, if the call names one.
    pub user: Option<Arc<str>>,
    /// Whether the lease is released with it.
    pub releases: bool,
    /// What is reserved of quotas: all of it is, or the step is not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<Reservation>,
}
