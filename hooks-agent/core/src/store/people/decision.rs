//! Decisions of people.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::identity::User;
use crate::message::{DecisionKind, ToolOutput};
use crate::store::people::approval::{ApprovalRule, Reach, Remember};

/// The reason that the model reads of a question that expired.
pub(crate) const EXPIRED: &str = "no decision in time";

/// Who decided a question that expired.
pub(crate) const EXPIRY: &str = "expiry";

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
    /// What the approval is remembered for. It is never read from the JSON of a request.
    #[serde(skip)]
    pub remember: Option<Box<Remember>>,
}

impl Verdict {
    /// Creates the decision about the question of this [id](crate::store::Waiting::id).
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, decision: Decision) -> Self {
        Self { id: id.into(), decision, by: None, remember: None }
    }

    /// Remembers the approval: it answers later questions too, as far as it reaches and for the tool calls of the
    /// rule. It is kept in the store, [listed](crate::store::Store::approvals) and
    /// [revoked](crate::store::Store::revoke) there.
    ///
    /// A user who is known [decides](Self::by). To reach to a user, to everybody or to other arguments, the user
    /// needs a role that [those who ask](crate::message::Question::remembered_by) name.
    ///
    /// ```
    /// use hooks_agent::builtin::people::{Gate, HumanInTheLoop};
    /// use hooks_agent::call::User;
    /// use hooks_agent::message::Approvers;
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::{ApprovalRule, Decision, Filter, Reach, Store, Verdict};
    /// use hooks_agent::thread::MemoryStore;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(result) => result.output.as_str().into(),
    /// #         None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
    /// #     }
    /// # });
    /// // `model` pays 12 euros.
    /// let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    /// let gate = Gate::new().remembered_by(Approvers::roles(["lead"]));
    /// let store = MemoryStore::new();
    /// let agent = ReActAgent::builder("clerk")
    ///     .model(model)
    ///     .tool(pay)
    ///     .store(store.clone())
    ///     .hook(HumanInTheLoop::new().ask_with("pay", gate))
    ///     .build()?;
    /// let on = |thread: &str| CallOptions::new().thread(thread).user("ada");
    /// agent.call_with(on("monday"), "Pay").await?;
    ///
    /// let question = store.waiting(Filter::agent("clerk")).await?.remove(0);
    /// let up_to_50 = ApprovalRule::exact().at_most("euros", 50).uses(100).sum("euros", 600);
    /// let eve = User::new("eve").with_role("lead");
    /// let yes = Verdict::new(question.id, Decision::Approve).by(eve).remember(Reach::User, up_to_50);
    /// assert_eq!(agent.resume(on("monday").verdict(yes)).await?.text(), "paid");
    ///
    /// assert_eq!(agent.call_with(on("tuesday"), "Pay").await?.text(), "paid");
    /// let approval = store.approvals(Filter::agent("clerk")).await?.remove(0);
    /// assert_eq!((&*approval.given_by, approval.uses), ("eve", 1));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn remember(mut self, reach: Reach, rule: ApprovalRule) -> Self {
        self.remember = Some(Box::new(Remember { reach, rule }));
        self
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
    /// The id of the remembered [approval](crate::store::Approval) that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Arc<str>>,
}

impl Decided {
    /// Creates the record of a decision.
    #[must_use]
    pub fn new(decision: Decision, by: Option<Arc<str>>, at: u64) -> Self {
        Self { decision, by, at, approval: None }
    }

    /// Sets the remembered approval that decided.
    #[must_use]
    pub fn by_approval(self, id: Option<Arc<str>>) -> Self {
        Self { approval: id, ..self }
    }
}
