//! Approvals that are remembered: what a person may choose, what is remembered, and its end.

use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::User;
use hooks_agent_core::message::{DecisionKind, PendingReason};
use hooks_agent_core::store::{Approval, ApprovalRule, Filter, Reach, StoreError, Waiting};
use serde_json::{Value, json};

use crate::approvals::desk::Desk;

/// How many remembered approvals of an agent are listed.
const MOST: u32 = 1_000;

/// Returns what an approval of a question may be remembered for, as far as those who ask allow it. A request names
/// one of these by its number, so that its body makes no rule.
pub(super) fn choices(waiting: &Waiting) -> Vec<(Reach, ApprovalRule)> {
    let is_asked = matches!(waiting.why, PendingReason::Permission(_));
    if !is_asked || waiting.identity.is_none() || !waiting.allowed.contains(&DecisionKind::Approve)
    {
        return Vec::new();
    }
    let rules = ApprovalRule::suggestions(&waiting.arguments);
    let is_far = waiting.askers.iter().all(|asker| asker.remembered_by.is_some());
    if !is_far || waiting.askers.is_empty() {
        let exact = rules.into_iter().filter(ApprovalRule::is_exact);
        return exact.map(|rule| (Reach::Thread, rule)).collect();
    }
    let user = waiting.user.as_ref().map(|_| Reach::User);
    let reaches = [Some(Reach::Thread), user, Some(Reach::Always)].into_iter().flatten();
    reaches.flat_map(|reach| rules.iter().map(move |rule| (reach, rule.clone()))).collect()
}

/// Returns the choices as the page shows them.
pub(super) fn shown(waiting: &Waiting) -> Vec<String> {
    choices(waiting).iter().map(|(reach, rule)| format!("{reach}: {rule}")).collect()
}

impl Desk {
    /// Returns the approvals that may still answer questions, also at workers, the newest first.
    pub(crate) async fn remembered(&self) -> Result<Value, StoreError> {
        let is_shown = self.shared.settings.shows().content;
        let mut all = Vec::new();
        for agent in self.agents.iter() {
            let usable = Filter::agent(agent.name()).usable().limit(MOST);
            match agent.store().approvals(usable).await {
                Ok(listed) => all.extend(listed),
                // A store of one's own may remember none.
                Err(StoreError::NoApprovals) => {}
                Err(error) => return Err(error),
            }
        }
        all.sort_by_key(|approval| std::cmp::Reverse(approval.given_at));
        let mut listed: Vec<_> =
            all.iter().map(|approval| shown_approval(approval, is_shown)).collect();
        self.shared.joined.add_remembered(&mut listed);
        Ok(json!({ "remembered": listed }))
    }

    /// Ends a remembered approval. Returns whether there was one.
    pub(crate) async fn revoke(&self, id: &str, by: &User) -> Result<bool, StoreError> {
        for agent in self.agents.iter() {
            match agent.store().revoke(id, by).await {
                Ok(false) | Err(StoreError::NoApprovals) => {}
                Ok(true) => {
                    tracing::info!(
                        target: "hooks_agent::studio",
                        approval = id, by = by.id(), "an approval was revoked in the studio"
                    );
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// Returns an approval as the page shows it.
fn shown_approval(approval: &Approval, is_shown: bool) -> Value {
    let Approval { id, agent, agents, tool, reach, rule, arguments, .. } = approval;
    let mut shown = json!({
        "id": id, "agent": agent, "agents": agents, "tool": tool, "reach": reach.to_string(),
        "user": approval.user, "given_by": approval.given_by, "given_at": approval.given_at,
        "expires": approval.expires, "uses": approval.uses, "most_uses": rule.most_uses(),
    });
    if approval.of_thread().is_some() {
        shown["thread"] = (*approval.thread).into();
    }
    if is_shown {
        shown["rule"] = rule.to_string().into();
        shown["arguments"] = arguments.to_string().into();
    }
    shown
}
