//! Who asks about a tool call, and why.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::identity::{Approvers, NotApprover, User};
use crate::message::pending::PendingReason;
use crate::message::question::Question;

/// Who asks about a tool call, and why: an event hook, or the tool by its
/// [permission](crate::tool::Permission::Ask).
///
/// A question about a tool call [lists](crate::message::PendingCall::askers) the hooks that ask. Who lets the
/// tool call run answers exactly these: another hook, or the same hook for another reason, asks again. The
/// permission of a tool has no reason: it asks whether the tool call may run, which every yes answers.
///
/// ```
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let amount = on(|event: &mut PreActing<'_>| event.ask("money leaves"));
/// let night = on(|event: &mut PreActing<'_>| event.ask("it is late"));
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "pay", json!({})).into(),
/// #     }
/// # });
/// // `model` calls the tool and answers with the result.
/// let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
/// let builder = ReActAgent::builder("bot").model(model).tool(pay);
/// let agent = builder.hook(amount.named("amount")).hook(night.named("night")).build()?;
/// let reply = agent.call("Pay").await?;
/// let pending = &reply.pending()[0];
/// let asks: Vec<_> = pending.askers.iter().map(|asker| asker.to_string()).collect();
/// assert_eq!(asks, ["amount: money leaves", "night: it is late"]);
/// let reply = agent.resume(CallOptions::new().confirm(&pending.id)).await?;
/// assert_eq!(reply.text(), "paid");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asker {
    /// The name of the hook; `None` for the permission of the tool. Of a hook that a sub-agent inherits, with the
    /// agent that it comes from: `HumanInTheLoop of boss` is another one than its own `HumanInTheLoop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// Why it asks. Empty for the permission of a tool, and for a hook that only
    /// [stops](crate::event::PreActing::stop) the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Who may answer it; `None` lets everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
    /// Who may let an answer reach beyond the thread, or to other arguments; `None` lets nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered_by: Option<Approvers>,
    /// The subject of the question, the same for all arguments. Without one, the reason tells questions apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Whether people answered it before, and the question is about others who ask now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answered: bool,
}

/// Who let a tool call run: an answer to a question about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovedBy {
    /// The id of the user, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Arc<str>>,
    /// The id of the remembered [approval](crate::store::Approval) that answered in place of the user, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Arc<str>>,
}

impl ApprovedBy {
    pub(crate) fn new(user: Option<Arc<str>>, approval: Option<Arc<str>>) -> Self {
        Self { user, approval }
    }
}

impl Asker {
    /// Creates a hook that asks for this reason.
    pub fn hook(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { hook: Some(name.into()), ..Self::unnamed(reason) }
    }

    /// Creates the permission of a tool.
    #[must_use]
    pub fn permission() -> Self {
        Self::unnamed("")
    }

    pub(crate) fn unnamed(reason: impl Into<String>) -> Self {
        Self {
            hook: None,
            reason: reason.into(),
            approvers: None,
            remembered_by: None,
            topic: None,
            is_answered: false,
        }
    }

    /// Creates the asker of a question.
    pub(crate) fn of(hook: Option<String>, question: &Question) -> Self {
        let Question { description, approvers, remembered_by, topic, .. } = question;
        let (approvers, remembered_by) = (approvers.clone(), remembered_by.clone());
        let topic = topic.clone();
        Self { hook, approvers, remembered_by, topic, ..Self::unnamed(description.as_str()) }
    }

    /// Sets who may answer it.
    #[must_use]
    pub fn answered_by(mut self, approvers: Option<Approvers>) -> Self {
        self.approvers = approvers;
        self
    }

    /// Checks that a user may answer all who ask now, or `all` that are listed.
    pub(crate) fn check_approver(
        list: &[Self],
        user: Option<&User>,
        asks: Option<&str>,
        all: bool,
    ) -> Result<(), NotApprover> {
        let now = list.iter().filter(|asker| all || !asker.is_answered);
        now.filter_map(|asker| asker.approvers.as_ref()).try_for_each(|it| it.check(user, asks))
    }

    /// Returns whether it is this hook, or the permission of the tool, with this reason.
    pub(crate) fn is(&self, hook: Option<&str>, reason: &str) -> bool {
        self.hook.as_deref() == hook && self.reason == reason
    }

    /// Returns whether both are one hook with one reason, and the same users may answer.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.is(other.hook.as_deref(), &other.reason) && self.approvers == other.approvers
    }

    /// Returns whether a remembered answer to this one answers the other: one hook that asks for one reason or
    /// about one topic, of the same approvers.
    pub(crate) fn asks_same(&self, other: &Self) -> bool {
        let is_about_same = match (&self.topic, &other.topic) {
            (None, None) => self.reason == other.reason,
            (one, other) => one == other,
        };
        self.hook == other.hook
            && is_about_same
            && self.approvers == other.approvers
            && self.remembered_by == other.remembered_by
    }

    /// Returns whether what this user answered before answers it for a call of the user `asks`; `is_far` says that
    /// the answer reaches further than its thread and its arguments.
    pub(crate) fn may_be_answered_before(
        &self,
        by: &str,
        asks: Option<&str>,
        is_far: bool,
    ) -> bool {
        let remembered_by = self.remembered_by.as_ref().filter(|_| is_far);
        let who = [self.approvers.as_ref(), remembered_by];
        who.into_iter().flatten().all(|it| !it.is_own(by, asks))
    }

    /// Adds those who are not in the list yet.
    pub(crate) fn add_all(list: &mut Vec<Self>, others: impl IntoIterator<Item = Self>) {
        for other in others {
            // Two hooks of one name and reason may have other approvers.
            if !list.iter().any(|asker| asker.is_same(&other)) {
                list.push(other);
            }
        }
    }

    /// Returns the reasons of those who ask now, a line each.
    pub(crate) fn reasons(list: &[Self]) -> String {
        let now = list.iter().filter(|asker| !asker.is_answered && !asker.reason.is_empty());
        now.map(|asker| asker.reason.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns who was shown by a question that does not list them, as those of earlier versions.
    pub(crate) fn shown(list: &[Self], why: &PendingReason, asked_by: Option<&str>) -> Vec<Self> {
        let asker =
            |reason: &str| Self { hook: asked_by.map(str::to_owned), ..Self::unnamed(reason) };
        match why {
            _ if !list.is_empty() => list.to_vec(),
            PendingReason::Permission(reason) => vec![asker(reason)],
            PendingReason::Stopped if asked_by.is_some() => vec![asker("")],
            _ => Vec::new(),
        }
    }
}

/// Writes the name of the hook and its reason, with `the tool` in place of a name for the permission of a tool.
impl std::fmt::Display for Asker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.hook.as_deref().unwrap_or("the tool"))?;
        if self.reason.is_empty() { Ok(()) } else { write!(f, ": {}", self.reason) }
    }
}
