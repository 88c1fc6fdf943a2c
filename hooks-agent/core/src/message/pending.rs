//! Tool calls that wait for a result.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::asker::Asker;
use crate::message::block::{ToolResult, ToolUse};
use crate::message::messages::Messages;
use crate::message::msg::{Msg, Role};
use crate::message::note::Note;
use crate::message::output::ToolOutput;
use crate::message::question::Question;

/// A tool call that waits for a result, as [`Msg::pending`](crate::message::Msg::pending),
/// [`Memory::pending`](crate::memory::Memory::pending) and
/// [`PermissionAsked`](crate::stream::AgentEventKind::PermissionAsked) list it.
///
/// [`CallOptions::confirm`](crate::call::CallOptions::confirm) with its id lets it run. A result
/// with its id, as [`answered`](Self::answered) and [`refused`](Self::refused) create it, answers
/// it without running it.
///
/// ```
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// struct Approval;
///
/// #[agent_hook]
/// impl Approval {
///     fn ask(&self, event: &mut PreActing<'_>) -> Flow {
///         event.ask("everything needs approval")
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
///     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
///         Some(result) => result.output.as_str().into(),
///         None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
///     }
/// });
/// let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
/// let agent = ReActAgent::builder("bot").model(model).tool(pay).hook(Approval).build()?;
/// let reply = agent.call(Msg::user("Pay")).await?;
/// let pending = &reply.pending()[0];
/// assert_eq!((pending.id.as_str(), pending.asked_by.as_deref()), ("1", Some("Approval")));
/// let reply = agent.resume(CallOptions::new().confirm(&pending.id)).await?;
/// assert_eq!(reply.text(), "paid");
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The id by which the called agent knows the tool call. For a tool call of a sub-agent, these
    /// are the ids from the tool call that runs the sub-agent down, joined by `/`.
    pub id: String,
    /// The tool call, with the changes of hooks.
    pub call: ToolUse,
    /// The [identity](crate::tool::Tool#method.identity) of the tool, if the agent has one of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Arc<str>>,
    /// The names of the sub-agents on the way to the tool call; empty for one of the called agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Why it waits.
    pub why: PendingReason,
    /// The name of the event hook that stopped the call or asks, if one did: the first of
    /// [`askers`](Self::askers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// All who stopped the call or ask, and why: who lets the tool call run answers these and no
    /// others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub askers: Vec<Asker>,
    /// What a person is asked, if it asks for permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<Question>>,
    /// What hooks [tell](crate::call::CallContext::tell_people) people of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// Why a tool call waits for a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PendingReason {
    /// Its permission is to ask, or hooks ask. The text has the reasons of the hooks, a line each.
    Permission(String),
    /// A hook stopped the call here.
    Stopped,
    /// The call was stopped before the tool call had its turn.
    NotRun,
    /// The process ended while the tool ran, so its outcome is not known; see
    /// [`Unknown`](crate::store::Unknown).
    UnknownOutcome,
}

impl PendingReason {
    /// Returns the name of the reason, as JSON has it.
    ///
    /// ```
    /// use hooks_agent::message::PendingReason;
    ///
    /// assert_eq!(PendingReason::Permission("really?".to_owned()).name(), "permission");
    /// ```
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Permission(_) => "permission",
            Self::Stopped => "stopped",
            Self::NotRun => "not_run",
            Self::UnknownOutcome => "unknown_outcome",
        }
    }
}

impl PendingCall {
    /// Creates the entry of a tool call of the called agent.
    #[must_use]
    pub fn new(call: ToolUse, why: PendingReason) -> Self {
        let (call, askers) = (call.without_hidden(), Asker::shown(&[], &why, None));
        let (id, agents) = (call.id.clone(), Vec::new());
        let (identity, asked_by, question, notes) = (None, None, None, Vec::new());
        Self { id, call, identity, agents, why, asked_by, askers, question, notes }
    }

    /// Creates the message that answers the tool call with this output, instead of running it.
    #[must_use]
    pub fn answered(&self, output: impl Into<ToolOutput>) -> Msg {
        let result = ToolResult::success(&self.call, output);
        Msg::tool_result(ToolResult { id: self.id.clone(), ..result })
    }

    /// Creates the message that refuses the tool call, with a reason that the model reads.
    #[must_use]
    pub fn refused(&self, reason: impl Into<String>) -> Msg {
        let reason: String = reason.into();
        let result = ToolResult::error(&self.call, reason);
        Msg::tool_result(ToolResult { id: self.id.clone(), ..result })
    }

    /// Sets the hook that asks, and no other.
    #[must_use]
    pub fn asked_by(mut self, hook: impl Into<String>) -> Self {
        self.asked_by = Some(hook.into());
        self.askers = Asker::shown(&[], &self.why, self.asked_by.as_deref());
        self
    }

    /// Sets those who ask.
    pub(crate) fn with_askers(mut self, askers: Vec<Asker>) -> Self {
        self.asked_by =
            askers.iter().find(|asker| !asker.is_answered).and_then(|it| it.hook.clone());
        self.askers = askers;
        self
    }

    /// Returns those who were shown to who lets the tool call run.
    pub(crate) fn shown_askers(&self) -> Vec<Asker> {
        Asker::shown(&self.askers, &self.why, self.asked_by.as_deref())
    }

    /// Returns the entry as the caller of the agent `agent` knows it, which runs the agent by the
    /// tool call `id`.
    pub(crate) fn below(mut self, id: &str, agent: &str) -> Self {
        self.id = format!("{id}/{}", self.id);
        self.agents.insert(0, agent.to_owned());
        self
    }

    /// Returns the id of the tool call of the called agent: this one, or the one that runs the
    /// sub-agent. Ids of the model have no `/` where there are sub-agents.
    pub(crate) fn top_id(&self) -> &str {
        match self.id.split_once('/') {
            Some((top, _)) if !self.agents.is_empty() => top,
            _ => &self.id,
        }
    }
}

/// Returns the tool calls of the model's last answer that have no result.
pub(crate) fn open_calls(history: &Messages) -> Vec<ToolUse> {
    // Messages observed since then do not affect them.
    let asks = |msg: &Arc<Msg>| msg.role == Role::Assistant && msg.tool_uses().next().is_some();
    let Some(last) = history.shared().rposition(asks) else {
        return Vec::new();
    };
    let results: std::collections::HashSet<_> = history
        .iter()
        .skip(last)
        .flat_map(Msg::tool_results)
        .map(|result| result.id.as_str())
        .collect();
    let is_open = |call: &&ToolUse| !results.contains(call.id.as_str());
    history[last].tool_uses().filter(is_open).cloned().collect()
}
