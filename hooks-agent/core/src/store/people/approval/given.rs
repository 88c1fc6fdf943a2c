//! An approval that is remembered.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::identity::{Approvers, User};
use crate::message::{Asker, DecisionKind, PendingReason};
use crate::store::people::approval::error::NotRemembered;
use crate::store::people::approval::reach::{Reach, Remember};
use crate::store::people::approval::rule::{ApprovalRule, LONGEST};
use crate::store::people::decision::{Decision, Verdict};
use crate::store::people::waiting::Waiting;

/// An approval that is remembered: it answers later questions about the same tool of the same agent, as far as
/// its [reach](Self::reach) and its [rule](Self::rule) say.
///
/// It answers those who asked when it was given, each for the same reason or the same
/// [topic](crate::message::Question::topic). Somebody else who asks, another reason, a tool that
/// [changed](crate::tool::Tool#method.identity) or another argument is asked about. What denies a call, a quota
/// and the hooks around the tool decide as before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approval {
    /// The id, unique in the store.
    pub id: Arc<str>,
    /// The name of the agent that was called.
    pub agent: Arc<str>,
    /// The names of the sub-agents on the way to the tool call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// How far it reaches.
    pub reach: Reach,
    /// The thread of the question.
    pub thread: Arc<str>,
    /// The user of the call that asked, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Arc<str>>,
    /// The name of the tool.
    pub tool: String,
    /// The [identity](crate::tool::Tool#method.identity) of the tool.
    pub identity: Arc<str>,
    /// The arguments that were shown.
    pub arguments: Value,
    /// Which calls it lets run.
    pub rule: ApprovalRule,
    /// Who asked, and why.
    pub askers: Vec<Asker>,
    /// The id of who gave it.
    pub given_by: Arc<str>,
    /// When, in milliseconds since 1970 by the store's clock.
    pub given_at: u64,
    /// When it expires, in milliseconds since 1970 by the store's clock.
    pub expires: u64,
    /// How many questions it has answered.
    pub uses: u64,
    /// The sum of what it let run, in millionths of what the rule sums up.
    pub sum: u64,
    /// The id of who revoked it, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<Arc<str>>,
    /// When, in milliseconds since 1970 by the store's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<u64>,
    /// The conversation of a thread in the process: one that begins anew under the id is another.
    #[serde(skip)]
    pub(crate) conversation: Option<Arc<str>>,
}

impl Approval {
    /// Makes what a decision says is to be remembered.
    pub(in crate::store::people) fn new(
        question: &Waiting,
        verdict: &Verdict,
        Remember { reach, rule }: &Remember,
        now: u64,
    ) -> Result<Self, NotRemembered> {
        let by = verdict.by.as_ref();
        if verdict.decision != Decision::Approve {
            return Err(NotRemembered::Decision);
        }
        if !matches!(question.why, PendingReason::Permission(_)) {
            return Err(NotRemembered::NoPermission);
        }
        let Some(identity) = question.identity.clone() else {
            return Err(NotRemembered::UnknownTool(question.tool.clone()));
        };
        if *reach == Reach::User && !question.has_known_user() {
            return Err(NotRemembered::NoUser);
        }
        if rule.lasts() > LONGEST {
            return Err(NotRemembered::TooLong(rule.lasts()));
        }
        let asks = question.user.as_deref();
        let by = Approvers::anybody().check(by, asks).map(|()| by)?;
        // Also those whom others have answered: it answers them from now on.
        Asker::check_approver(&question.askers, by, asks, true)?;
        let askers = question.shown_askers();
        if *reach != Reach::Thread || !rule.is_exact() {
            for asker in &askers {
                let Some(allowed) = asker.remembered_by.as_ref().filter(|it| it.has_roles()) else {
                    let asker = asker.hook.clone().unwrap_or_else(|| "the tool".to_owned());
                    return Err(NotRemembered::NotAllowed { asker, reach: *reach });
                };
                allowed.check(by, asks)?;
            }
        }
        if !rule.covers(&question.arguments, &question.arguments) {
            return Err(NotRemembered::Other(rule.to_string().into()));
        }
        let unknown = rule.arguments().find(|(name, _)| question.arguments.get(name).is_none());
        if let Some((name, _)) = unknown {
            let reason = format!("it was shown without the argument `{name}`");
            return Err(NotRemembered::Other(reason.into()));
        }
        let lasts = u64::try_from(rule.lasts().as_millis()).unwrap_or(u64::MAX);
        let random = uuid::Uuid::new_v4().simple().to_string();
        Ok(Self {
            id: random[..20].into(),
            agent: question.agent.clone(),
            agents: question.agents.clone(),
            reach: *reach,
            thread: question.thread.clone(),
            user: question.user.clone(),
            tool: question.tool.clone(),
            identity,
            arguments: question.arguments.clone(),
            rule: rule.clone(),
            askers,
            given_by: by.map(User::shared_id).unwrap_or_default(),
            given_at: now,
            expires: now.saturating_add(lasts),
            uses: 0,
            sum: 0,
            revoked_by: None,
            revoked_at: None,
            conversation: None,
        })
    }

