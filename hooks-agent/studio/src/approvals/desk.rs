//! Lists the questions that wait, from the stores of the agents.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::User;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::{Filter, StoreError, Waiting};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::agents::Agents;
use crate::approvals::announced::DECISIONS;
use crate::approvals::resume::Resuming;
use crate::approvals::shown::approval;
use crate::shared::Shared;

/// How often the stores are asked what other processes did.
const AGAIN: Duration = Duration::from_secs(5);

/// Who asks, by the head of a request.
pub(crate) type Login = Arc<dyn Fn(&Parts) -> Option<User> + Send + Sync>;

/// Where questions are listed and decided.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) shared: Arc<Shared>,
    pub(crate) agents: Agents,
    pub(super) resuming: Resuming,
    login: Login,
}

impl Desk {
    pub(crate) fn new(shared: Arc<Shared>, agents: Agents, login: Login) -> Self {
        Self { shared, agents, resuming: Resuming::default(), login }
    }

    /// Returns who asks, by the head of a request.
    pub(crate) fn user(&self, head: &Parts) -> Option<User> {
        (self.login)(head)
    }

    /// Tells pages what waits and what waits no longer, until the studio is shut down.
    pub(crate) async fn watch(&self, stopping: &CancellationToken) {
        let mut asked = self.shared.asked.subscribe();
        loop {
            // Without an open page nothing is sent: a page asks for the list when it opens.
            if self.shared.ring.is_read()
                && let Err(error) = self.waiting().await
            {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    target: "hooks_agent::studio",
                    error, "the studio cannot list what waits"
                );
            }
            self.shared.joined.look(&self.shared.ring);
            tokio::select! {
                () = stopping.cancelled() => return,
                changed = asked.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(AGAIN) => {}
            }
        }
    }

    /// Returns what waits and what was decided, also at workers, as JSON.
    pub(crate) async fn list(&self) -> Result<Value, StoreError> {
        let seq = self.shared.ring.last();
        let mut waiting = self.waiting().await?;
        let made = self.shared.announced.decisions().into_iter();
        let mut decided: Vec<_> = made.map(|made| json!(made)).collect();
        let joined = &self.shared.joined;
        joined.add_waiting(&mut waiting);
        joined.add_decided(&mut decided);
        decided.truncate(DECISIONS);
        Ok(json!({ "seq": seq, "waiting": waiting, "decided": decided }))
    }

    /// Lists what waits, and tells pages what they do not know.
    async fn waiting(&self) -> Result<Vec<Value>, StoreError> {
        let mut all = Vec::new();
        for agent in self.agents.iter() {
            let listed = self.waiting_of(agent).await?;
            let is_shown = self.shared.settings.shows().content;
            for waiting in &listed {
                let approval = approval(waiting, is_shown);
                self.shared.announced.tell_waiting(&self.shared.ring, waiting, &approval);
                all.push(approval);
            }
        }
        Ok(all)
    }

    async fn waiting_of(&self, agent: &ReActAgent) -> Result<Vec<Waiting>, StoreError> {
        let Shared { announced, ring, settings, .. } = &*self.shared;
        let (of_agent, time) = (Filter::agent(agent.name()), announced.time());
        let mut listed = agent.store().waiting(of_agent.clone()).await?;
        listed.retain(|waiting| !waiting.is_closed && !announced.is_closed(&waiting.id));
        let missing = announced.missing(agent.name(), &listed, time);
        if missing.is_empty() {
            return Ok(listed);
        }
        let decided = agent.store().waiting(of_agent.decided()).await?;
        for id in missing {
            let found = decided.iter().find(|it| it.id == id);
            match found.and_then(|it| Some((it, it.decided.as_ref()?))) {
                Some((waiting, by)) => {
                    announced.tell_decided(ring, waiting, by, settings.shows().content);
                }
                None => announced.tell_closed(ring, &id),
            }
        }
        Ok(listed)
    }
}
