//! The request of the page that decides a question.

use hooks_agent_core::store::Decision;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the page sends to decide.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionRequest {
    decision: Choice,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The number of the choice of what an approval is remembered for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) remember: Option<usize>,
    /// The digest of what was shown.
    pub(super) digest: String,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Approve,
    Deny,
    Edit,
}

impl DecisionRequest {
    /// Returns the decision.
    ///
    /// # Errors
    /// What is wrong: a member that belongs to another decision may mean that the person meant that one.
    pub(crate) fn decision(&self) -> Result<Decision, &'static str> {
        if self.remember.is_some() && !matches!(self.decision, Choice::Approve) {
            return Err("`remember` is for an approval");
        }
        match (self.decision, &self.input, &self.reason) {
            (Choice::Approve, None, None) => Ok(Decision::Approve),
            (Choice::Approve, Some(_), _) => Err("`input` is for an edit: decide by \"edit\""),
            (Choice::Deny, None, reason) => {
                Ok(Decision::Reject(reason.clone().unwrap_or_default()))
            }
            (Choice::Deny, Some(_), _) => Err("`input` is for an edit, not for a denial"),
            (Choice::Edit, Some(input), None) => Ok(Decision::Edit(input.clone())),
            (Choice::Edit, None, _) => Err("an edit needs the new arguments as `input`"),
            (Choice::Approve | Choice::Edit, _, Some(_)) => Err("`reason` is for a denial"),
        }
    }
}

/// Returns the name of a decision on the page.
pub(super) fn name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve => "approve",
        Decision::Edit(_) => "edit",
        Decision::Reject(_) => "deny",
        _ => "respond",
    }
}
