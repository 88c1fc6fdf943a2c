//! Forgets threads, with those of sub-agents.

use std::any::Any;

use hooks_core::BoxFuture;

use crate::agent::Agent;
use crate::react::agent::ReActAgent;
use crate::react::agent_tool::AgentTool;
use crate::store::{Filter, SUB_THREADS, StoreError, ThreadKey};

impl ReActAgent {
    /// Forgets a thread, in the process and in the store, with its values and questions, and with the
    /// threads that its calls began in agents that are tools of this one, in whatever store these are.
    /// Returns whether there was one. A thread that a call owns now stays in a store.
    ///
    /// # Errors
    /// [`StoreError`] of a store outside of the process.
    pub async fn forget(&self, thread: &str) -> Result<bool, StoreError> {
        let threads = &self.core.threads;
        let Some(durable) = threads.stored() else {
            let below = threads.memory(thread).map(|memory| memory.sub_threads());
            self.forget_below(below.unwrap_or_default()).await?;
            return Ok(threads.drop_thread(thread));
        };
        let key = ThreadKey::new(self.name(), thread)?;
        let store = &self.core.store;
        let found = store.threads(Filter::agent(key.agent()).thread(key.thread())).await?;
        if found.iter().any(|info| info.is_owned) {
            return Ok(false);
        }
        // Those in other stores first: as long as the thread is there, it knows them.
        let below = store.values(&key).await?.remove(SUB_THREADS);
        let below = below.and_then(|below| serde_json::from_value(below).ok());
        if !self.forget_below(below.unwrap_or_default()).await? {
            return Ok(false);
        }
        let is_forgotten = durable.forget(thread).await?;
        threads.drop_thread(thread);
        Ok(is_forgotten)
    }

    /// Forgets threads of agents that are tools of this one. Returns whether all of them are gone.
    fn forget_below(&self, threads: Vec<ThreadKey>) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            for tool in &self.core.tools {
                let tool: &dyn Any = &**tool;
                let Some(tool) = tool.downcast_ref::<AgentTool>() else { continue };
                let agent = tool.agent();
                for key in threads.iter().filter(|key| key.agent() == agent.name()) {
                    agent.forget(key.thread()).await?;
                    let left = Filter::agent(key.agent()).thread(key.thread());
                    if !agent.store().threads(left).await?.is_empty() {
                        return Ok(false);
                    }
                }
            }
            Ok(true)
        })
    }
}