    /// Returns the thread that it is for, if it reaches no further.
    #[must_use]
    pub fn of_thread(&self) -> Option<&str> {
        (self.reach == Reach::Thread).then_some(&*self.thread)
    }

    /// Returns whether it reaches to calls of a user, or of none, on a thread of its agent.
    #[must_use]
    pub fn reaches(&self, thread: &str, user: Option<&str>) -> bool {
        match self.reach {
            Reach::Thread => *self.thread == *thread && self.user.as_deref() == user,
            Reach::User => user.is_some() && self.user.as_deref() == user,
            Reach::Always => true,
        }
    }

    /// Returns whether it may still answer questions.
    #[must_use]
    pub fn is_usable(&self, now: u64) -> bool {
        self.revoked_at.is_none() && now < self.expires && self.uses < self.rule.most_uses()
    }

    /// Returns the most that its sum may be, in millionths.
    #[must_use]
    pub fn most_sum(&self) -> Option<u64> {
        self.rule.most_sum()
    }

    /// Returns whether it answers a question, as often as it may be used.
    #[must_use]
    pub fn covers(&self, question: &Waiting) -> bool {
        let is_within = self.reaches(&question.thread, question.user.as_deref())
            && (self.reach != Reach::User || question.has_known_user());
        let is_far = self.reach != Reach::Thread || !self.rule.is_exact();
        let asks_same = |asker: &Asker| {
            self.askers.iter().any(|known| known.asks_same(asker))
                && asker.may_be_answered_before(&self.given_by, question.user.as_deref(), is_far)
        };
        is_within
            && self.agent == question.agent
            && self.agents == question.agents
            && self.tool == question.tool
            && question.identity.as_ref() == Some(&self.identity)
            && matches!(question.why, PendingReason::Permission(_))
            && question.allowed.contains(&DecisionKind::Approve)
            && question.shown_askers().iter().all(asks_same)
            && self.rule.covers(&self.arguments, &question.arguments)
    }

    /// Uses it for a question that it covers. Returns whether there was enough left.
    pub(super) fn take(&mut self, question: &Waiting, now: u64) -> bool {
        let Some(amount) = self.rule.amount(&question.arguments) else { return false };
        let sum = self.sum.saturating_add(amount);
        if !self.is_usable(now) || self.most_sum().is_some_and(|most| sum > most) {
            return false;
        }
        self.uses += 1;
        self.sum = sum;
        true
    }
}

/// Writes what it lets run, who gave it and how far it reaches.
impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, given_by, reach, rule, .. } = self;
        write!(f, "`{tool}` {reach}, by {given_by}: {rule}")
    }
}
