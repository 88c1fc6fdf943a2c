//! What the page sends to decide.

use serde::Deserialize;
use serde_json::Value;

use crate::store::Decision;

/// What the page sends to decide.
#[derive(Deserialize)]
pub(in crate::builtin::connect::studio) struct DecisionRequest {
    decision: Choice,
    #[serde(default)]
    input: Option<Value>,
    #[serde(default)]
    reason: Option<String>,
    /// The digest of what was shown.
    pub(super) digest: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Approve,
    Deny,
    Edit,
}

impl DecisionRequest {
    /// Returns the decision; `None` for an edit without arguments.
    pub(super) fn decision(&self) -> Option<Decision> {
        Some(match self.decision {
            Choice::Approve => Decision::Approve,
            Choice::Deny => Decision::Reject(self.reason.clone().unwrap_or_default()),
            Choice::Edit => Decision::Edit(self.input.clone()?),
        })
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
