//! Whether a tool call may run.

use serde::{Deserialize, Serialize};

/// Whether a tool call may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Permission {
    /// The tool call may run.
    #[default]
    Allow,
    /// The tool call requires approval by the user: the call of the agent ends with
    /// [`PermissionAsking`](crate::message::GenerateReason::PermissionAsking) and the tool call
    /// waits.
    ///
    /// To continue, call the agent again with
    /// [`CallOptions::confirm`](crate::call::CallOptions::confirm), or answer the tool call with a
    /// result of your own. [`unanswered_tool_uses`](crate::message::unanswered_tool_uses) of the
    /// agent's memory returns the tool calls that wait.
    Ask,
    /// The tool call may not run; the model reads this reason.
    Deny(String),
}
