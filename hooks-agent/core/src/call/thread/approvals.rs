//! Answers questions by remembered approvals.

use std::collections::HashSet;

use crate::call::context::CallContext;
use crate::call::thread::kept::Kept;
use crate::memory::{Memory, Moment};
use crate::store::{Filter, Store, StoreError, Waiting, now, recall};

impl CallContext {
    /// Answers what waits by remembered approvals. Returns the questions that they answered. Questions about the
    /// tool calls `before` are left alone. If the store fails, people are asked.
    pub(crate) async fn recall(&self, memory: &Memory, before: &HashSet<String>) -> Vec<Waiting> {
        let waiting = memory.waiting();
        let is_new = |question: &&Waiting| !before.contains(&question.call_id);
        let waiting: Vec<_> = waiting.iter().filter(is_new).collect();
        if waiting.is_empty() {
            return Vec::new();
        }
        let ids = || waiting.iter().map(|question| question.id.clone()).collect::<Vec<_>>();
        match (self.call.kept.get(), &self.call.ledger) {
            (Some(Kept::Thread(saver)), _) => {
                let store = saver.store();
                let recalled = async {
                    if !any_answered(store, self.agent_name(), &waiting).await? {
                        return Ok(Vec::new());
                    }
                    // What the store decides is in it.
                    saver.commit(Moment::Question).await?;
                    store.recall(ids()).await
                };
                let answered = recalled.await.unwrap_or_else(|error: StoreError| {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        target: "hooks_agent::store", error,
                        "people are asked: it is not known which approvals are remembered"
                    );
                    Vec::new()
                });
                memory.refresh_questions(answered.clone());
                answered
            }
            (None, Some(ledger)) => memory.recall(&ids(), &ledger.approvals, now()),
            _ => Vec::new(),
        }
    }
}

/// Returns whether approvals of a store may answer one of the questions.
async fn any_answered(
    store: &dyn Store,
    agent: &str,
    waiting: &[&Waiting],
) -> Result<bool, StoreError> {
    let of = |question: &&Waiting| {
        (question.tool.clone(), question.thread.clone(), question.user.clone())
    };
    let mut asked_about: Vec<_> = waiting.iter().map(of).collect();
    asked_about.sort_unstable();
    asked_about.dedup();
    for (tool, thread, user) in asked_about {
        let filter = Filter::agent(agent).tool(tool).usable().reaching(thread, user);
        let approvals = store.approvals(filter).await;
        let mut approvals = match approvals {
            Err(StoreError::NoApprovals) => return Ok(false),
            approvals => approvals?,
        };
        let asked: Vec<Waiting> = waiting.iter().copied().cloned().collect();
        if !recall(&asked, &mut approvals, 0).is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
