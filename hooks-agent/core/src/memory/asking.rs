//! Questions that a call leaves, the answers to them, and the tool call that it serves.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{ApprovedBy, Asker, PendingCall, ToolResult, ToolUse};
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

/// A tool call that may run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Confirmed {
    /// The id, or the path to it.
    pub(crate) id: String,
    /// The name of the tool that was shown, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<Arc<str>>,
    /// The arguments that were shown, if they are known.
    pub(crate) shown: Option<Value>,
    /// The arguments that take their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edited: Option<Value>,
    /// Who was shown to ask, once it is matched with the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) askers: Option<Vec<Asker>>,
    /// The identity of the tool that was shown, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) identity: Option<Arc<str>>,
    /// Who let it run, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approved: Option<ApprovedBy>,
    /// What says that it may run.
    #[serde(skip)]
    pub(crate) by: ConfirmedBy,
    /// Whether the arguments that were shown are those of the model's answer.
    #[serde(default)]
    pub(crate) is_held: bool,
    /// The call whose question it answers, if that was about a tool call of a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<RunId>,
}

/// What says that a tool call may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ConfirmedBy {
    /// A decision of a person.
    #[default]
    Decision,
    /// The caller of this call, with which it ends.
    Caller,
    /// An earlier call, which was to run it and did not come to its result.
    Kept,
    /// That the tool call has begun: it answers everybody who asks.
    Begun,
}

impl Confirmed {
    /// Returns whether a tool call is the one that was allowed, except hidden arguments.
    pub(crate) fn allows(&self, call: &ToolUse) -> bool {
        if self.tool.as_ref().is_some_and(|tool| **tool != *call.name) {
            return false;
        }
        let Some(mut allowed) = self.edited.clone().or_else(|| self.shown.clone()) else {
            return true;
        };
        let mut input = call.input.clone();
        for value in [&mut allowed, &mut input] {
            if let Value::Object(fields) = value {
                fields.retain(|name, _| !call.is_hidden(name));
            }
        }
        allowed == input
    }

    /// Returns whether it answers this hook with this reason and these approvers.
    pub(crate) fn answers(&self, asker: &Asker) -> bool {
        self.askers.iter().flatten().any(|it| it.is_same(asker))
    }

    /// Returns whether it answers this hook with this reason.
    pub(crate) fn answers_to(&self, hook: Option<&str>, reason: &str) -> bool {
        self.askers.iter().flatten().any(|asker| asker.is(hook, reason))
    }

    /// Returns whether it answers something that this hook asked.
    pub(crate) fn answers_hook(&self, hook: Option<&str>) -> bool {
        self.has_begun() || self.askers.iter().flatten().any(|asker| asker.hook.as_deref() == hook)
    }

    /// Returns the confirmation of a tool call that has begun, or that a test confirms.
    pub(crate) fn begun(id: String) -> Self {
        Self { by: ConfirmedBy::Begun, ..Self::from(id) }
    }

    /// Returns whether it answers everybody who asks.
    pub(crate) fn has_begun(&self) -> bool {
        self.by == ConfirmedBy::Begun
    }

    /// Returns whether a remembered approval says so.
    pub(crate) fn is_remembered(&self) -> bool {
        self.approved.as_ref().is_some_and(|by| by.approval.is_some())
    }

    /// Returns whether an earlier call was to run it.
    pub(crate) fn is_kept(&self) -> bool {
        self.by == ConfirmedBy::Kept
    }

    /// Returns whether it ends with the call.
    pub(crate) fn is_of_call(&self) -> bool {
        self.by == ConfirmedBy::Caller
    }
}

impl From<String> for Confirmed {
    fn from(id: String) -> Self {
        Self {
            id,
            tool: None,
            shown: None,
            edited: None,
            askers: None,
            identity: None,
            approved: None,
            by: ConfirmedBy::Decision,
            is_held: false,
            asked: None,
        }
    }
}

/// The result of a tool call of a sub-agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The result, by the path to the tool call.
    pub(crate) result: ToolResult,
    /// The call that asked for it.
    pub(crate) asked: Option<RunId>,
}

/// Returns whether a path is the id of a tool call, or leads to one of the sub-agent that it runs.
pub(crate) fn is_within(path: &str, id: &str) -> bool {
    path.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
