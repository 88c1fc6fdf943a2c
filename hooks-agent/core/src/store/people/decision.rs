//! Decisions of people.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::identity::User;
use crate::message::{DecisionKind, ToolOutput};
use crate::store::people::review::{EXPIRED, EXPIRY};

/// What a person decides about a tool call.
///
/// ```
/// use hooks_agent::store::Decision;
/// use serde_json::json;
///
/// let edit: Decision = serde_json::from_value(json!({ "edit": { "euros": 10 } }))?;
/// assert_eq!(edit, Decision::Edit(json!({ "euros": 10 })));
/// assert_eq!(serde_json::to_value(Decision::Approve)?, json!("approve"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// The tool runs with the arguments that were shown.
    Approve,
    /// The tool runs with these arguments, which must fit its JSON schema. They are checked where it is
    /// decided: a program without the feature `schema` of this crate
    /// [refuses](crate::store::DecisionError::Unchecked) every edit.
    Edit(Value),
    /// The tool does not run; the model reads this reason. An empty one is none.
    Reject(String),
    /// The tool does not run; the model reads this as its result.
    Respond(ToolOutput),
}

impl Decision {
    /// Returns the kind of the decision.
    #[must_use]
    pub fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve => DecisionKind::Approve,
            Self::Edit(_) => DecisionKind::Edit,
            Self::Reject(_) => DecisionKind::Reject,
            Self::Respond(_) => DecisionKind::Respond,
        }
    }
}

/// A decision about one question.
///
/// Read from the JSON of a request, it names nobody: who decides is said by the program that has
/// authenticated the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The [id](crate::store::Waiting::id) of the question.
    pub id: Arc<str>,
    /// The decision.
    pub decision: Decision,
    /// Who decides, as the program has authenticated them.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub by: Option<User>,
}

impl Verdict {
    /// Creates the decision about the question of this [id](crate::store::Waiting::id).
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, decision: Decision) -> Self {
        Self { id: id.into(), decision, by: None }
    }

    /// Creates the decision about a question that nobody decided in time.
    #[must_use]
    pub fn expired(id: impl Into<Arc<str>>) -> Self {
        Self::new(id, Decision::Reject(EXPIRED.to_owned())).by(EXPIRY)
    }

    /// Returns whether nobody decided in time.
    pub(crate) fn is_expired(&self) -> bool {
        *self == Self::expired(self.id.clone())
    }

    /// Sets who decides: an id, or a user with roles, which a question may
    /// [require](crate::message::Question::approvers).
    #[must_use]
    pub fn by(mut self, who: impl Into<User>) -> Self {
        self.by = Some(who.into());
        self
    }
}

/// A decision as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decided {
    /// The decision.
    pub decision: Decision,
    /// The id of who decided, if the caller said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// When, in milliseconds since 1970 by the store's clock.
    pub at: u64,
}

impl Decided {
    /// Creates the record of a decision.
    #[must_use]
    pub fn new(decision: Decision, by: Option<Arc<str>>, at: u64) -> Self {
        Self { decision, by, at }
    }
}
