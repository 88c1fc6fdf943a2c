//! The threads of a call that is kept in a journal: how they are read, and written with its end.

use std::sync::Arc;

use hooks_core::BoxFuture;

use crate::agent::contract::Agent;
use crate::error::AgentError;
use crate::journal::{CallEnd, JournalScope};
use crate::memory::Memory;
use crate::store::{Step, StoreError, ThreadKey};

/// Returns the memory of a thread, which is read when it is first used.
pub(super) async fn journaled_memory<A: Agent + ?Sized>(
    agent: &A,
    journal: &JournalScope,
    thread: &str,
) -> Result<Arc<Memory>, AgentError> {
    let key = ThreadKey::new(agent.name(), thread).map_err(StoreError::from)?;
    if let Some(memory) = journal.threads.get(&key) {
        return Ok(memory);
    }
    let stored = agent.state().threads().stored();
    let record = match stored {
        Some(durable) => durable.read(&key).await?,
        None => journal.load(&key).await?,
    };
    Ok(journal.threads.add(key, record, stored.is_some())?)
}

/// Writes the end of a call, with what it adds to its threads.
pub(super) async fn write_end<A: Agent + ?Sized>(
    agent: &A,
    journal: &JournalScope,
    mut end: CallEnd,
) -> Result<(), AgentError> {
    journal.threads.write_to(&mut end);
    let stored = CallEnd { stored: end.stored.clone(), ..CallEnd::nothing() };
    journal.write_end(end).await?;
    stored.write_stored(agent).await
}

impl CallEnd {
    /// Writes what the call adds to threads that are in stores outside of the process. What is written
    /// already is not written again: for an engine whose process ended between [`Journal::end`] and
    /// the end of the call.
    ///
    /// # Errors
    /// [`AgentError::Store`]; with [`StoreError::Conflict`](crate::store::StoreError::Conflict) if
    /// somebody else has written to the thread since the call has read it.
    ///
    /// [`Journal::end`]: crate::journal::Journal::end
    pub async fn write_stored<A: Agent + ?Sized>(&self, agent: &A) -> Result<(), AgentError> {
        for (key, step) in &self.stored {
            agent.write_thread(key, step).await?;
        }
        Ok(())
    }
}

/// Writes what a call adds to a thread of an agent that is in a store.
pub(crate) fn write_stored<'a, A: Agent + ?Sized>(
    agent: &'a A,
    key: &'a ThreadKey,
    step: &'a Step,
) -> BoxFuture<'a, Result<(), StoreError>> {
    Box::pin(async move {
        match agent.state().threads().stored().filter(|_| key.agent() == agent.name()) {
            Some(durable) => durable.write(key, step).await,
            None => Ok(()),
        }
    })
}
