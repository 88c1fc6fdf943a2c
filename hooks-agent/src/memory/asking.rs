//! What a call that asks leaves, and for whom it runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::PendingCall;
use crate::run_id::RunId;

/// A tool call of an agent that runs another agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Through {
    /// The id of the agent.
    pub(crate) agent: Arc<str>,
    /// The id of the tool call.
    pub(crate) call: Arc<str>,
    /// The idempotency key of the tool call, if it is in a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<Arc<str>>,
}

/// A question that a call left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asking {
    pub(crate) run: RunId,
    /// The tool call of another agent that runs this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) through: Option<Through>,
    /// The run of that agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) caller: Option<RunId>,
    pub(crate) calls: Vec<PendingCall>,
}
