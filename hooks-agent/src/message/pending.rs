//! Tool calls that wait for a result.

use serde::{Deserialize, Serialize};

use crate::message::{Messages, Msg, Role, ToolUse};

/// A tool call that waits for a result, as [`Msg::pending`](crate::Msg::pending),
/// [`Memory::pending`](crate::Memory::pending) and
/// [`PermissionAsked`](crate::AgentEventKind::PermissionAsked) list it.
///
/// [`CallOptions::confirm`](crate::CallOptions::confirm) with its id lets it run. A result with its
/// id answers it without running it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The id by which the called agent knows the tool call. For a tool call of a sub-agent, these
    /// are the ids from the tool call that runs the sub-agent down, joined by `/`.
    pub id: String,
    /// The tool call, with the changes of hooks.
    pub call: ToolUse,
    /// The names of the sub-agents on the way to the tool call; empty for one of the called agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Why it waits.
    pub why: PendingReason,
    /// The name of the event hook that stopped the call or asks, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
}

/// Why a tool call waits for a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PendingReason {
    /// Its permission is to ask, or a hook asks. The text is the hook's, or empty.
    Permission(String),
    /// A hook stopped the call here.
    Stopped,
    /// The call was stopped before the tool call had its turn.
    NotRun,
}

impl PendingCall {
    /// Creates the entry of a tool call of the called agent.
    #[must_use]
    pub fn new(call: ToolUse, why: PendingReason) -> Self {
        Self { id: call.id.clone(), call, agents: Vec::new(), why, asked_by: None }
    }

    /// Sets the name of the hook that asks.
    #[must_use]
    pub fn asked_by(mut self, hook: impl Into<String>) -> Self {
        self.asked_by = Some(hook.into());
        self
    }

    /// Returns the entry as the caller of the agent `agent` knows it, which runs the agent by the
    /// tool call `id`.
    pub(crate) fn below(mut self, id: &str, agent: &str) -> Self {
        self.id = format!("{id}/{}", self.id);
        self.agents.insert(0, agent.to_owned());
        self
    }

    /// Returns whether this is the tool call `id` of the called agent, or one of the sub-agent that
    /// it runs.
    pub(crate) fn is_of(&self, id: &str) -> bool {
        let rest = self.id.strip_prefix(id);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') && !self.agents.is_empty())
    }
}

/// Returns the tool calls of the model's last answer that have no result.
pub(crate) fn open_calls(history: &Messages) -> Vec<ToolUse> {
    // Messages observed since then do not affect them.
    let asks = |msg: &Msg| msg.role == Role::Assistant && msg.tool_uses().next().is_some();
    let Some(last) = history.iter().rposition(|msg| asks(msg)) else {
        return Vec::new();
    };
    let results: std::collections::HashSet<_> = history[last..]
        .iter()
        .flat_map(|msg| msg.tool_results())
        .map(|result| result.id.as_str())
        .collect();
    let is_open = |call: &&ToolUse| !results.contains(call.id.as_str());
    history[last].tool_uses().filter(is_open).cloned().collect()
}
