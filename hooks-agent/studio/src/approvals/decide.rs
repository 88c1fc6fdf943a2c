//! Decides about what waits.

use std::sync::Arc;

use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::User;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::{
    Decided, Decision, DecisionError, Filter, NotRemembered, StoreError, Verdict, Waiting,
};
use subtle::ConstantTimeEq;

use crate::approvals::desk::Desk;
use crate::approvals::remembered::choices;
use crate::approvals::request::{DecisionRequest, name};
use crate::ring::now;

/// Why a decision is refused. Nothing has changed then.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The question is not as it was: a code and a sentence.
    Conflict(&'static str, String),
    /// Somebody else is to decide.
    Forbidden(String),
    /// The decision does not fit the question.
    Invalid(String),
    /// The store failed.
    Store(StoreError),
}

impl Desk {
    /// Decides about a question, and resumes its thread in the background once no other question of the
    /// same call is open: a call that is resumed earlier asks the others anew, while they are decided.
    /// Returns the name of the decision, and how many questions are open.
    ///
    /// Runs to its end if the future is dropped: a page that is closed does not leave a decision that
    /// nobody carries out.
    pub(crate) async fn decide(
        &self,
        id: String,
        request: DecisionRequest,
        by: User,
    ) -> Result<(&'static str, usize), Refused> {
        let desk = self.clone();
        let deciding = tokio::spawn(async move { desk.decide_now(id.into(), &request, &by).await });
        let failed =
            |error: tokio::task::JoinError| Refused::Store(StoreError::Failed(error.into()));
        deciding.await.map_err(failed)?
    }

    async fn decide_now(
        &self,
        id: Arc<str>,
        request: &DecisionRequest,
        by: &User,
    ) -> Result<(&'static str, usize), Refused> {
        let (agent, waiting) = self.find(&id).await?;
        let digest = waiting.digest.as_bytes();
        let is_same: bool = digest.ct_eq(request.digest.as_bytes()).into();
        if !is_same || !waiting.is_as_shown() {
            return Err(DecisionError::Changed { id }.into());
        }
        let decision = request.decision().map_err(|reason| Refused::Invalid(reason.to_owned()))?;
        let is_blind = !self.shared.settings.shows().content;
        if is_blind && !matches!(decision, Decision::Reject(_)) {
            let reason = "the arguments are not shown, so the call can only be denied";
            return Err(Refused::Invalid(reason.to_owned()));
        }
        let mut verdict = Verdict::new(id, decision.clone()).by(by.clone());
        if let Some(number) = request.remember {
            let Some((reach, rule)) = choices(&waiting).into_iter().nth(number) else {
                let reason = "there is no such choice to remember it for";
                return Err(Refused::Invalid(reason.to_owned()));
            };
            verdict = verdict.remember(reach, rule);
        }
        agent.store().decide(vec![verdict]).await?;
        let chosen = name(&decision);
        let decided = Decided::new(decision, Some(by.id().into()), now());
        let announced = &self.shared.announced;
        announced.tell_decided(&self.shared.ring, &waiting, &decided, !is_blind);
        tracing::info!(
            target: "hooks_agent::studio",
            agent = agent.name(),
            thread = &*waiting.thread,
            tool = &*waiting.tool,
            decision = chosen,
            by = by.id(),
            "a question was decided in the studio"
        );
        // The decision is stored: a store that cannot be listed now is asked again by the resume.
        let waits = others(&agent, &waiting).await.unwrap_or_default();
        if waits == 0 {
            self.resuming.resume(&agent, waiting.thread.clone());
        }
        Ok((chosen, waits))
    }

    /// Finds a question that waits, and the agent that asks it.
    async fn find(&self, id: &Arc<str>) -> Result<(Arc<ReActAgent>, Waiting), Refused> {
        for agent in self.agents.iter() {
            let of_agent = Filter::agent(agent.name());
            let listed = agent.store().waiting(of_agent.clone()).await?;
            if let Some(waiting) = listed.into_iter().find(|it| it.id == *id) {
                return Ok((agent.clone(), waiting));
            }
            let decided = agent.store().waiting(of_agent.decided()).await?;
            if let Some(decided) =
                decided.into_iter().find(|it| it.id == *id).and_then(|it| it.decided)
            {
                let Decided { by, at, .. } = decided;
                return Err(DecisionError::AlreadyDecided { id: id.clone(), by, when: at }.into());
            }
        }
        if self.shared.announced.is_closed(id) {
            let message = format!("the question `{id}` was decided already");
            return Err(Refused::Conflict("decided", message));
        }
        Err(DecisionError::Unknown { id: id.clone() }.into())
    }
}

/// Returns how many other questions of the same call can still be decided.
async fn others(agent: &ReActAgent, decided: &Waiting) -> Result<usize, StoreError> {
    let of_thread = Filter::agent(agent.name()).thread(decided.thread.clone());
    let listed = agent.store().waiting(of_thread).await?;
    let is_open = |it: &&Waiting| it.run == decided.run && it.expires.is_none_or(|at| at > now());
    Ok(listed.iter().filter(is_open).count())
}

impl From<DecisionError> for Refused {
    fn from(error: DecisionError) -> Self {
        let message = error.to_string();
        match error {
            DecisionError::AlreadyDecided { .. } | DecisionError::Twice { .. } => {
                Self::Conflict("decided", message)
            }
            DecisionError::Expired { .. } => Self::Conflict("expired", message),
            DecisionError::Changed { .. } => Self::Conflict("changed", message),
            DecisionError::Unknown { .. } => Self::Conflict("unknown", message),
            DecisionError::NotApprover { reason, .. }
            | DecisionError::NotRemembered { reason: NotRemembered::NotApprover(reason), .. } => {
                Self::Forbidden(reason.to_string())
            }
            _ => Self::Invalid(message),
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Decision(error) => error.into(),
            error => Self::Store(error),
        }
    }
}
