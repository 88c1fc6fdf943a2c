//! A call whose steps are in a journal.

use std::sync::Arc;

use hooks_core::BoxFuture;

use crate::agent::contract::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::journal::{CallEnd, JournalScope};
use crate::memory::Memory;
use crate::message::{Messages, Msg};
use crate::store::{Step, StoreError, ThreadKey};
use crate::stream::AgentEventKind;
use crate::thread::now;

/// Runs a call on the threads of its journal.
pub(super) async fn journaled_reply<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    journal: &JournalScope,
    messages: Messages,
) -> Result<Msg, AgentError> {
    let memory = journaled_memory(agent, journal, cx.thread_id()).await?;
    cx.claim_thread(&memory)?;
    cx.set_memory(memory.clone());
    cx.join_caller().await?;
    if !cx.verdicts().is_empty() {
        memory.decide(&memory.by_call(cx.verdicts()), now()).map_err(StoreError::from)?;
    }
    cx.emit(|| AgentEventKind::Started).await;
    let reply = agent.reply(cx.clone(), messages).await;
    // A hook may have made something else of the error.
    journal.check().map_err(AgentError::other)?;
    reply
}

/// Keeps the end of the call in its journal, if it has one of its own. A call that its journal failed has
/// no end there, unless the journal is full: the engine runs it again, or gives it up.
pub(super) async fn end<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    ended: Result<&Msg, &AgentError>,
) -> Result<(), AgentError> {
    let Some(journal) = cx.journal().filter(|journal| journal.is_root()) else { return Ok(()) };
    if let Err(failed) = journal.check()
        && !(failed.is_full() && ended.is_err())
    {
        return if ended.is_err() { Ok(()) } else { Err(AgentError::other(failed)) };
    }
    let ended = ended.map(|reply| Arc::new(reply.clone())).map_err(AgentError::report);
    Box::pin(write_end(agent, journal, CallEnd::new(ended))).await
}

/// Returns the memory of a thread, which is read when it is first used.
pub(crate) async fn journaled_memory<A: Agent + ?Sized>(
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

async fn write_end<A: Agent + ?Sized>(
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
