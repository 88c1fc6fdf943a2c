//! Whether a tool call may run.

use serde::{Deserialize, Serialize};

/// Whether a tool call may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It may.
    #[default]
    Allow,
    /// A person must say so: the call of the agent ends with
    /// [`PermissionAsking`](crate::GenerateReason::PermissionAsking) and the tool call waits.
    ///
    /// To go on, call the agent again with [`CallOptions::confirm`](crate::CallOptions::confirm), or
    /// answer the tool call with a result of your own. Which calls wait,
    /// [`unanswered_tool_uses`](crate::unanswered_tool_uses) says of the agent's memory.
    Ask,
    /// It may not; the model gets to read why.
    Deny(String),
}
